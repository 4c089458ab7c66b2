import Strata
import Testing

/// An add inside another one: a custom type's conversion, which runs while its owner is added, leads to further objects
/// or adds one itself.
@Suite(.serialized)
struct NestedAddTests {
    final class NamedPart: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = ""
    }
    final class PartHolder: EmbeddedObject { @Persisted var part: NamedPart? }
    final class PartCase: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var holder: PartHolder?
    }
    /// Stored as an embedded object that links to another one.
    struct HeldPart: CustomPersistable {
        let id: Int
        let name: String
        /// Called by the next conversion. The tests of the suite run one after the other, on a thread at a time.
        nonisolated(unsafe) static var atConversion: (() -> Void)?
        init(_ id: Int, _ name: String) { (self.id, self.name) = (id, name) }
        init(persistedValue: PartHolder) {
            (id, name) = (persistedValue.part?.id ?? 0, persistedValue.part?.name ?? "")
        }
        var persistableValue: PartHolder {
            let call = Self.atConversion
            Self.atConversion = nil
            call?()
            let holder = PartHolder()
            holder.part = NamedPart(value: [id, name])
            return holder
        }
    }
    /// Stored as a link in a value of any type.
    struct AnyPart: CustomPersistable {
        let part: NamedPart?
        init(_ part: NamedPart) { self.part = part }
        init(persistedValue: AnyRealmValue) { part = persistedValue.object(NamedPart.self) }
        var persistableValue: AnyRealmValue { part.map { .object($0) } ?? .none }
    }
    /// Stored as a number.
    struct Tally: CustomPersistable {
        let count: Int
        nonisolated(unsafe) static var atConversion: (() -> Void)?  // as that of `HeldPart`
        init(_ count: Int) { self.count = count }
        init(persistedValue: Int) { count = persistedValue }
        var persistableValue: Int {
            let call = Self.atConversion
            Self.atConversion = nil
            call?()
            return count
        }
    }
    final class PartRow: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var held: List<HeldPart>
    }
    final class AnyPartRow: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var title = ""
        @Persisted var parts: List<AnyPart>
        @Persisted var rank = 0
    }
    final class TallyRow: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var title = ""
        @Persisted var tally = Tally(0)
    }

    private func open() throws -> Realm {
        let realm = try makeRealm([
            NamedPart.self, PartHolder.self, PartCase.self, PartRow.self, AnyPartRow.self, TallyRow.self,
        ])
        try realm.write {
            for id in 1...3 { realm.add(NamedPart(value: [id, "old"])) }
            realm.add(PartCase(value: ["id": 1]))
        }
        return realm
    }

    private func names(_ realm: Realm) -> [String] { realm.objects(NamedPart.self).map(\.name) }

    /// The planted mistake: `RunningWrite.add` leaves the policy of the outermost call in a nested one.
    @Test("the policy of an add applies to all objects to which its object leads, also inside another add")
    func policyReachesAllObjects() throws {
        let realm = try open()
        let row = PartRow(value: ["id": 1])
        row.held.append(HeldPart(9, "of the row"))
        try realm.write {
            HeldPart.atConversion = {
                let holder = PartHolder()
                holder.part = NamedPart(value: [2, "new"])
                let filled = PartCase(value: ["id": 1])
                filled.holder = holder
                realm.add(filled, update: .all)
            }
            realm.add(row)
        }
        #expect(names(realm) == ["old", "new", "old", "of the row"])
        #expect(realm.objects(PartCase.self)[0].holder?.part?.id == 2)
        #expect(row.held.map(\.name) == ["of the row"])
        try realm.store.checkInvariants()
    }

    /// The planted mistake: `RunningWrite.add` keeps the policy of a nested call when that call returns.
    @Test("an add goes on with its own policy after an add inside it")
    func ownPolicyAfterwards() throws {
        let realm = try open()
        let row = PartRow(value: ["id": 1])
        row.held.append(objectsIn: [HeldPart(1, "first"), HeldPart(2, "second")])
        try realm.write {
            HeldPart.atConversion = { realm.add(NamedPart(value: [9, "inner"]), update: .error) }
            realm.add(row, update: .modified)
        }
        #expect(names(realm) == ["first", "second", "old", "inner"])
        #expect(row.held.map(\.name) == ["first", "second"])
        try realm.store.checkInvariants()
    }

    /// The planted mistake: `RunningWrite.finishPostponed` makes all changes with the policy of the outermost call.
    @Test("a postponed link of an inner add is made with that add's policy")
    func postponedLink() throws {
        let realm = try open()
        let row = PartRow(value: ["id": 1])
        row.held.append(HeldPart(9, "of the row"))
        try realm.write {
            HeldPart.atConversion = {
                let inner = PartRow(value: ["id": 2])
                inner.held.append(HeldPart(3, "new"))
                realm.add(inner, update: .modified)
            }
            realm.add(row, update: .error)
        }
        #expect(names(realm) == ["old", "old", "new", "of the row"])
        #expect(realm.objects(PartRow.self).map { $0.held.map(\.id) } == [[9], [3]])
        try realm.store.checkInvariants()
    }

    /// The planted mistake: `_RowEncoder.putCollection` encodes such elements with their owner's row. The rows of the
    /// objects are then encoded in its cells.
    @Test("objects in a list of a custom type stored as any value are added after their owner")
    func addedAfterTheirOwner() throws {
        let realm = try open()
        let row = AnyPartRow(value: ["id": 1, "title": "the owner's title", "rank": 5])
        row.parts.append(objectsIn: [AnyPart(NamedPart(value: [11, "a"])), AnyPart(NamedPart(value: [12, "b"]))])
        try realm.write { realm.add(row) }
        #expect(row.title == "the owner's title" && row.rank == 5)
        #expect(row.parts.map { $0.part?.name } == ["a", "b"])
        #expect(names(realm) == ["old", "old", "old", "a", "b"])
        try realm.store.checkInvariants()
    }

    /// The planted mistake: `_RowEncoder.encode` does not look whether it encodes a row already.
    @Test("a conversion that adds an object while its owner's row is made fails the write")
    func addingConversion() throws {
        let realm = try open()
        let error = #expect(throws: Realm.Error.self) {
            try realm.write {
                let row = TallyRow(value: ["id": 1, "title": "the owner's title"])
                row.tally = Tally(3)
                Tally.atConversion = { realm.add(NamedPart(value: [9, "inner"])) }
                realm.add(row)
            }
        }
        #expect(error?.code == .wrongState && error?.message.contains("NamedPart is added by persistableValue") == true)
        #expect(realm.objects(TallyRow.self).isEmpty && names(realm) == ["old", "old", "old"])
        try realm.write {
            let row = TallyRow(value: ["id": 1, "title": "the owner's title"])
            row.tally = Tally(3)
            realm.add(row)
        }
        #expect(realm.objects(TallyRow.self)[0].title == "the owner's title")
        #expect(realm.objects(TallyRow.self)[0].tally.count == 3)
    }

    /// The planted mistake: `DefaultRow.insert` does not ask the encoder. The row of the class that is known by name
    /// alone is then encoded in the owner's cells.
    @Test("a conversion that adds an object of a class without a Swift type fails the write, too")
    func addingConversionWithoutType() throws {
        let file = TemporaryFile()
        _ = try Realm(configuration: file.configuration([TallyRow.self, NamedPart.self]))
        let realm = try Realm(configuration: file.configuration([TallyRow.self]))
        let error = #expect(throws: Realm.Error.self) {
            try realm.write {
                let row = TallyRow(value: ["id": 1, "title": "the owner's title"])
                row.tally = Tally(3)
                Tally.atConversion = { realm.dynamicCreate("NamedPart", value: ["id": 9, "name": "inner"]) }
                realm.add(row)
            }
        }
        #expect(error?.code == .wrongState && error?.message.contains("NamedPart is added by persistableValue") == true)
        #expect(realm.objects(TallyRow.self).isEmpty && realm.dynamicObjects("NamedPart").isEmpty)
    }
}
