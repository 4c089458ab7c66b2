import StrataFiles
import Testing

@testable import StrataStorage

/// A log that was replaced by an older copy. If the copy ends before the position that the header records, the store is
/// refused. Only batches since the last checkpoint can be lost unnoticed.
@Suite struct OlderLogTests {
    enum Kind: CaseIterable { case plain, encrypted }

    /// Copies of the log after each commit, and of both files at the end of an unclosed session.
    struct Life {
        var copies: [(log: [UInt8], version: UInt64, model: StoreModel)] = []
        var data: [UInt8] = []
        var closed: [UInt8] = []
        var newest = StoreHistory(seed: 11).model
        /// The last checkpoint, and the one before.
        var checkpoints: [UInt64] = [0, 0]
        var slot = HeaderSlot(storeID: RandomID(0, 0))

        init(_ kind: Kind, _ durability: Durability, behind: Int, large: Bool = false) throws {
            let disk = FileImages.Disk()
            var options = FileImages.options(on: disk, kind == .encrypted ? TestCipher(key: 3) : nil)
            options.durability = durability
            options.logHalfBytes = 32 << 10
            let store = try Store.open(path: FileImages.path, options: options)
            var history = StoreHistory(seed: 11)
            history.keyRange = 60
            func commit(_ steps: Int) throws {
                let transaction = try store.beginWrite()
                if store.newestVersion == TransactionID(0) { try transaction.apply(schema: StoreHistory.schema) }
                for _ in 0..<steps { try history.step(transaction) }
                try transaction.commit()
                guard let log = try disk.bytes(Store.logPath(FileImages.path)) else { return }
                copies.append((log, store.newestVersion.rawValue, history.model))
            }
            for phase in 0..<4 {
                for _ in 0..<4 { try commit(3) }
                if phase == 3 && large {
                    // Two consecutive commits that bypass the log: the second leaves an empty half.
                    for _ in 0..<2 { try commit(1500) }
                    checkpoints = [checkpoints[1], store.newestVersion.rawValue]
                } else {
                    try store.gate.whileHeld { (_) throws in
                        try store.checkpoints.start(store.commits.newest)
                        try store.checkpoints.waitUntilDone()
                    }
                    checkpoints = [checkpoints[1], store.newestVersion.rawValue]
                }
            }
            for _ in 0..<behind { try commit(3) }
            newest = history.model
            data = try disk.bytes(FileImages.path) ?? []
            slot = store.checkpoints.slot
            try store.close()
            closed = try disk.bytes(FileImages.path) ?? []
        }
    }

    private static func open(
        _ data: [UInt8], _ log: [UInt8], _ kind: Kind, readOnly: Bool = false
    ) throws -> StoreModel {
        var options = FileImages.options(kind == .encrypted ? TestCipher(key: 3) : nil)
        let disk = FileImages.Disk()
        try disk.put(data, at: FileImages.path)
        try disk.put(log, at: Store.logPath(FileImages.path))
        options.fileSystem = disk
        options.readOnly = readOnly
        let store = try Store.open(path: FileImages.path, options: options)
        try store.checkInvariants()
        defer { do { try store.close() } catch {} }
        return try StoreHistory.contents(store.snapshot().view)
    }

    private static let outdated = StorageError.logOutdated(path: Store.logPath(FileImages.path))

