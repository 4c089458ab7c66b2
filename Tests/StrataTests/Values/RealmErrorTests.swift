import Foundation
import Strata
import Testing

@Suite struct RealmErrorTests {
    @Test("a program catches its own errors and those of a Realm under the name Realm.Error")
    func publicNames() throws {
        let realm = try makeRealm([Counter.self])
        var caught: [String] = []
        func note(_ body: () throws -> Void) {
            do { try body() } catch Realm.Error.duplicateKey {
                caught.append("duplicateKey")
            } catch let error as Realm.Error { caught.append("\(error)") } catch { caught.append("other") }
        }
        note { throw Realm.Error(.duplicateKey, "twice") }
        note { throw Realm.Error(.fail, "once") }
        note { throw CancellationError() }
        note { try realm.write { for count in 1...2 { realm.add(Counter(1, "the same", count: count)) } } }
        #expect(caught == ["duplicateKey", "fail: once", "other", "duplicateKey"])
    }

    /// Foundation prints the domain in the text of an error, and programs log that text.
    @Test("the domain of an error is Strata.Realm.Error")
    func domain() {
        let error: any Error = Realm.Error(.fail)
        #expect(error._domain == "Strata.Realm.Error")
        #expect(error.localizedDescription.contains("Strata.Realm.Error"))
    }
}
