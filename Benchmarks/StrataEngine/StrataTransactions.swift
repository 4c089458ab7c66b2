import Harness
import Strata

/// `beginWrite` and `commitWrite` for writes. A read takes the newest version by `refresh`, and keeps it: on a thread
/// without a run loop a Realm advances only on request.
extension StrataSession: TransactionSession {
    func begin(_ access: TransactionAccess) throws(EngineError) {
        let (realm, _) = try openRealm()
        try checked {
            switch access {
            case .writing: realm.beginWrite()
            case .reading: realm.refresh()
            }
        }
    }

    func read(_ cell: Int) throws(EngineError) -> Int64 {
        let (realm, _) = try openRealm()
        return try checked { Int64(try Self.person(cell, in: realm).age) }
    }

    func readText(_ cell: Int) throws(EngineError) -> String {
        let (realm, _) = try openRealm()
        return try checked { try Self.person(cell, in: realm).name }
    }

    func write(_ cell: Int, _ value: Int64) throws(EngineError) {
        let (realm, _) = try openRealm()
        try checked { try Self.person(cell, in: realm).age = Int(value) }
    }

    func writeText(_ cell: Int, _ text: String) throws(EngineError) {
        let (realm, _) = try openRealm()
        try checked { try Self.person(cell, in: realm).name = text }
    }

    func commit() throws(EngineError) {
        let (realm, _) = try openRealm()
        guard realm.isInWriteTransaction else { return }
        try checked { try realm.commitWrite() }
    }

    func rollback() throws(EngineError) {
        let (realm, _) = try openRealm()
        if realm.isInWriteTransaction { realm.cancelWrite() }
    }

    private static func person(_ cell: Int, in realm: Realm) throws -> Person {
        guard let person = Person.find(cell, in: realm) else {
            throw EngineError(.refused, "there is no cell \(cell)")
        }
        return person
    }
}
