import StrataFiles
import Testing

@testable import StrataStorage

/// The disk operations of commits as counts, which must not rise. Benchmarks measure times.
@Suite(.serialized)
struct CommitCostTests {
    private static func open(_ fileSystem: CountingFileSystem) throws -> Store {
        var options = StoreOptions(fileSystem: fileSystem)
        options.mapReserve = 1 << 34
        return try Store.open(path: "store", options: options)
    }

    private static func fill(_ store: Store, _ rows: Int64) throws {
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<rows)
        // From here on there is a log.
        for key in 0..<3 as Range<Int64> { try update(store, [key]) }
    }

    private static func update(_ store: Store, _ keys: some Sequence<Int64>, number: Int64 = 1) throws {
        let transaction = try store.beginWrite()
        for key in keys { try transaction.set(0, RowKey(key), column: 0, to: .integer(key &* 31 &+ number)) }
        try transaction.commit()
    }

    /// Writes, runs of writes and syncs per commit of one updated row.
    private static func cost(_ fileSystem: CountingFileSystem, _ store: Store, rows: Int64) throws -> [Double] {
        var random = SplitMix64(seed: 5)
        let commits = 60
        try update(store, [0])
        _ = fileSystem.takeCounts()
        for number in 0..<commits {
            try update(store, [Int64(random.below(UInt64(rows)))], number: Int64(number))
        }
        let counts = fileSystem.takeCounts()
        return [counts.writes, counts.runs, counts.syncs].map { Double($0) / Double(commits) }
    }

    @Test("a commit costs the same with ten thousand and with a million free extents")
    func freeExtents() throws {
        var costs: [[Double]] = []
        for count in [10_000, 1_000_000] {
            let fileSystem = CountingFileSystem(capacity: 1 << 34)
            let store = try Self.open(fileSystem)
            try Self.fill(store, 1000)
            // The pages between are unreachable; the file is as sparse as the map says.
            let allocator = store.allocator
            let run = try #require(try allocator.allocate(2 * count, largest: 1).last)
            #expect(run.count >= 2 * count - 64)
            allocator.giveBack(
                stride(from: run.lowerBound, to: run.upperBound, by: 2).map { Extent($0..<$0 + 1, birth: 1) })
            #expect(allocator.counts.free > count - 64)
            costs.append(try Self.cost(fileSystem, store, rows: 1000))
        }
        print("per commit, pwrites, runs, syncs with few and many free extents: \(costs)")
        for (few, many) in zip(costs[0], costs[1]) { #expect(many <= few * 1.2) }
        #expect(costs[1][2] <= 1)
    }

    @Test("a commit costs the same with a thousand and with a hundred thousand rows")
    func rows() throws {
        var costs: [[Double]] = []
        for rows in [1000, 100_000] as [Int64] {
            let fileSystem = CountingFileSystem(capacity: 1 << 34)
            let store = try Self.open(fileSystem)
            try Self.fill(store, rows)
            costs.append(try Self.cost(fileSystem, store, rows: rows))
        }
        print("per commit, pwrites, runs, syncs with few and many rows: \(costs)")
        // New parts of a file are written in pieces of 16 KiB, so runs of adjoining writes are compared and not writes.
        for (few, many) in zip(costs[0], costs[1]).dropFirst() { #expect(many <= few * 1.2) }
        #expect(costs[1][0] < 4 && costs[1][2] <= 1.1)
    }

    @Test(
        "the file grows little under updates, with any number of readers", arguments: [(0, 1.3), (1, 1.3), (20, 2.8)])
    func growth(pins: Int, limit: Double) throws {
        let fileSystem = CountingFileSystem(capacity: 1 << 34)
        let store = try Self.open(fileSystem)
        let rows: Int64 = 30_000
        try Self.fill(store, rows)
        let before = try store.space().fileBytes
        var random = SplitMix64(seed: 6)
        var held: [Snapshot] = []
        for round in 0..<100 {
            if pins == 1 && round == 0 || pins == 20 && round % 5 == 0 { held.append(try store.snapshot()) }
            let keys = (0..<300).map { _ in Int64(random.below(UInt64(rows))) }
            let transaction = try store.beginWrite()
            // The text does not change: all versions share its pages.
            for key in keys { try transaction.set(0, RowKey(key), column: 0, to: .integer(Int64(random.below(100)))) }
            try transaction.commit()
        }
        let growth = Double(try store.space().fileBytes) / Double(before)
        print("growth with \(pins) pins: \(growth)")
        #expect(growth < limit)
        held = []
        try store.checkInvariants()
    }
}
