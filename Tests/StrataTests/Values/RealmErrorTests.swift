import Foundation
import Strata
import Testing

@Suite struct RealmErrorTests {
    @Test("programs write and catch errors by the name Realm.Error")
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

    /// The domain stands in the text that Foundation makes of an error, and so in logs.
    @Test("an error keeps its domain wherever its type stands")
    func domain() {
        let error: any Error = Realm.Error(.fail)
        #expect(error._domain == "Strata.Realm.Error")
        #expect(error.localizedDescription.contains("Strata.Realm.Error"))
    }
}
