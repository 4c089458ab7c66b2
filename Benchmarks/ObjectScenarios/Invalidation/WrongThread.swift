import Harness
import RunRecords
import Strata

/// A live object or collection is used on a thread that it does not belong to.
struct WrongThread: CellScenario {
    let slug = "wrong-thread"
    let question = "Does use on the wrong thread end with an error or a text, and never with anything else?"

    enum Way: String, CaseIterable {
        case checkedRead, write, read, count, index, link, refresh
        /// Threads are created and end, and the system reuses an old thread's number.
        case numberReused
    }

    static func trapText(_ way: Way) -> String? {
        switch way {
        case .checkedRead, .write: nil
        case .read, .count, .index, .link, .refresh, .numberReused: "Realm accessed from incorrect thread"
        }
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = Carried(try place.cells(C.self, count: 5))
        let held = Carried(try place.cell(3, realm.value) as C)
        let table = Carried(realm.value.objects(C.self))
        switch way {
        case .checkedRead: return try expectError { _ = try held.value.checkedTitle() }
        case .write: return try expectError { try realm.value.write {} }
        case .read: return try went { _ = held.value.title }
        case .count: return try went { _ = table.value.count }
        case .index: return try went { _ = table.value[0] }
        case .link: return try went { _ = held.value.hasPartner }
        case .refresh: return try went { realm.value.refresh() }
        case .numberReused:
            let configuration = realm.value.configuration
            let old = try OtherThread.run {
                Carried(try TrialPlace.found(C.self, 3, try Realm(configuration: configuration)))
            }
            for _ in 0..<20 { try OtherThread.run { _ = old.value.title } }
            return .wrong("read on another thread than its own, and went on")
        }
    }

    private static func expectError(_ body: @escaping @Sendable () throws -> Void) throws -> PolicyTrials.Finding {
        do {
            try OtherThread.run(body)
            return .wrong("no error")
        } catch let error as Realm.Error {
            return .expect("code", error.code, .incorrectThread)
        }
    }

    private static func went(_ body: @escaping @Sendable () -> Void) throws -> PolicyTrials.Finding {
        try OtherThread.run(body)
        return .wrong("went on")
    }

    /// Passes to a thread what must not be passed: the misuse under test.
    private struct Carried<Value>: @unchecked Sendable {  // the owning thread waits meanwhile
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
