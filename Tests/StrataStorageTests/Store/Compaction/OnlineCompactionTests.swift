import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// The steps of an online compaction, one by one.
@Suite struct OnlineCompactionTests {
    private let steps = StepScheduling(holding: "compaction")
    private let disk = SimulatedDisk(seed: Seed(7))

    private func open(_ limits: StoreLimits = StoreLimits(), sealed: Bool = false) throws -> Store {
        var options = StoreOptions(fileSystem: disk, scheduling: steps)
        options.limits = limits
        options.mapReserve = 1 << 28
        options.compaction = .online(freeShare: 0.2)
        if sealed { options.cipher = TestCipher(key: 9) }
        return try Store.open(path: "store", options: options)
    }

    /// Runs a step, and waits for a checkpoint that it may have started.
    private func step(_ store: Store) throws -> Bool {
        let goesOn = steps.runStep()
        try store.gate.whileHeld { (_) throws in try store.checkpoints.waitUntilDone() }
        return goesOn
    }

    private var limits: StoreLimits {
        var limits = StoreLimits()
        limits.compactionMinimum = 32
        limits.compactionInterval = 8
        return limits
    }

    @Test(
        "a file with deleted rows shrinks while in use, and after every step each page is free or used",
        arguments: [false, true])
    func shrinks(sealed: Bool) throws {
        var store = try open(limits, sealed: sealed)
        try PlainTable.setUp(store)
        for first in stride(from: Int64(0), to: 8000, by: 500) { try PlainTable.insert(store, first..<(first + 500)) }
        let before = try store.space()
        for first in stride(from: Int64(0), to: 7000, by: 1000) { try PlainTable.delete(store, first..<(first + 1000)) }
        var expected = Array(Int64(7000)..<8000)
        var count = 0
        while try step(store) {
            count += 1
            try store.checkInvariants()
            if count % 3 == 0 {
                let key = Int64(8000 + count)
                try PlainTable.insert(store, [key])
                expected.append(key)
            }
            #expect(try PlainTable.keys(store.snapshot().view) == expected)
            if count > 400 { break }
        }
        #expect(count > 3 && count < 400)
        let after = try store.space()
        #expect(after.fileBytes < before.fileBytes / 3, "\(before) became \(after)")
        try store.close()
        store = try open(limits, sealed: sealed)
        #expect(try PlainTable.keys(store.snapshot().view) == expected)
        try store.checkInvariants()
        try store.close()
    }

    @Test("a pinned version reads the same while its nodes move")
    func pinWhileNodesMove() throws {
        let store = try open(limits)
        try PlainTable.setUp(store)
        for first in stride(from: Int64(0), to: 4000, by: 500) { try PlainTable.insert(store, first..<(first + 500)) }
        for first in stride(from: Int64(0), to: 3000, by: 500) { try PlainTable.delete(store, first..<(first + 500)) }
        var pin: Snapshot? = try store.snapshot()
        while try step(store) {
            #expect(try pin.map { try PlainTable.keys($0.view) } == Array(3000..<4000))
            try store.checkInvariants()
        }
        let held = try store.space()
        pin = nil
        // The next commits find the pages free, and one of them starts another compaction.
        for key in Int64(0)..<300 { try PlainTable.insert(store, [10_000 + key]) }
        while try step(store) {}
        #expect(try store.space().fileBytes <= held.fileBytes)
        try store.checkInvariants()
        try store.close()
    }

    @Test("values in nodes of their own move down")
    func valuesMoveDown() throws {
        let schema = StoreSchema(table: "files", [ColumnDefinition(id: ColumnID(1), name: "data", type: .bytes)])
        func value(_ key: Int64) -> [UInt8] { [UInt8](repeating: UInt8(key & 127), count: 700_000 + Int(key)) }
        func put(_ keys: Range<Int64>, _ store: Store) throws {
            let transaction = try store.beginWrite()
            if transaction.view.schema.tables.isEmpty { try transaction.apply(schema: schema) }
            for key in keys {
                try value(key).withUnsafeBytes { bytes in
                    let cells = [Cell.bytes(bytes)]
                    try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
                }
            }
            // Patching and rewriting a value moves its descriptor to another place of the row group.
            for key in keys where key % 3 == 0 {
                try value(key + 1000).withUnsafeBytes { try transaction.set(0, RowKey(key), column: 0, to: .bytes($0)) }
            }
            try transaction.commit()
        }
        let store = try open(limits)
        for first in stride(from: Int64(0), to: 40, by: 4) { try put(first..<(first + 4), store) }
        let before = try store.space()
        for key in Int64(0)..<30 { try PlainTable.delete(store, [key]) }
        while try step(store) { try store.checkInvariants() }
        let view = try store.snapshot().view
        for key in Int64(30)..<40 {
            let row = try #require(try view.locate(0, RowKey(key)))
            #expect(try view.bytes(row, 0).map(Array.init) == value(key % 3 == 0 ? key + 1000 : key))
        }
        #expect(try store.space().fileBytes < before.fileBytes / 2)
        try store.close()
    }

    @Test("a compaction ends with the store")
    func endsWithTheStore() throws {
        let store = try open(limits)
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<4000)
        try PlainTable.delete(store, 0..<3000)
        for _ in 0..<3 { _ = try step(store) }
        try store.close()
        #expect(steps.runStep())
        #expect(!steps.runStep())
    }

    @Test("a file that is full of rows is left alone")
    func fullFile() throws {
        let store = try open(limits)
        try PlainTable.setUp(store)
        for first in stride(from: Int64(0), to: 2000, by: 500) { try PlainTable.insert(store, first..<(first + 500)) }
        while try step(store) {}
        let commits = store.newestVersion
        for _ in 0..<3 { #expect(!steps.runStep()) }
        #expect(store.newestVersion == commits)
        try store.close()
    }
}
