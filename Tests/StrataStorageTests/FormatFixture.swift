import StrataFiles

@testable import StrataStorage

/// The small file of format 1 that must open for ever, as this program writes it.
///
/// Always the same bytes: tiny nodes, a seeded history, seeded random bits. To write it anew, before the format is
/// frozen and never afterwards: `FORMAT_FIXTURE=/path/format-1.strata swift test --filter FormatFixtureTests`.
enum FormatFixture {
    static let seed: UInt64 = 20_261_121

    /// Where the file of this format stands in a checkout.
    static var path: String {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        parts += ["Fixtures", "format-1.strata"]
        return parts.joined(separator: "/")
    }

    /// Of all that a version holds, in an order that does not change.
    static func digest(_ model: StoreModel) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for table in model.tables {
            for key in table.keys.sorted() {
                for byte in "\(key) \(table[key] ?? [])\n".utf8 { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
            }
        }
        return sum
    }

    /// The file, and what it holds.
    static func make() throws -> (bytes: [UInt8], model: StoreModel) {
        let disk = SeededDisk(seed: seed)
        var options = FileImages.options
        options.fileSystem = disk
        let store = try Store.open(path: FileImages.path, options: options)
        var history = StoreHistory(seed: seed)
        history.keyRange = 120
        for number in 0..<10 {
            let transaction = try store.beginWrite()
            if number == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<(number == 0 ? 260 : 6) { try history.step(transaction) }
            try transaction.commit()
        }
        try store.close()
        return (try disk.inner.bytes(FileImages.path) ?? [], history.model)
    }

    /// A disk in memory whose random bits are the seed's.
    private final class SeededDisk: FileSystem, @unchecked Sendable {  // `random`: one thread makes the fixture
        let inner = FileImages.Disk()
        private var random: SplitMix64

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        var isPersistent: Bool { true }
        func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File { try inner.open(path, mode) }
        func status(_ path: String) throws(FileError) -> FileStatus? { try inner.status(path) }
        func remove(_ path: String) throws(FileError) { try inner.remove(path) }
        func rename(_ path: String, to destination: String) throws(FileError) {
            try inner.rename(path, to: destination)
        }
        func renameNew(_ path: String, to destination: String) throws(FileError) {
            try inner.renameNew(path, to: destination)
        }
        func syncDirectory(of path: String) throws(FileError) {}
        func randomBits() -> UInt64 { random.next() }
    }
}
