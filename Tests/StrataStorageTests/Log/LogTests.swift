import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// A log whose bytes a test can change.
private struct LogImage {
    static let path = "/d/x.log"
    static let storeID = RandomID(1, 2)
    var bytes: [UInt8]
    var header: LogHeader

    static func make(
        _ fileSystem: any FileSystem, salt: RandomID = RandomID(3, 4), halfBytes: Int = 4096
    ) throws -> LogFile {
        try LogFile.create(
            fileSystem: fileSystem, path: path, beside: path, storeID: storeID, salt: salt,
            halfBytes: halfBytes, baseVersion: TransactionID(0), scheduling: SystemScheduling())
    }

    init(_ fileSystem: any FileSystem, _ log: LogFile) throws {
        header = log.header
        bytes = [UInt8](repeating: 0, count: log.byteCount)
        let file = try fileSystem.open(Self.path, .read)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        #expect(count == log.byteCount)
    }

    /// The batches that a replay finds, as LSNs and payload, and the number of repaired bits.
    func replay(_ half: Int = 0, from lsn: UInt64 = 1) throws -> (batches: [Found], repairedBits: Int) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        let replay = try LogReplay(
            copy.baseAddress!, header: header, path: Self.path, fromHalf: half, firstLSN: lsn)
        let batches = replay.batches.map { batch in
            Found(
                first: batch.firstLSN, last: batch.lastLSN,
                payload: Array(copy[batch.payloadOffset..<batch.payloadOffset + batch.payloadBytes]))
        }
        return (batches, replay.repairedBits)
    }

    struct Found: Equatable {
        var first: UInt64
        var last: UInt64
        var payload: [UInt8]
    }
}

