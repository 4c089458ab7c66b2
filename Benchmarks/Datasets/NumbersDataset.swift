import RunRecords
import Seeds

/// Generated numbers that do not compress: `NumberRow(id, value, part)`.
///
/// For scans from memory and not from a cache: no engine can store a value in fewer than six bytes. With mix =
/// splitmix64's finalizer, `id` = 0 ..< N, `value` = mix(id) as a signed number, shifted right by 16 bits (so that the
/// sum of 10^8 of them fits into 64 bits: engines differ in their handling of overflow), `part` = mix(id ^ 0x5555)
/// divided by 2^64: uniform from 0 to 1, with random bits in the whole fraction. The seed changes nothing.
package struct NumbersDataset: DatasetSource {
    package let name = "numbers"
    package let summary = "generated numbers of 48 bits that do not compress: id, value, part"
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
                        Column("value", .integer(ids.map { Int64(bitPattern: splitMix(UInt64($0))) >> 16 })),
                        Column("part", .real(ids.map { Self.part($0) })),
                    ])
            ])
    }

    private static func part(_ id: Int) -> Double {
        Double(splitMix(UInt64(id) ^ 0x5555)) / 18_446_744_073_709_551_616
    }
}
