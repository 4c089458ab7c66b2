import StrataFiles
import Testing

@testable import StrataStorage

/// A process that reads the log knows the salt of its batches. A caller could then store a value whose bytes equal a
/// valid header of a later batch. After a crash, recovery once took such a value for a batch: the open threw an error
/// for damage, although every acknowledged commit was in the log.
@Suite struct LogBlobTests {
    private static let schema = StoreSchema(
        table: "Blobs", [ColumnDefinition(id: ColumnID(1), name: "data", type: .bytes)])

    private static func options(_ disk: FileImages.Disk) -> StoreOptions {
        var options = StoreOptions(fileSystem: disk)
        options.mapReserve = 1 << 24
        options.logHalfBytes = 1 << 20
        return options
    }

    /// Some 6 000 bytes with a batch header at every relevant alignment.
    /// - Parameters:
    ///   - durableTo: the durable position that the header claims.
    ///   - claimed: the payload length that it claims.
    private static func blob(_ log: [UInt8], durableTo: UInt64, claimed: Int = 8) throws -> [UInt8] {
        let header = try log.withUnsafeBytes { bytes -> LogHeader in
            guard let base = bytes.baseAddress, case .valid(let header) = LogHeader.decode(base) else {
                throw StorageError.closed
            }
            return header
        }
        let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        var piece = [UInt8](repeating: 0, count: 73)
        piece.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            base.put64(64, 0x2164_616F_6C79_6170)
            let forged = LogBatchHeader(
                payloadBytes: claimed, lsns: (durableTo + 1)...(durableTo + 2), durableTo: durableTo, previous: 7,
                payloadChecksum: epoch.checksum(base + 64, 8))
            _ = forged.store(base, epoch)
        }
        return (0..<85).flatMap { _ in piece }
    }

    private static func insert(_ store: Store, _ key: Int64, _ bytes: [UInt8]) throws {
        let transaction = try store.beginWrite()
        try bytes.withUnsafeBytes { bytes in
            try [Cell.bytes(bytes)].withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
        }
        try transaction.commit()
    }

    /// A store whose process died after commits 3 to 9; number 6 is the blob.
    private static func make(durableTo: UInt64, claimed: Int = 8) throws -> (data: [UInt8], log: [UInt8]) {
        let disk = FileImages.Disk()
        let store = try Store.open(path: FileImages.path, options: options(disk))
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        try transaction.commit()
        for key in 2..<6 as Range<Int64> { try insert(store, key, [UInt8(key)]) }
        let log = try disk.bytes(Store.logPath(FileImages.path)) ?? []
        try insert(store, 6, blob(log, durableTo: durableTo, claimed: claimed))
        for key in 7..<10 as Range<Int64> { try insert(store, key, [UInt8(key)]) }
        store.checkpoints.log.close()
        return (
            try disk.bytes(FileImages.path) ?? [], try disk.bytes(Store.logPath(FileImages.path)) ?? []
        )
    }

    private static func keys(_ data: [UInt8], _ log: [UInt8]) throws -> [Int64] {
        let disk = FileImages.Disk()
        try disk.put(data, at: FileImages.path)
        try disk.put(log, at: Store.logPath(FileImages.path))
        let store = try Store.open(path: FileImages.path, options: options(disk))
        defer { do { try store.close() } catch {} }
        try store.checkInvariants()
        return try store.snapshot().view.keys(0)
    }

    /// The offsets of the batches, by the chained checksums of the epoch.
    private static func batches(_ log: [UInt8]) throws -> [LogReplay.Batch] {
        var bytes = log
        return try bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress, case .valid(let header) = LogHeader.decode(base) else { return [] }
            return try LogReplay(
                base, header: header, path: "", fromHalf: 0, firstLSN: header.baseVersion.rawValue + 1,
                toleratesLoss: true
            ).batches
        }
    }

    @Test(
        "recovery passes over a value whose bytes equal a batch header",
        arguments: [8, 9, 20, 1 << 61] as [UInt64])
    func joined(durableTo: UInt64) throws {
        let image = try Self.make(durableTo: durableTo)
        #expect(try Self.keys(image.data, image.log) == Array(2..<10))
    }

    @Test("recovery passes over such a value in a torn last batch, and in a whole batch after a lost one")
    func torn() throws {
        let image = try Self.make(durableTo: 1 << 61)
        let all = try Self.batches(image.log)
        let blob = try #require(all.first { $0.payloadBytes > 5000 })
        // The log ends with the blob's batch, whose payload is torn.
        var log = image.log
        for index in (blob.payloadOffset + blob.payloadBytes)..<log.count { log[index] = 0 }
        let cut = log
        for byte in (blob.payloadOffset + blob.payloadBytes - 512)..<(blob.payloadOffset + blob.payloadBytes) {
            log[byte] = 0xEE
        }
        #expect(try Self.keys(image.data, log) == Array(2..<6))
        #expect(try Self.keys(image.data, cut) == Array(2..<7))
        // The batch before it never reached the disk, and no header claims that it was durable.
        var behind = image.log
        let before = try #require(all.last { $0.payloadOffset < blob.payloadOffset })
        let start = before.payloadOffset - LogFormat.batchHeaderSize
        for index in start..<(blob.payloadOffset - LogFormat.batchHeaderSize) { behind[index] = 0 }
        for index in (blob.payloadOffset + blob.payloadBytes)..<log.count { behind[index] = 0 }
        let offset = blob.payloadOffset - LogFormat.batchHeaderSize
        behind.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress, case .valid(let header) = LogHeader.decode(base) else { return }
            let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
            guard var whole = LogBatchHeader(base + offset, epoch) else { return }
            whole.durableTo = min(whole.durableTo, before.firstLSN - 1)
            _ = whole.store(base + offset, epoch)
        }
        #expect(try Self.keys(image.data, behind) == Array(2..<Int64(before.firstLSN)))
    }

    @Test("a lost part of the log is still detected") func lost() throws {
        let image = try Self.make(durableTo: 1 << 61)
        let all = try Self.batches(image.log)
        let early = try #require(all.dropFirst().first)
        var log = image.log
        for byte in early.payloadOffset..<(early.payloadOffset + early.payloadBytes) { log[byte] ^= 0x5A }
        #expect(throws: StorageError.self) { try Self.keys(image.data, log) }
    }

    @Test("headers that claim long payloads cost no more than one pass over the log") func claims() throws {
        let image = try Self.make(durableTo: 3, claimed: 600 << 10)
        #expect(try Self.keys(image.data, image.log) == Array(2..<10))
    }
}
