import StrataStorage
import Testing

@testable import Strata

private final class Wide: Object {
    @Persisted var p0: Int
    @Persisted var p1: Int
    @Persisted var p2: Int
    @Persisted var p3: Int
    @Persisted var p4: Int
    @Persisted var p5: Int
    @Persisted var p6: Int
    @Persisted var p7: Int
    @Persisted var p8: Int
    @Persisted var p9: Int
    @Persisted var p10: Int
    @Persisted var p11: Int
    @Persisted var p12: Int
    @Persisted var p13: Int
    @Persisted var p14: Int
    @Persisted var p15: Int
    @Persisted var p16: Int
    @Persisted var p17: Int
    @Persisted var p18: Int
    @Persisted var p19: Int
    @Persisted var p20: Int
    @Persisted var p21: Int
    @Persisted var p22: Int
    @Persisted var p23: Int
    @Persisted var p24: Int
    @Persisted var p25: Int
    @Persisted var p26: Int
    @Persisted var p27: Int
    @Persisted var p28: Int
    @Persisted var p29: Int
    @Persisted var p30: Int
    @Persisted var p31: Int
    @Persisted var p32: Int
    @Persisted var p33: Int
    @Persisted var p34: Int
    @Persisted var p35: Int
    @Persisted var p36: Int
    @Persisted var p37: Int
    @Persisted var p38: Int
    @Persisted var p39: Int
    @Persisted(originProperty: "wide") var owners: LinkingObjects<WideOwner>
    override class func uniqueKeys() -> [[String]] { [["p39", "p20"]] }
}

private final class WideOwner: Object { @Persisted var wide: Wide? }

/// Looking up a property by name was once a linear search, for each object and name: a class with a thousand properties
/// had quadratic cost.
@Suite struct WideClassTests {
    private static let names = (0..<40).map { "p\($0)" }

    private func wide() throws -> Realm {
        let realm = try makeRealm([Wide.self, WideOwner.self])
        try realm.write {
            for id in 0..<50 {
                realm.create(
                    Wide.self, value: Dictionary(uniqueKeysWithValues: Self.names.enumerated().map { ($1, id + $0) }))
            }
        }
        return realm
    }

    @Test("values by name equal the properties, and each class is indexed once")
    func byName() throws {
        let realm = try wide()
        let managed = Array(realm.objects(Wide.self))
        let dynamic = Array(realm.dynamicObjects("Wide"))
        let unmanaged = managed.map { $0.detached() }
        func steps(_ objects: [ObjectBase]) -> UInt64 {
            let start = WorkSteps.taken
            for (id, object) in objects.enumerated() {
                for (place, name) in Self.names.enumerated() {
                    #expect(object[name] as? Int == id + place)
                    #expect(object.objectSchema[name]?.type == .int)
                }
            }
            return WorkSteps.taken - start
        }
        #expect(steps(managed) <= 200)
        #expect(steps(dynamic) <= 200)
        #expect(steps(unmanaged) <= 400)
        #expect(unmanaged[0].objectSchema["p40"] == nil && managed[0].objectSchema["p39"]?.isIndexed == true)
        let start = WorkSteps.taken
        for _ in 0..<100 {
            #expect(realm.schema["Wide"]?["p31"]?.columnName == "p31" && realm.schema["None"] == nil)
        }
        #expect(WorkSteps.taken - start <= 200)
    }

    @Test("live, frozen, deleted and unmanaged objects have the schema of their class")
    func schemaFollows() throws {
        let realm = try wide()
        let wide = try #require(realm.objects(Wide.self).first)
        #expect(wide.objectSchema.properties.count == 40 && realm.schema.objectSchema.count == 2)
        let frozen = wide.freeze()
        #expect(frozen.objectSchema == wide.objectSchema && frozen.realm?.schema == realm.schema)
        try realm.write { realm.delete(wide) }
        #expect(wide.objectSchema.properties.count == 40)
        #expect(Wide().objectSchema.className == "Wide" && Wide().objectSchema.properties.count == 40)
    }

    @Test("unique keys, key paths, queries and nulls find the columns of a wide class")
    func columns() throws {
        let realm = try wide()
        let refusal = #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(Wide.self, value: ["p39": 39, "p20": 20]) }
        }
        #expect(refusal?.code == .duplicateKey)
        #expect(realm.objects(Wide.self).where { $0.p38 == 40 && $0.p1 > 0 }.count == 1)
        #expect(realm.objects(Wide.self).filter("p39 == 45").first?.p0 == 6)
        let names = [\Wide.p0, \Wide.p17, \Wide.p39].flatMap { KeyPathTrace.names(of: $0) }
        #expect(names == ["p0", "p17", "p39"])
        #expect(Array(realm.objects(Wide.self).sorted(by: \.p39, ascending: false).prefix(2)).map(\.p0) == [49, 48])
    }

    @Test("comparing the schemas of a migration takes linear time")
    func transition() throws {
        func steps(_ count: Int) -> Int {
            func schema(_ first: UInt16, optional: Bool) -> StoreSchema {
                var schema = StoreSchema()
                for table in 1...4 {
                    let columns = (0..<count).map { place in
                        ColumnDefinition(
                            id: ColumnID(first + UInt16(place)), name: "c\(place)", type: .integer,
                            isOptional: optional, tag: ColumnTag(_PropertyShape(.int), isPrimary: false).rawValue)
                    }
                    schema.tables.append(
                        TableDefinition(id: TableID(UInt32(table)), name: "t\(table)", columns: columns))
                }
                return schema
            }
            let start = WorkSteps.taken
            var transition = SchemaTransition(
                from: schema(1, optional: true), to: schema(UInt16(count + 1), optional: false))
            #expect(transition.transitional.tables.map(\.columns.count) == Array(repeating: count, count: 4))
            #expect(transition.final.tables[0].columns.map(\.id.rawValue) == Array(1...UInt16(count)))
            #expect(transition.required.count == 4 * count && transition.retyped.isEmpty)
            transition.removed = [TableID(2), TableID(3)]
            #expect(transition.removeClasses().isEmpty && transition.final.tables.count == 2)
            return Int(WorkSteps.taken - start)
        }
        let (small, large) = (steps(250), steps(1_000))
        #expect(large <= 5 * small && large <= 100 * 1_000, "\(small) steps for 250 columns, \(large) for 1000")
    }
}
