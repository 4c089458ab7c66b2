import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Small files of format 2 with collections that are trees, and with collections in elements of others. They must open
/// for ever, as this program writes them.
///
/// To rewrite a file, which is allowed only until a release writes the format:
/// `COLLECTION_FIXTURES=/path/of/a/directory swift test --filter CollectionFixtureTests`, which also prints the digest.
enum CollectionFixture: String, CaseIterable, Sendable {
    case collections, nested

    var path: String {
        let parts = FormatFixture.path(2).split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return (parts + ["format-2-\(rawValue).strata"]).joined(separator: "/")
    }

    /// The digest of the contents. It must not change once a release writes the format: users then have such files.
    var digest: UInt64 {
        switch self {
        case .collections: 0x37A0_2EC1_98EC_4057
        case .nested: 0xD6A2_2970_6228_62FE
        }
    }

    /// The file, and the digest of its contents.
    func make() throws -> (bytes: [UInt8], digest: UInt64) {
        let disk = FormatFixture.SeededDisk(seed: FormatFixture.seed)
        let store = try FileImages.open(disk)
        var collections = CollectionHistory(seed: FormatFixture.seed)
        collections.longest = 70
        var nested = NestedHistory(seed: FormatFixture.seed)
        for number in 0..<4 {
            let transaction = try store.beginWrite()
            switch self {
            case .collections:
                if number == 0 { try transaction.apply(schema: CollectionHistory.schema) }
                for _ in 0..<7 { try CollectionTrialTests.mixed(&collections, transaction) }
            case .nested:
                if number == 0 { try transaction.apply(schema: NestedHistory.schema) }
                for _ in 0..<7 { try nested.step(transaction) }
            }
            try transaction.commit()
        }
        let digest = try Self.digest(store.snapshot().view)
        let expected = self == .collections ? Self.digest(collections.model) : Self.digest(nested.model)
        if digest != expected { throw InvariantViolation("the store does not hold what the history says") }
        try store.close()
        return (try disk.base.bytes(FileImages.path) ?? [], digest)
    }

    /// A digest of all collections of a version, in a fixed order.
    static func digest(_ view: ReadView) throws -> UInt64 {
        view.schema.tables[0].columns.count == NestedHistory.schema.tables[0].columns.count
            ? digest(try NestedHistory.contents(view)) : digest(try CollectionHistory.contents(view))
    }

    private static func digest(_ model: CollectionHistory.Model) -> UInt64 {
        var sum = Sum()
        for (key, row) in model.rows.sorted(by: { $0.key < $1.key }) {
            for column in CollectionHistory.columns { sum.add(key, CollectionHistory.encode(row[column], column)) }
        }
        for key in model.targets.sorted() { sum.add(key, []) }
        return sum.value
    }

    private static func digest(_ model: NestedHistory.Model) -> UInt64 {
        var sum = Sum()
        for (key, row) in model.sorted(by: { $0.key < $1.key }) {
            for value in row { sum.add(key, value.encoded) }
        }
        return sum.value
    }

    private struct Sum {
        var value: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(_ key: Int64, _ bytes: [UInt8]) {
            for byte in Array("\(key) \(bytes.count) ".utf8) + bytes {
                value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
    }
}

@Suite struct CollectionFixtureTests {
    @Test(
        "the fixtures are reproducible, and contain leaves and branches of elements",
        arguments: CollectionFixture.allCases)
    func deterministic(_ fixture: CollectionFixture) throws {
        let (bytes, digest) = try fixture.make()
        #expect(try fixture.make().bytes == bytes)
        #expect(digest == fixture.digest)
        let kinds = Set(CraftedFile(bytes).nodes.map(\.reference.kindCode))
        #expect(kinds.isSuperset(of: [11, 12]))
        guard let folder = getenv("COLLECTION_FIXTURES").map({ String(cString: $0) }) else { return }
        let file = try POSIXFileSystem().open("\(folder)/format-2-\(fixture.rawValue).strata", .createNew)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        file.close()
    }

    @Test("old files with collections open for reading and writing", arguments: CollectionFixture.allCases)
    func forever(_ fixture: CollectionFixture) throws {
        let disk = FileImages.Disk()
        try disk.put(try FileImages.contents(of: fixture.path), at: FileImages.path)
        let options = FileImages.options(on: disk)
        for round in 0..<2 {
            let store = try Store.open(path: FileImages.path, options: options)
            try store.checkInvariants()
            if round == 0 {
                #expect(try CollectionFixture.digest(store.snapshot().view) == fixture.digest)
                #expect(store.newestVersion == TransactionID(4))
            }
            let transaction = try store.beginWrite()
            for key in try transaction.view.keys(0) {
                for column in 0..<transaction.view.schema.tables[0].columns.count {
                    guard transaction.view.schema.tables[0].columns[column].collection != nil else { continue }
                    let count = try CollectionReader(transaction.view, table: 0, key: RowKey(key), column: column).count
                    try transaction.collections.remove(0, RowKey(key), column: column, range: 0..<min(count, 1))
                }
            }
            if let key = try transaction.view.keys(0).first { try transaction.delete(0, RowKey(key)) }
            try transaction.commit()
            try store.checkInvariants()
            try store.close()
        }
    }
}
