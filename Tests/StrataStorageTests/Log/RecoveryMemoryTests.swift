import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// A recovery stays within its memory limits, whatever the log contains.
@Suite struct RecoveryMemoryTests {
    private static func options(_ disk: SimulatedDisk) -> StoreOptions {
        var options = StoreOptions(fileSystem: disk)
        options.logHalfBytes = 4 << 20
        options.mapReserve = 1 << 28
        return options
    }

    @Test("a replay of many commits stays within the budget")
    func replayWithinTheBudget() throws {
        let disk = SimulatedDisk(seed: Seed(5))
        let store = try Store.open(path: "store", options: Self.options(disk))
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<20_000)
        var random = SplitMix64(seed: 2)
        var expected: [Int64: Int64] = [:]
        for number in 0..<150 as Range<Int64> {
            let transaction = try store.beginWrite()
            for _ in 0..<30 {
                let key = Int64(random.below(20_000))
                try transaction.set(0, RowKey(key), column: 0, to: .integer(number))
                // A value of another length makes the replay rewrite pages that hold neighbouring rows, too.
                try [UInt8](repeating: 7, count: 300).withUnsafeBytes {
                    try transaction.set(0, RowKey(key), column: 1, to: .bytes($0))
                }
                expected[key] = number
            }
            // Values that move rows to other nodes, and inserted and deleted rows.
            try PlainTable.insert(transaction, 30_000 + number)
            if number % 2 == 0 { try transaction.delete(0, RowKey(30_000 + number)) }
            try transaction.commit()
        }
        var limited = Self.options(disk.kill())
        limited.limits.memoryBudget = 1 << 17
        let recovered = try Store.open(path: "store", options: limited)
        let view = try recovered.snapshot().view
        for (key, number) in expected {
            let row = try #require(try view.locate(0, RowKey(key)))
            #expect(try view.integer(row, 0) == number)
        }
        #expect(try view.rowCount(0) == 20_075)
        try recovered.checkInvariants()
        let arena = try #require(recovered.writer.workspace?.nodes.arena)
        let limit = limited.limits.memoryBudget / Format.pageSize + 128
        #expect(arena.touched > 0 && arena.touched <= limit, "\(arena.touched) pages")
        try recovered.close()
    }

    private static func residentBytes() throws -> Int {
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
            separator: " ")
        return (Int(words[1]) ?? 0) * 4096
    }

    /// In a process of its own, since other tests take and release memory meanwhile.
    @Test("a log that is long and empty takes no memory")
    func longEmptyLog() async {
        await #expect(processExitsWith: .success) { try Self.replayALongEmptyLog() }
    }

    private static func replayALongEmptyLog() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store.log"
        let system = POSIXFileSystem()
        let (storeID, salt) = (RandomID(1, 2), RandomID(3, 4))
        let small = try LogFile.create(
            fileSystem: system, path: path, beside: path, storeID: storeID, salt: salt,
            halfBytes: 1 << 16, baseVersion: TransactionID(0), scheduling: SystemScheduling())
        try [UInt8](repeating: 9, count: 100).withUnsafeBytes {
            try small.append(payload: $0, firstLSN: 1, lastLSN: 1, durableTo: 0)
        }
        small.close()
        // The header of a log with halves of 512 MiB replaces that of the small log.
        var header = [UInt64](repeating: 0, count: Format.slotSize / 8)
        header.withUnsafeMutableBytes { bytes in
            LogHeader(
                storeID: storeID, salt: salt, halfBytes: 512 << 20, baseVersion: TransactionID(0)
            )
            .store(bytes.baseAddress!)
        }
        let file = try system.open(path, .write)
        try header.withUnsafeBytes { try file.write($0, at: 0) }
        try file.truncate(to: Int64(LogFormat.fileBytes(halfBytes: 512 << 20)))
        file.close()
        let log = try LogFile.open(fileSystem: system, path: path, storeID: storeID, salt: salt)
        defer { log.close() }
        let before = try residentBytes()
        var after = 0
        let replayed = try log.replay(fromHalf: 0, firstLSN: 1) {
            (payload, _, _) throws(StorageError) in
            #expect(payload.count == 100)
            do { after = try residentBytes() } catch { Issue.record("\(error)") }
        }
        #expect(replayed.batches == 1)
        // The whole half would be 512 MiB.
        #expect(after > 0 && after - before < 64 << 20, "\((after - before) >> 20) MiB")
    }

    @Test("versions that could overflow are no versions")
    func overflowingVersions() {
        let bound = Format.versionLimit
        let (storeID, salt) = (RandomID(1, 2), RandomID(3, 4))
        let epoch = LogEpoch(storeID: storeID, salt: salt)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Format.slotSize, alignment: 64)
        defer { buffer.deallocate() }
        for (version, isGood) in [(bound - 1, true), (bound, false), (.max, false)] as [(UInt64, Bool)] {
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            _ = LogBatchHeader(
                payloadBytes: 0, lsns: 7...version, durableTo: 0, previous: 0, payloadChecksum: 0
            ).store(buffer.baseAddress!, epoch)
            #expect((LogBatchHeader(buffer.baseAddress!, epoch) != nil) == isGood)
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            let header = LogHeader(
                storeID: storeID, salt: salt, halfBytes: 1 << 16, baseVersion: TransactionID(version))
            header.store(buffer.baseAddress!)
            #expect(LogHeader.decode(buffer.baseAddress!) == (isGood ? .valid(header) : .damaged))
        }
    }
}
