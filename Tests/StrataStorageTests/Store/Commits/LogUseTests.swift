import StrataFiles
import Testing

@testable import StrataStorage

/// Which half of a log is in use, and how full it is.
@Suite struct LogUseTests {
    private func makeLog(_ name: String = "log", halfBytes: Int = 4096) throws -> LogFile {
        try LogFile.create(
            fileSystem: MemoryFileSystem(capacity: 1 << 20), path: name, beside: name, storeID: RandomID(1, 2),
            salt: RandomID(3, 4), halfBytes: halfBytes, baseVersion: TransactionID(0),
            scheduling: SystemScheduling())
    }

    private func append(_ log: LogFile, _ lsn: UInt64) throws {
        try [UInt8(1), 2].withUnsafeBytes {
            try log.append(payload: $0, firstLSN: lsn, lastLSN: lsn, durableTo: lsn - 1)
        }
    }

    @Test("a log is created once, and retried after 16 commits if space was missing") func due() throws {
        var use = LogUse(isSealed: false)
        #expect(use.isDue(afterCommits: 0) && use.file == nil)
        use.putOff(afterCommits: 5)
        #expect(!use.isDue(afterCommits: 5) && !use.isDue(afterCommits: 20) && use.isDue(afterCommits: 21))
        use.begin(try makeLog())
        #expect(!use.isDue(afterCommits: 21) && use.file != nil)
        use.close()
        #expect(use.file == nil && use.isDue(afterCommits: 21))
    }

    @Test("without a log nothing fits, and no half has room") func without() throws {
        var use = LogUse(isSealed: false)
        #expect(!use.fits(0) && !use.hasRoom(for: 0))
        let isHalfFull = use.note(1 << 20)
        let next = try use.goOn(after: 3, releases: true)
        #expect(!isHalfFull && next == nil)
    }

    @Test(
        "a record takes its header, its seal, and padding to 64 bytes",
        arguments: [false, true])
    func room(isSealed: Bool) throws {
        var use = LogUse(isSealed: isSealed)
        use.begin(try makeLog())
        let seal = isSealed ? Seal.size : 0
        #expect(use.fits(4096 - 64) && !use.fits(4096 - 63))
        #expect(use.hasRoom(for: 4096 - 64 - seal) && !use.hasRoom(for: 4096 - 63 - seal))
        // Each of these records takes 1 024 bytes of the half.
        let half = [use.note(960 - seal), use.note(960 - seal), use.note(960 - 63 - seal)]
        #expect(half == [false, true, true])
        #expect(use.hasRoom(for: 960 - seal) && !use.hasRoom(for: 961 - seal))
        _ = use.note(960 - seal)
        #expect(!use.hasRoom(for: 0))
    }

    @Test("the next half is empty, and the log's reach is the synced position") func halves() throws {
        let log = try makeLog()
        var use = LogUse(isSealed: false)
        use.begin(log)
        // An empty half stays in use.
        var next = try use.goOn(after: 2, releases: false)
        #expect(next?.half == 0 && next?.reach == 0)
        try append(log, 3)
        _ = use.note(4000)
        #expect(!use.hasRoom(for: 1))
        next = try use.goOn(after: 3, releases: false)
        #expect(next?.half == 1 && next?.reach == 3)
        #expect(use.hasRoom(for: 4000) && !log.isInactiveHalfFree)
        try append(log, 4)
        next = try use.goOn(after: 4, releases: true)
        #expect(next?.half == 0 && next?.reach == 4 && !log.isInactiveHalfFree)
    }
}
