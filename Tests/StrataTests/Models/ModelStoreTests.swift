import Foundation
import Strata
import Testing

/// A service that hides its database behind model stores: JSON goes in, values come out by id.
@Suite struct ModelStoreTests {
    final class User: Object {
        @Persisted(primaryKey: true) var id = ""
        @Persisted var name = ""
        @Persisted var followers = 0
    }

    /// JSON goes in on a write thread, objects come back by id.
    final class ModelStore {
        private let realm: Realm
        init(_ realm: Realm) { self.realm = realm }

        func getInsertedModels(with jsonList: [[String: any Sendable]]) throws -> [User] {
            let configuration = realm.configuration
            let failure = Locked<(any Error)?>(nil)
            OtherThread.run {
                do {
                    let realm = try Realm(configuration: configuration)
                    try realm.write {
                        for json in jsonList {
                            realm.create(User.self, value: json as [String: Any], update: .modified)
                        }
                    }
                } catch {
                    failure.with { $0 = error }
                }
            }
            if let error = failure.current { throw error }
            realm.refresh()
            return getModels(ids: jsonList.compactMap { $0["id"] as? String })
        }

        func getModels(ids: [String]) -> [User] { ids.compactMap { getModel(id: $0) } }
        func getModel(id: String) -> User? { realm.object(ofType: User.self, forPrimaryKey: id) }
    }

    @Test("models that a write thread inserts come back by id")
    func insertedComeBack() throws {
        let store = ModelStore(try makeRealm([User.self]))
        let users = try store.getInsertedModels(with: [["id": "a", "name": "Ann"], ["id": "b", "name": "Ben"]])
        #expect(users.map(\.name) == ["Ann", "Ben"])
        let again = try store.getInsertedModels(with: [["id": "a", "followers": 3]])
        #expect(again[0].name == "Ann")
        #expect(again[0].followers == 3)
        #expect(store.getModel(id: "c") == nil)
    }

    @Test("a property change carries name, old and new value, and deletion ends the notifications")
    func propertyChange() throws {
        let realm = try makeRealm([User.self])
        let user = User(value: ["id": "a", "name": "Ann"])
        try realm.write { realm.add(user) }
        var seen: [String] = []
        let token = user.observe { change in
            switch change {
            case .change(_, let properties):
                for property in properties {
                    seen.append("\(property.name) \(property.oldValue ?? "nil") \(property.newValue ?? "nil")")
                }
            case .deleted: seen.append("deleted")
            case .error(let error): seen.append("\(error)")
            }
        }
        try realm.write { user.name = "Anna" }
        try realm.write { realm.delete(user) }
        try realm.write { realm.add(User(value: ["id": "a", "name": "Other"])) }
        #expect(seen == ["name Ann Anna", "deleted"])
        token.invalidate()
        token.invalidate()
    }

    @Test("another thread's commits arrive at a refresh, as one change")
    func commitsAtARefresh() throws {
        let realm = try makeRealm([User.self])
        let configuration = realm.configuration
        var updates: [([Int], [Int], [Int])] = []
        let token = realm.objects(User.self).observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                updates.append((deletions, insertions, modifications))
            }
        }
        let failure = Locked<(any Error)?>(nil)
        OtherThread.run {
            do {
                let other = try Realm(configuration: configuration)
                try other.write { other.add(User(value: ["id": "a"])) }
                try other.write { other.add(User(value: ["id": "b"])) }
            } catch { failure.with { $0 = error } }
        }
        #expect(failure.current == nil)
        #expect(updates.isEmpty)
        realm.refresh()
        #expect(updates.count == 1)
        #expect(updates.first?.1 == [0, 1])
        token.invalidate()
    }

    @Test("a reference leads to the object on another thread, once")
    func referenceOnce() throws {
        let realm = try makeRealm([User.self])
        let user = User(value: ["id": "a", "name": "Ann"])
        try realm.write { realm.add(user) }
        let configuration = realm.configuration
        let reference = ThreadSafeReference(to: user)
        let names = Locked<[String?]>([])
        OtherThread.run {
            guard let other = try? Realm(configuration: configuration) else { return }
            names.with { $0.append(other.resolve(reference)?.name) }
            names.with { $0.append(other.resolve(reference)?.name) }
        }
        #expect(names.current == ["Ann", nil])
    }

    @Test("the policy of compaction at launch is called with total and used bytes")
    func compactionAtLaunch() throws {
        let file = TemporaryFile()
        let sizes = Locked<[(Int, Int)]>([])
        var configuration = file.configuration([User.self])
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { for id in 0..<2000 { realm.add(User(value: ["id": "\(id)", "name": "user \(id)"])) } }
            try realm.write { realm.delete(realm.objects(User.self).where { $0.id != "7" }) }
        }
        configuration.shouldCompactOnLaunch = { total, used in
            sizes.with { $0.append((total, used)) }
            return Double(used) / Double(total) < 0.5
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(User.self).map(\.id) == ["7"])
        let asked = try #require(sizes.current.first)
        #expect(asked.1 <= asked.0)
        let size = try FileManager.default.attributesOfItem(atPath: file.url.path)[.size] as? Int
        #expect(try #require(size) < asked.0)
    }
}