    @Test("after a kill, a copy from before the last checkpoint is refused", arguments: Kind.allCases, [0, 1, 5])
    func beforeCheckpoint(kind: Kind, behind: Int) throws {
        let life = try Life(kind, .full, behind: behind)
        #expect(life.slot.logRequired && life.slot.logReach == life.checkpoints[1])
        var refused = 0
        for copy in life.copies {
            for readOnly in [false, true] {
                if copy.version < life.slot.logReach {
                    #expect(throws: Self.outdated, "version \(copy.version)") {
                        try Self.open(life.data, copy.log, kind, readOnly: readOnly)
                    }
                    refused += 1
                } else {
                    // The files cannot tell: later commits are lost together with their log.
                    #expect(try Self.open(life.data, copy.log, kind, readOnly: readOnly) == copy.model)
                }
            }
        }
        #expect(refused > 20)
    }

    @Test("an older log is refused after transactions that bypassed the log, too", arguments: Kind.allCases)
    func behindLarge(kind: Kind) throws {
        let life = try Life(kind, .full, behind: 2, large: true)
        let logged = try #require(life.copies.last { $0.version <= life.checkpoints[1] - 2 }).version
        #expect(life.slot.logReach == logged && life.slot.checkpoint.rawValue == logged + 2)
        for copy in life.copies where copy.version < logged {
            #expect(throws: Self.outdated) { try Self.open(life.data, copy.log, kind) }
        }
        let last = try #require(life.copies.last)
        #expect(try Self.open(life.data, last.log, kind) == life.newest)
    }

    @Test("under periodic durability, a log from before the last switch of halves is refused", arguments: Kind.allCases)
    func periodic(kind: Kind) throws {
        let life = try Life(kind, .periodic, behind: 3)
        #expect(life.slot.logReach > life.checkpoints[0])
        for copy in life.copies where copy.version <= life.checkpoints[0] {
            #expect(throws: Self.outdated, "version \(copy.version)") { try Self.open(life.data, copy.log, kind) }
        }
        let last = try #require(life.copies.last)
        #expect(try Self.open(life.data, last.log, kind) == life.newest)
    }

    /// The offset of the log's last batch, the only proof of how far the log reached.
    private static func lastGroup(_ log: [UInt8], _ lsn: UInt64) throws -> (start: Int, payloadBytes: Int) {
        try log.withUnsafeBytes { bytes in
            let base = try #require(bytes.baseAddress)
            guard case .valid(let header) = LogHeader.decode(base) else { throw StorageError.logMissing(path: "") }
            let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
            let found = stride(from: Format.pageSize, to: bytes.count, by: 64).compactMap { offset in
                LogBatchHeader(base + offset, epoch).flatMap { $0.lastLSN >= lsn ? (offset, $0.payloadBytes) : nil }
            }
            #expect(found.count == 1)
            return try #require(found.first)
        }
    }

    @Test("a flipped bit in the batch that proves how far the log reached is corrected", arguments: Kind.allCases)
    func flippedReach(kind: Kind) throws {
        let life = try Life(kind, .full, behind: 0)
        let log = try #require(life.copies.last).log
        let group = try Self.lastGroup(log, life.slot.logReach)
        let bits = Array(0..<64 * 8) + stride(from: 64 * 8, to: 8 * (64 + group.payloadBytes), by: 61)
        #expect(bits.count > 520)
        let wrong = bits.filter { bit in
            var damaged = log
            damaged[group.start + bit / 8] ^= 1 << UInt8(bit % 8)
            do { return try Self.open(life.data, damaged, kind, readOnly: bit % 7 == 0) != life.newest } catch {
                return true
            }
        }
        #expect(wrong == [])
    }

    @Test(
        "more damage to the header that proves how far the log reached is refused; to its payload only if encrypted",
        arguments: Kind.allCases)
    func damagedReach(kind: Kind) throws {
        let life = try Life(kind, .full, behind: 0)
        let log = try #require(life.copies.last).log
        let group = try Self.lastGroup(log, life.slot.logReach)
        func damage(_ places: [Int]) throws -> [UInt8] {
            var damaged = log
            for place in places { damaged[group.start + place] ^= 0x24 }
            return damaged
        }
        // The batch's header is enough to show that the log reached this point, and the data file has the payload's
        // changes. In an encrypted log the payload has to decrypt as well.
        let payload = try damage([64, 70])
        if kind == .plain {
            #expect(try Self.open(life.data, payload, kind) == life.newest)
        } else {
            #expect(throws: Self.outdated) { try Self.open(life.data, payload, kind) }
        }
        for places in [[9, 10], [17], [24, 57], [0, 63]] {
            #expect(throws: Self.outdated) { try Self.open(life.data, damage(places), kind) }
        }
    }

    @Test("a closed store needs no log, and an old copy does not change its contents", arguments: Kind.allCases)
    func closed(kind: Kind) throws {
        let life = try Life(kind, .full, behind: 2)
        for copy in life.copies { #expect(try Self.open(life.closed, copy.log, kind) == life.newest) }
    }

    @Test("a log claims what a sync has covered, and stays in an empty half")
    func halves() throws {
        let log = try LogFile.create(
            fileSystem: MemoryFileSystem(capacity: 1 << 20), path: "log", beside: "log", storeID: RandomID(1, 2),
            salt: RandomID(3, 4), halfBytes: 4096, baseVersion: TransactionID(0),
            scheduling: SystemScheduling())
        func append(_ lsn: UInt64) throws {
            try [UInt8(1), 2].withUnsafeBytes {
                try log.append(payload: $0, firstLSN: lsn, lastLSN: lsn, durableTo: lsn - 1)
            }
        }
        try log.goOn(after: 5)
        #expect(log.activeHalf == 0 && log.reached == 0)
        try append(6)
        try log.sync()
        try append(7)
        #expect(log.reached == 6)
        // The half in use has a synced batch already, so the switch to the other half needs no sync.
        try log.goOn(after: 7)
        #expect(log.activeHalf == 1 && log.reached == 6)
        log.releaseInactiveHalf()
        try log.goOn(after: 8)
        try log.goOn(after: 9)
        #expect(log.activeHalf == 1)
        // The half in use has no synced batch. The switch will overwrite the other half, which may have the only synced
        // proof, so it syncs the half in use first.
        try append(10)
        try log.goOn(after: 10)
        #expect(log.activeHalf == 0 && log.reached == 10)
    }
}
