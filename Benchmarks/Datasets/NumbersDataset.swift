import RunRecords
import Seeds

/// Generated numbers that do not compress: `NumberRow(id, value, part)`.
///
/// For scans that are to come from memory and not from a cache: the values have all their 64 bits, so that no engine can
/// store them in fewer. With mix = splitmix64's finalizer, `id` = 0 ..< N, `value` = mix(id) as a signed number, `part` =
/// mix(id ^ 0x5555) divided by 2^64: evenly spread from 0 to 1, in all bits of a fraction. The seed changes nothing.
package struct NumbersDataset: DatasetSource {
    package let name = "numbers"
    package let summary = "generated 64-bit numbers that do not compress: id, value, part"
    package let defaultSize: Int? = 10_000_000

    package func tables(size: Int?, seed: Seed) throws -> TableSet {
        let ids = 0..<(size ?? 10_000_000)
        return TableSet(
            dataset: name,
            content: [
                Table(
                    name: "NumberRow", key: "id",
                    columns: [
                        Column("id", .integer(ids.map { Int64($0) })),
                        Column("value", .integer(ids.map { Int64(bitPattern: splitMix(UInt64($0))) })),
                        Column("part", .real(ids.map { Self.part($0) })),
                    ])
            ])
    }

    private static func part(_ id: Int) -> Double {
        Double(splitMix(UInt64(id) ^ 0x5555)) / 18_446_744_073_709_551_616
    }
}
