import Testing

@testable import StrataStorage

/// Looking up a table or a column was once a linear search, so that a file of 10 000 classes took seconds to open.
@Suite struct DefinitionPlacesTests {
    @Test("each key is read once, however often it is looked up")
    func counted() {
        let elements = Array(0..<10_000)
        let places = DefinitionPlaces<Int>()
        var looks = 0
        for key in elements {
            #expect(
                places.first(key, in: elements) {
                    looks += 1
                    return $0
                } == key)
        }
        #expect(looks == 10_000)
        #expect(places.first(-1, in: elements) { $0 } == nil)
    }

    @Test("of several with one key the first is found, in short and in long lists", arguments: [16, 17, 1_000])
    func first(count: Int) {
        let elements = (0..<count).map { $0 / 2 }
        let places = DefinitionPlaces<Int>()
        for key in 0..<(count / 2) { #expect(places.first(key, in: elements) { $0 } == 2 * key) }
        #expect(places.first(count, in: elements) { $0 } == nil)
    }

    @Test("a changed schema rebuilds its lookup, and its copies keep theirs")
    func changed() {
        var schema = StoreSchema()
        for number in 0..<100 {
            let columns = (0..<100).map { column in
                ColumnDefinition(id: ColumnID(UInt16(column + 1)), name: "c\(column)", type: .integer)
            }
            schema.tables.append(TableDefinition(id: schema.makeTableID(), name: "t\(number)", columns: columns))
        }
        #expect(schema.position(named: "t70") == 70 && schema.tables[70].position(named: "c99") == 99)
        let before = schema
        schema.tables[70].name = "renamed"
        schema.tables[70].columns.remove(at: 3)
        schema.tables.remove(at: 10)
        #expect(schema.position(named: "t70") == nil && schema.position(named: "renamed") == 69)
        #expect(schema.position(of: before.tables[70].id) == 69)
        #expect(schema.tables[69].position(named: "c99") == 98 && schema.tables[69].column(named: "c3") == nil)
        #expect(schema.tables[69].position(of: ColumnID(100)) == 98)
        #expect(before.position(named: "t70") == 70 && before.tables[70].position(named: "c99") == 99)
        #expect(before != schema && before.tables[0] == schema.tables[0])
    }
}
