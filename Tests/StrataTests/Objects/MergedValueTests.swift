import Strata
import Testing

/// What an update by an unmanaged object writes for values whose type is not that of their column.
@Suite struct MergedValueTests {
    /// Stored as a value of any type.
    struct Label: CustomPersistable {
        let text: String
        init(_ text: String) { self.text = text }
        init(persistedValue: AnyRealmValue) { text = persistedValue.stringValue ?? "" }
        var persistableValue: AnyRealmValue { .string(text) }
    }
    /// A sequence, which as a value of any type would be a list.
    struct Digits: CustomPersistable, Sequence {
        let text: String
        init(_ text: String) { self.text = text }
        init(persistedValue: AnyRealmValue) { text = persistedValue.stringValue ?? "" }
        var persistableValue: AnyRealmValue { .string(text) }
        func makeIterator() -> [String].Iterator { text.map(String.init).makeIterator() }
    }
    final class Corner: EmbeddedObject { @Persisted var side = 0 }
    /// Stored as an embedded object.
    struct Square: CustomPersistable {
        static let conversions = Locked(0)
        let side: Int
        init(_ side: Int) { self.side = side }
        init(persistedValue: Corner) { side = persistedValue.side }
        var persistableValue: Corner {
            Self.conversions.with { $0 += 1 }
            return Corner(value: [side])
        }
    }

    final class LabelledBox: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var label = Label("")
        @Persisted var other: Label?
        @Persisted var digits = Digits("")
        @Persisted var count = 0
        @Persisted var name = ""
        @Persisted var weight: Double?
        @Persisted var content: AnyRealmValue
        /// With an embedded object an update looks for the row before it encodes one.
        @Persisted var corner: Corner?
    }
    final class SquareBox: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var square = Square(0)
    }

    private static func box(_ label: String, _ count: Int) -> LabelledBox {
        let box = LabelledBox(value: ["id": 1, "count": count, "name": "box"])
        (box.label, box.other, box.digits) = (Label(label), Label("other"), Digits("12"))
        box.weight = 1.5
        box.content = .int(1)
        return box
    }

    /// The planted mistake: `ObjectAdder.anyValue` is `AnyRealmValue(any: value)` alone.
    @Test("an update of differences leaves out equal values of custom types stored as any value")
    func equalCustomValues() throws {
        let realm = try makeRealm([LabelledBox.self])
        try realm.write { realm.add(Self.box("a", 1)) }
        let box = realm.objects(LabelledBox.self)[0]
        var changed: [[String]] = []
        let token = box.observe { change in
            if case .change(_, let properties) = change { changed.append(properties.map(\.name).sorted()) }
        }
        try realm.write { realm.add(Self.box("a", 2), update: .modified) }
        #expect(changed == [["count"]])
        try realm.write { realm.add(Self.box("b", 2), update: .modified) }
        #expect(changed == [["count"], ["label"]])
        token.invalidate()
        #expect(box.label.text == "b" && box.other?.text == "other" && box.digits.text == "12" && box.count == 2)
        #expect(box.content.intValue == 1)
    }

    @Test("an update writes every kind of value that differs", arguments: [Realm.UpdatePolicy.modified, .all])
    func differingValues(policy: Realm.UpdatePolicy) throws {
        let realm = try makeRealm([LabelledBox.self])
        try realm.write { realm.add(Self.box("a", 1)) }
        let next = LabelledBox(value: ["id": 1, "count": -1, "name": "crate"])
        (next.label, next.digits) = (Label("b"), Digits("34"))
        try realm.write { realm.add(next, update: policy) }
        let box = realm.objects(LabelledBox.self)[0]
        #expect(box.label.text == "b" && box.other == nil && box.digits.text == "34")
        #expect(box.count == -1 && box.name == "crate" && box.weight == nil && box.content == .none)
        #expect(next == box && realm.objects(LabelledBox.self).count == 1)
        try realm.store.checkInvariants()
    }

    /// The planted mistake: a value that cannot be encoded is stored as the bytes of none.
    @Test("a value that cannot be stored fails the write and leaves the stored value")
    func unstorableValue() throws {
        let (realm, foreign) = (try makeRealm([LabelledBox.self]), try makeRealm([LabelledBox.self]))
        try realm.write { realm.add(Self.box("a", 1)) }
        let box = realm.objects(LabelledBox.self)[0]
        let stranger = try foreign.write {
            let made = LabelledBox(value: ["id": 9])
            foreign.add(made)
            return made
        }
        var seen: AnyRealmValue?
        #expect(throws: Realm.Error.self) {
            try realm.write {
                let next = Self.box("a", 1)
                next.content = .object(stranger)
                realm.add(next, update: .modified)
                seen = box.content
            }
        }
        #expect(seen == .int(1))
        #expect(box.content.intValue == 1)
    }

    /// The planted mistake: `ObjectAdder.encoded` asks `PersistedField.plain` for the value of a link's column, too.
    @Test("an update makes the embedded object of a custom type once")
    func embeddedMadeOnce() throws {
        let realm = try makeRealm([SquareBox.self])
        let first = SquareBox(value: ["id": 1])
        first.square = Square(2)
        try realm.write { realm.add(first) }
        let next = SquareBox(value: ["id": 1])
        next.square = Square(3)
        let before = Square.conversions.current
        try realm.write { realm.add(next, update: .modified) }
        #expect(Square.conversions.current == before + 1)
        #expect(realm.objects(SquareBox.self)[0].square.side == 3)
        #expect(realm.dynamicObjects("Corner").count == 1)
        try realm.store.checkInvariants()
    }
}
