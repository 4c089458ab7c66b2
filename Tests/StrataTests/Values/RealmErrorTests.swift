import Foundation
import Strata
import Testing

@Suite struct RealmErrorTests {
    @Test("a program creates and catches errors under the name Realm.Error")
    func publicNames() {
        #expect(Realm.Error.self == RealmError.self)
        #expect(Realm.Configuration.self == RealmConfiguration.self)
        var caught: [String] = []
        for error: any Error in [Realm.Error(.duplicateKey, "twice"), CancellationError()] {
            do { throw error } catch Realm.Error.duplicateKey { caught.append("\(error)") } catch {
                caught.append("other")
            }
        }
        #expect(caught == ["duplicateKey: twice", "other"])
    }

    /// Foundation prints the domain in the text of an error, and programs log that text.
    @Test("the domain of an error is Strata.Realm.Error")
    func domain() {
        let error: any Error = Realm.Error(.fail)
        #expect(error._domain == "Strata.Realm.Error")
        #expect(error.localizedDescription.contains("Strata.Realm.Error"))
    }
}
