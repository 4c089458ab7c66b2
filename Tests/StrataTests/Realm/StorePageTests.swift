import Foundation
import Strata
import Testing

/// The code of docs/store-pattern.md.
@Suite struct StorePageTests {
    final class User: Object {
        @Persisted(primaryKey: true) var id = ""
        @Persisted var name = ""
        @Persisted var followers = 0
    }

    final class UserStore {
        private let realm: Realm
        private let writer = DispatchQueue(label: "users.write")
        private var tokens: [String: NotificationToken] = [:]

        init(_ configuration: Realm.Configuration) throws { realm = try Realm(configuration: configuration) }

        /// Writes a list of JSON objects on the write queue, and gives the objects back here, in the list's order.
        func insert(_ json: Data) throws -> [User] {
            let configuration = realm.configuration
            let ids = try writer.sync {
                let object = try JSONSerialization.jsonObject(with: json)
                guard let list = object as? [[String: Any]] else { return [String]() }
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    for values in list { realm.create(User.self, value: values, update: .modified) }
                }
                return list.compactMap { $0["id"] as? String }
            }
            realm.refresh()
            return models(ids)
        }

        func model(_ id: String) -> User? { realm.object(ofType: User.self, forPrimaryKey: id) }
        func models(_ ids: [String]) -> [User] { ids.compactMap { model($0) } }

        /// Tells of changes of one user, by property, until the token is released.
        func observe(_ id: String, _ changed: @escaping ([PropertyChange]) -> Void) {
            tokens[id] = model(id)?.observe { [weak self] change in
                switch change {
                case .change(_, let properties): changed(properties)
                case .deleted, .error: self?.release(id)
                }
            }
        }

        func release(_ id: String) { tokens.removeValue(forKey: id)?.invalidate() }
    }

    @Test("JSON goes in, objects come out by id, and a released token is silent")
    func objectsByIdFromJSON() throws {
        let file = TemporaryFile()
        let store = try UserStore(file.configuration([User.self]))
        let users = try store.insert(Data(#"[{"id":"b","name":"Ben"},{"id":"a","name":"Ann","followers":2}]"#.utf8))
        #expect(users.map(\.name) == ["Ben", "Ann"])
        var seen: [String] = []
        store.observe("a") { changes in
            for change in changes {
                seen.append("\(change.name) \(change.oldValue ?? "nil") \(change.newValue ?? "nil")")
            }
        }
        _ = try store.insert(Data(#"[{"id":"a","followers":3}]"#.utf8))
        _ = try store.insert(Data(#"[{"id":"a","followers":3}]"#.utf8))
        #expect(seen == ["followers 2 3"])
        #expect(store.model("a")?.name == "Ann")
        store.release("a")
        store.release("a")
        _ = try store.insert(Data(#"[{"id":"a","followers":4}]"#.utf8))
        #expect(seen == ["followers 2 3"])
        #expect(store.model("c") == nil && store.models(["a", "c"]).count == 1)
        #expect(throws: (any Error).self) { try store.insert(Data("[{".utf8)) }
        let wrong = Data(#"[{"id":"d"},{"id":"e","followers":"many"}]"#.utf8)
        #expect(throws: Realm.Error.self) { try store.insert(wrong) }
        #expect(store.model("d") == nil)
    }

    @Test("the page shows the code of these tests")
    func pageShowsTheseTests() throws {
        try PageCode.expect("store-pattern.md", in: #filePath)
    }
}
