import Harness
import Measuring
import RunRecords
import Strata

final class NumberRow: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var value: Int
    @Persisted var part: Double
}

extension NumberRow: TableObject {
    static func maker(_ table: Table) throws(EngineError) -> (Int) -> NumberRow {
        let ids = try table.integers("id")
        let values = try table.integers("value")
        let parts = try table.reals("part")
        return { row in
            let number = NumberRow()
            number.id = Int(ids[row])
            number.value = Int(values[row])
            number.part = parts[row]
            return number
        }
    }

    static func find(_ row: Int, in realm: Realm) -> NumberRow? {
        realm.object(ofType: NumberRow.self, forPrimaryKey: row)
    }

    func keyedRow() throws -> Int? { try read(\.id) }

    static func adder(_ column: String) -> ((NumberRow, inout ReadDigest) -> Void)? {
        switch column {
        case "id": { $1.add(integer: Int64($0.id)) }
        case "value": { $1.add(integer: Int64($0.value)) }
        case "part": { $1.add(real: $0.part) }
        default: nil
        }
    }

    func value(_ column: String, _ rows: RowNumbers) throws -> Value {
        switch column {
        case "id": .integer(Int64(try read(\.id)))
        case "value": .integer(Int64(try read(\.value)))
        case "part": .real(try read(\.part))
        default: throw EngineError(.refused, "NumberRow has no \(column)")
        }
    }

    static func integer(_ column: String) -> ReferenceWritableKeyPath<NumberRow, Int>? {
        column == "value" ? \.value : nil
    }

    static func setter(_ column: String) -> ((NumberRow, Int) -> Void)? {
        column == "value" ? { $0.value = $1 } : nil
    }

    static func countEqual(_ column: String, _ text: String, in realm: Realm) -> Int? { nil }

    static func count(_ filter: TwoColumnFilter, in realm: Realm) -> Int? {
        guard filter.integer == "value", filter.real == "part" else { return nil }
        return realm.objects(NumberRow.self).where { $0.value > Int(filter.above) && $0.part < filter.below }.count
    }
}
