import Foundation
import Strata
import Testing

private final class ByteKey: Object {
    @Persisted(primaryKey: true) var id: Int8
    @Persisted var text: String
    @Persisted var next: ByteKey?
}

private final class ShortKey: Object {
    @Persisted(primaryKey: true) var id: Int16?
    @Persisted var text: String
}

private final class WordKey: Object {
    @Persisted(primaryKey: true) var id: Int32 = -7
    @Persisted var text: String
}

private final class NumberedKey: Object {
    @Persisted(primaryKey: true, autoIncrement: true) var id: Int8
    @Persisted var text: String
}

private final class NameKey: Object {
    @Persisted(primaryKey: true) var id: String
    @Persisted var text: String
}

/// A key outside its property's range is refused, however the object is created.
/// `create` with the key 300 for an Int8 once made an object with the key 0, and the next one was a duplicate. Server
/// identifiers can outgrow the declared width.
@Suite struct KeyWidthTests {
    private let file = TemporaryFile()

    private func realm() throws -> Realm {
        try Realm(
            configuration: file.configuration([
                ByteKey.self, ShortKey.self, WordKey.self, NumberedKey.self, NameKey.self,
            ]))
    }

    /// Every way to set a key: the write fails with `invalidInput` and the key, and adds nothing.
    private func refuses<Model: Object>(_ type: Model.Type, _ key: Any, _ realm: Realm) throws {
        var ways: [(String, () throws -> Void)] = []
        for policy in [Realm.UpdatePolicy.error, .modified, .all] {
            ways.append(("a dictionary", { realm.create(type, value: ["id": key, "text": "a"], update: policy) }))
            ways.append(("an array", { realm.create(type, value: [key, "a"], update: policy) }))
            if let number = key as? Int {
                let json = Data("{\"id\": \(number), \"text\": \"a\"}".utf8)
                ways.append(("JSON", { try realm.create(type, json: json, update: policy) }))
                ways.append(("JSON list", { try realm.createAll(type, json: Data("[".utf8) + json + Data("]".utf8)) }))
            }
        }
        for (name, make) in ways {
            let error = #expect(throws: Realm.Error.self, "\(type) \(key) by \(name)") {
                try realm.write { try make() }
            }
            #expect(error?.code == .invalidInput && error?.message.contains("\(type.className()).id") == true)
            #expect(realm.objects(type).isEmpty)
        }
    }

    @Test("a key outside its property's width, or of another type, is refused")
    func widths() throws {
        let realm = try realm()
        for key in [300, 128, -129, Int.max] { try refuses(ByteKey.self, key, realm) }
        for key in [70_000, 32_768] { try refuses(ShortKey.self, key, realm) }
        for key in [1 << 40, Int(Int32.max) + 1] { try refuses(WordKey.self, key, realm) }
        for key in [300, 128] { try refuses(NumberedKey.self, key, realm) }
        for key in [1.5, "x", Double.infinity] as [Any] { try refuses(ByteKey.self, key, realm) }
        try refuses(NameKey.self, 5, realm)
    }

    @Test("a nested object's key is checked as well, and valid keys are accepted")
    func others() throws {
        let realm = try realm()
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(ByteKey.self, value: ["id": 1, "next": ["id": 300]]) }
        }
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(NameKey.self, value: ["id": Optional<String>.none as Any]) }
        }
        try realm.write {
            realm.create(ByteKey.self, value: ["id": -128, "next": ["id": 127.0]])
            realm.create(ShortKey.self, value: ["id": Optional<Int16>.none as Any, "text": "none"])
            realm.create(WordKey.self, value: ["text": "declared"])
            realm.create(NumberedKey.self, value: ["text": "numbered"])
        }
        #expect(realm.objects(ByteKey.self).map(\.id).sorted() == [-128, 127])
        #expect(realm.objects(ShortKey.self).map(\.id) == [nil])
        #expect(realm.objects(WordKey.self).map(\.id) == [-7])
        #expect(realm.objects(NumberedKey.self).map(\.id) == [1])
    }

    @Test("when the numbers of a width are used up, another object is refused")
    func usedUp() throws {
        let realm = try realm()
        try realm.write { for _ in 0..<127 { realm.add(NumberedKey()) } }
        #expect(throws: Realm.Error.self) { try realm.write { realm.add(NumberedKey()) } }
        #expect(realm.objects(NumberedKey.self).count == 127)
    }
}