@Suite struct LogTests {
    private func append(
        _ log: LogFile, _ lsns: ClosedRange<UInt64>, count: Int, durableTo: UInt64? = nil
    ) throws -> LogImage.Found {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 29) | 0x81 }
        try payload.withUnsafeBytes {
            try log.append(
                payload: $0, firstLSN: lsns.lowerBound, lastLSN: lsns.upperBound,
                durableTo: durableTo ?? lsns.lowerBound - 1)
        }
        return LogImage.Found(first: lsns.lowerBound, last: lsns.upperBound, payload: payload)
    }

    /// Four batches in half 0: at 4096, 4224, 4288, 4480.
    private func sample() throws -> (image: LogImage, batches: [LogImage.Found]) {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem)
        let batches = [
            try append(log, 1...1, count: 50), try append(log, 2...4, count: 0), try append(log, 5...5, count: 71),
            try append(log, 6...7, count: 40),
        ]
        return (try LogImage(fileSystem, log), batches)
    }

    @Test("batches read back in order, through the file") func roundTrip() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 24)
        let log = try LogImage.make(fileSystem, halfBytes: 65536)
        var generator = SplitMix64(seed: 1)
        var expected: [LogImage.Found] = []
        var lsn: UInt64 = 1
        for index in 0..<60 {
            if index == 30 { log.switchHalf() }
            let last = lsn + .random(in: 0...3, using: &generator)
            expected.append(try append(log, lsn...last, count: .random(in: 0...1800, using: &generator)))
            lsn = last + 1
        }
        try log.sync()
        let opened = try LogFile.open(
            fileSystem: fileSystem, path: LogImage.path, storeID: LogImage.storeID, salt: RandomID(3, 4))
        var found: [LogImage.Found] = []
        let result = try opened.replay(fromHalf: 0, firstLSN: 1) { payload, first, last throws(StorageError) in
            found.append(LogImage.Found(first: first, last: last, payload: Array(payload)))
        }
        #expect(found == expected)
        #expect(result == LogFile.Replayed(lastLSN: lsn - 1, batches: 60, repairedBits: 0))
        let empty = try opened.replay(fromHalf: 0, firstLSN: lsn) { _, _, _ throws(StorageError) in }
        #expect(empty.lastLSN == lsn - 1 && empty.batches == 0)
    }

    @Test("every field of the log's and of a batch's header stands at its offset") func offsets() throws {
        let (image, _) = try sample()
        func number(_ offset: Int, _ size: Int) -> UInt64 {
            image.bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        #expect(Array(image.bytes[..<8]) == Array("STRATALG".utf8))
        let header: [(Int, Int, UInt64)] = [
            (8, 4, 2), (12, 4, 0), (16, 8, 1), (24, 8, 2), (32, 8, 3), (40, 8, 4), (48, 8, 4096), (56, 8, 0),
        ]
        for (offset, size, value) in header { #expect(number(offset, size) == value) }
        #expect(image.bytes[64..<504].allSatisfy { $0 == 0 } && number(504, 8) != 0)
        #expect(Array(image.bytes[4288..<4292]) == Array("SGRP".utf8))
        let epoch = LogEpoch(storeID: LogImage.storeID, salt: RandomID(3, 4))
        let batch: [(Int, Int, UInt64)] = [
            (4, 4, 71), (8, 8, epoch.tag), (16, 8, 5), (24, 8, 5), (32, 8, 4), (40, 8, number(4224 + 56, 8)),
        ]
        for (offset, size, value) in batch { #expect(number(4288 + offset, size) == value) }
        #expect(number(4096 + 40, 8) == 0)
    }

    @Test("every single flipped bit is repaired or harmless") func singleBits() throws {
        let (image, batches) = try sample()
        for position in 4096..<4700 {
            for bit in 0..<8 {
                var copy = image
                copy.bytes[position] ^= 1 << UInt8(bit)
                let result = try copy.replay()
                #expect(result.batches == batches, "byte \(position) bit \(bit)")
                let isPadding = (4210..<4224).contains(position) || (4423..<4480).contains(position) || position >= 4584
                #expect(result.repairedBits == (isPadding ? 0 : 1), "byte \(position) bit \(bit)")
            }
        }
    }

    @Test("damage beyond repair is corrupt below a durable LSN, and torn in the last batch") func damage() throws {
        let (image, batches) = try sample()
        let places = [4096..<4210, 4224..<4288, 4288..<4423, 4480..<4584]
        for (index, place) in places.enumerated() {
            for position in place {
                var copy = image
                copy.bytes[position] ^= 0x18
                if index == 3 {
                    #expect(try copy.replay().batches == Array(batches[..<3]))
                } else {
                    let expected = StorageError.logCorrupt(path: LogImage.path, offset: place.lowerBound)
                    #expect(throws: expected, "byte \(position)") { try copy.replay() }
                }
            }
        }
    }

    @Test("a batch that was zeroed as a whole is detected as missing") func zeroed() throws {
        let (image, batches) = try sample()
        for (start, end) in [(4096, 4224), (4224, 4288), (4288, 4480), (4480, 4608)] {
            var copy = image
            for position in start..<end { copy.bytes[position] = 0 }
            if start == 4480 {
                #expect(try copy.replay().batches == Array(batches[..<3]))
            } else {
                #expect(throws: StorageError.logCorrupt(path: LogImage.path, offset: start)) { try copy.replay() }
            }
        }
    }

    @Test("the last batch torn at any byte is not there") func tornTail() throws {
        let (image, batches) = try sample()
        for cut in 4480..<4584 {
            var copy = image
            for position in cut..<4584 { copy.bytes[position] = 0 }
            let found = try copy.replay().batches
            // Each byte of the payload has at least two set bits, so that correcting one bit never completes a torn
            // batch.
            #expect(found == Array(batches[..<3]), "cut at \(cut)")
        }
    }

    @Test("a torn batch with a valid header still proves the batches before it") func tornWitness() throws {
        var (image, _) = try sample()
        image.bytes[4290] ^= 0xFF
        image.bytes[4550] ^= 0xFF
        #expect(throws: StorageError.logCorrupt(path: LogImage.path, offset: 4288)) { try image.replay() }
    }

    @Test("a batch without proof of durability may be missing, together with later ones") func durableTo() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem)
        let first = try append(log, 1...1, count: 10)
        _ = try append(log, 2...2, count: 10)
        _ = try append(log, 3...3, count: 10, durableTo: 1)
        var image = try LogImage(fileSystem, log)
        image.bytes[4224 + 20] ^= 0x33
        #expect(try image.replay().batches == [first])
    }

    @Test("batches of another epoch never join") func otherEpoch() throws {
        let (old, _) = try sample()
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem, salt: RandomID(3, 5))
        var image = try LogImage(fileSystem, log)
        image.bytes.replaceSubrange(4096..., with: old.bytes[4096...])
        #expect(try image.replay().batches.isEmpty)
        // One batch of the new epoch is followed by batches of the old epoch that would continue its LSNs.
        let first = try append(log, 1...1, count: 50)
        let written = try LogImage(fileSystem, log)
        image.bytes.replaceSubrange(4096..<4224, with: written.bytes[4096..<4224])
        #expect(try image.replay().batches == [first])
    }

    @Test("leftovers of an older use of a half never join") func leftovers() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem)
        for lsn in 1...3 as ClosedRange<UInt64> { _ = try append(log, lsn...lsn, count: 60) }
        log.switchHalf()
        let fourth = try append(log, 4...4, count: 60)
        log.releaseInactiveHalf()
        log.switchHalf()
        let fifth = try append(log, 5...5, count: 10)
        let image = try LogImage(fileSystem, log)
        #expect(try image.replay(0, from: 5).batches == [fifth])
        #expect(try image.replay(1, from: 4).batches == [fourth, fifth])
        #expect(try image.replay(0, from: 6).batches == [])
        // For a header slot that is older than the half's present use, the log must not look empty.
        #expect(throws: StorageError.logCorrupt(path: LogImage.path, offset: 4096)) { try image.replay(0, from: 1) }
        // For a slot from before the present use of both halves, both are read, in the order of their use.
        #expect(try image.replay(0, from: 4).batches == [fourth, fifth])
    }

    @Test("replay continues in the other half even if the half in which it starts is still empty")
    func emptySegment() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem)
        log.switchHalf()
        let first = try append(log, 1...2, count: 60)
        #expect(try LogImage(fileSystem, log).replay().batches == [first])
    }

    @Test("a batch with the right LSN after another predecessor is damage") func chain() throws {
        var (image, _) = try sample()
        let epoch = LogEpoch(storeID: LogImage.storeID, salt: RandomID(3, 4))
        image.bytes.withUnsafeMutableBytes { bytes in
            let base = bytes.baseAddress! + 4480
            let forged = LogBatchHeader(
                payloadBytes: 40, lsns: 6...7, durableTo: 4, previous: 99,
                payloadChecksum: epoch.checksum(base + 64, 40))
            _ = forged.store(base, epoch)
        }
        #expect(throws: StorageError.logCorrupt(path: LogImage.path, offset: 4480)) { try image.replay() }
    }

    @Test("a batch that fills the half exactly fits, and one that is longer does not") func room() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem)
        #expect(log.maxPayloadBytes == 4032)
        #expect(log.room(for: 4032) && !log.room(for: 4033))
        let first = try append(log, 1...1, count: 3968)
        #expect(log.room(for: 0) && !log.room(for: 1))
        let second = try append(log, 2...2, count: 0)
        #expect(!log.room(for: 0))
        log.switchHalf()
        #expect(log.activeHalf == 1 && !log.isInactiveHalfFree)
        let third = try append(log, 3...3, count: 4032)
        #expect(try LogImage(fileSystem, log).replay().batches == [first, second, third])
    }

    @Test("halves are sized by the data") func sizes() {
        #expect(LogFile.halfBytes(forDataBytes: 0) == 258_048)
        for megabytes in [1, 4, 5, 40, 100, 128, 1000] {
            let data = megabytes << 20
            let half = LogFile.halfBytes(forDataBytes: data)
            let total = Format.pageSize + 2 * half
            let bound = min(max(512 << 10, data / 8), 16 << 20)
            #expect(half % 4096 == 0 && total <= bound && total > bound - 12288)
        }
    }

    @Test("every flipped bit of the log's header is detected") func headerBits() throws {
        let (image, _) = try sample()
        for position in 0..<512 {
            for bit in 0..<8 {
                var copy = image.bytes
                copy[position] ^= 1 << UInt8(bit)
                let decoded = copy.withUnsafeBytes { LogHeader.decode($0.baseAddress!) }
                #expect(decoded == (position < 8 ? .foreign : .damaged))
            }
        }
    }

    @Test("a log of another version of the format is refused") func version() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem)
        let sector = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)
        defer { sector.deallocate() }
        sector.initializeMemory(as: UInt8.self, repeating: 0)
        log.header.store(sector.baseAddress!, version: 3)
        try fileSystem.open(LogImage.path, .write).write(UnsafeRawBufferPointer(sector), at: 0)
        #expect(throws: StorageError.unsupportedFormat(path: LogImage.path, version: 3)) {
            try LogFile.open(
                fileSystem: fileSystem, path: LogImage.path, storeID: LogImage.storeID, salt: RandomID(3, 4))
        }
    }

    @Test("a missing, a foreign and a truncated log are distinct errors") func opening() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        func open(_ salt: RandomID) throws -> LogFile {
            try LogFile.open(fileSystem: fileSystem, path: LogImage.path, storeID: LogImage.storeID, salt: salt)
        }
        #expect(throws: StorageError.logMissing(path: LogImage.path)) { try open(RandomID(3, 4)) }
        #expect(try LogFile.header(fileSystem: fileSystem, path: LogImage.path) == nil)
        let log = try LogImage.make(fileSystem)
        #expect(try LogFile.header(fileSystem: fileSystem, path: LogImage.path) == log.header)
        #expect(throws: StorageError.logMismatch(path: LogImage.path)) { try open(RandomID(3, 5)) }
        let file = try fileSystem.open(LogImage.path, .write)
        try file.truncate(to: 12287)
        #expect(throws: StorageError.logCorrupt(path: LogImage.path, offset: 12287)) { try open(RandomID(3, 4)) }
        try file.truncate(to: 100)
        #expect(throws: StorageError.logCorrupt(path: LogImage.path, offset: 100)) { try open(RandomID(3, 4)) }
        try LogFile.remove(fileSystem: fileSystem, path: LogImage.path)
        #expect(throws: StorageError.logMissing(path: LogImage.path)) { try open(RandomID(3, 4)) }
    }

    @Test("a batch is one write, and a log is created in pieces with at most two syncs") func writes() throws {
        let fileSystem = RefusingFileSystem()
        let log = try LogImage.make(fileSystem, halfBytes: 65536)
        #expect(fileSystem.writes.load(ordering: .relaxed) == 9)
        #expect(fileSystem.syncs.load(ordering: .relaxed) == 1)
        _ = try append(log, 1...1, count: 40000)
        _ = try append(log, 2...2, count: 1)
        #expect(fileSystem.writes.load(ordering: .relaxed) == 11)
    }

    @Test("a log that cannot be created leaves no file") func failedCreation() throws {
        for refused in 1...3 {
            let fileSystem = RefusingFileSystem()
            fileSystem.firstRefusedWrite.store(refused, ordering: .relaxed)
            #expect(throws: StorageError.self) { try LogImage.make(fileSystem, halfBytes: 16384) }
            #expect(try fileSystem.status(LogImage.path) == nil)
        }
        let fileSystem = RefusingFileSystem()
        fileSystem.firstRefusedSync.store(1, ordering: .relaxed)
        #expect(throws: StorageError.self) { try LogImage.make(fileSystem) }
        #expect(try fileSystem.status(LogImage.path) == nil)
    }

    @Test("after a failed write or sync the log refuses all work") func poison() throws {
        for failsSync in [false, true] {
            let fileSystem = RefusingFileSystem()
            let log = try LogImage.make(fileSystem)
            if failsSync {
                fileSystem.firstRefusedSync.store(2, ordering: .relaxed)
                _ = try append(log, 1...1, count: 8)
                #expect(throws: StorageError.file(FileError(.sync, path: LogImage.path, errno: 5))) { try log.sync() }
            } else {
                fileSystem.firstRefusedWrite.store(2, ordering: .relaxed)
                #expect(throws: StorageError.noSpace(FileError(.write, path: LogImage.path, errno: 28))) {
                    try append(log, 1...1, count: 8)
                }
            }
            fileSystem.firstRefusedSync.store(.max, ordering: .relaxed)
            fileSystem.firstRefusedWrite.store(.max, ordering: .relaxed)
            #expect(throws: StorageError.poisoned) { try log.sync() }
            #expect(throws: StorageError.poisoned) { try append(log, 2...2, count: 8) }
        }
    }

    @Test("a recorded transaction is logged without a copy and read back") func recorded() throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 20)
        let log = try LogImage.make(fileSystem)
        var recorder = ChangeRecorder(limit: log.maxPayloadBytes)
        recorder.delete(TableID(3), RowKey(9))
        try log.append(batch: recorder.finishBatch(lsn: 1), firstLSN: 1, lastLSN: 1, durableTo: 0)
        let batch = try #require(try LogImage(fileSystem, log).replay().batches.first)
        let record = Array(recorder.finish(lsn: 1))
        #expect(batch.payload == record)
    }
}
