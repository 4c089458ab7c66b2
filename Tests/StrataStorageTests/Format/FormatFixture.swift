import StrataFiles

@testable import StrataStorage

/// The small file of format 2 that every later version must open.
///
/// Its bytes are reproducible: tiny nodes, a seeded history, seeded random bits. To rewrite it, which is allowed only
/// until a release writes the format: `FORMAT_FIXTURE=/path/format-2.strata swift test --filter FormatFixtureTests`.
enum FormatFixture {
    static let seed: UInt64 = 20_261_121

    /// The path of a format's file in the checkout.
    static func path(_ version: Int) -> String {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        parts += ["Fixtures", "format-\(version).strata"]
        return parts.joined(separator: "/")
    }

    static func bytes(_ version: Int) throws -> [UInt8] { try FileImages.contents(of: path(version)) }

    /// A digest of a version's contents, in a fixed order.
    static func digest(_ model: StoreModel) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for table in model.tables {
            for key in table.keys.sorted() {
                for byte in "\(key) \(table[key] ?? [])\n".utf8 { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
            }
        }
        return sum
    }

    /// The file, and its expected contents.
    static func make() throws -> (bytes: [UInt8], model: StoreModel) {
        let disk = SeededDisk(seed: seed)
        let store = try FileImages.open(disk)
        var history = StoreHistory(seed: seed)
        history.keyRange = 120
        for number in 0..<10 {
            let transaction = try store.beginWrite()
            if number == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<(number == 0 ? 260 : 6) { try history.step(transaction) }
            try transaction.commit()
        }
        try store.close()
        return (try disk.base.bytes(FileImages.path) ?? [], history.model)
    }

    /// A disk in memory whose random bits are the seed's.
    final class SeededDisk: FileSystemLayer, @unchecked Sendable {  // `random`: one thread makes the fixture
        let base = FileImages.Disk()
        private var random: SplitMix64

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        func randomBits() -> UInt64 { random.next() }
    }
}
