import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Junk is written over the shared words while processes commit: each process ends by itself, without a signal, and the
/// store stays sound.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct LockFileJunkTests {
    /// Offsets of all words: of the header, in three slots, and after them.
    private static let words: [Int] = {
        typealias Layout = ProcessTable.Layout
        let header = [
            Layout.magic.offset, Layout.version.offset, Layout.slotCount.offset, Layout.device.offset,
            Layout.inode.offset, Layout.session.offset, Layout.poison.offset, Layout.usesLog.offset,
            Layout.alone.offset, Layout.phase.offset, Layout.owner.offset, Layout.lastTicket.offset,
            Layout.ownerships.offset, Layout.blockBytes.offset, Layout.blockChecksum.offset,
            Layout.publication.offset, Layout.deaths.offset, Layout.recovered(0).offset, Layout.lastGrant.offset,
            Layout.durability.offset,
        ]
        let versions = [Layout.version(0), Layout.version(1), Layout.base].flatMap { version in
            [version.version, version.place, version.rootChecksum, version.birth, version.filePages, version.checksum]
                .map(\.offset)
        }
        let slots = (0..<3).map(Layout.slot).flatMap { slot in
            [
                slot.state.offset, slot.bell.offset, slot.ticket.offset, slot.watches.offset, slot.pinsUsed.offset,
                slot.guestBell.offset, slot.waiters.offset, slot.grant.offset, slot.flags.offset,
                slot.recordBytes.offset, slot.recordChecksum.offset, slot.failure.offset, slot.failureFirst.offset,
                slot.failureSecond.offset, slot.pin(0).offset, slot.pin(1).offset,
            ]
        }
        return header + versions + slots + [Layout.bytes, Layout.bytes + 8]
    }()
    private static let patterns: [[UInt8]] = [
        [0xC0], [1, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [255, 255, 255, 255], [UInt8](repeating: 0, count: 8),
        [UInt8](repeating: 255, count: 8),
    ]
    /// Places that one run tries; all of them with JUNK set.
    private static let places = getenv("JUNK") == nil ? 6 : words.count
    /// Seconds after which a worker that has not ended counts as hanging. Longer than the waits that junk may cause: a
    /// second for an owner that lacks the owner's lock, and 15 seconds (`timeout` below) for a worker that waits to
    /// write.
    private static let patience = 60

    private static let seeds: ClosedRange<UInt64> = {
        let first = getenv("SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
        return first...(first + 1)
    }()

    @Test("junk in the lock file raises no signal, blocks no process and harms no data", arguments: seeds)
    func junk(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for offset in Self.words.shuffled(using: &random).prefix(Self.places) {
            let bytes = Self.patterns[Int(random.below(UInt64(Self.patterns.count)))]
            try write(bytes, at: offset, "seed \(seed): \(bytes) at \(offset)")
        }
    }

    private func write(_ bytes: [UInt8], at offset: Int, _ name: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let workers = try (1...2).map {
            try StoreWorkerProcess(
                path, ["increment", "\($0)", "times=60", "short", "timeout=15000000"], name: "w\($0)")
        }
        for worker in workers { try worker.waitFor("a", times: 4) }
        let descriptor = open(path + ".lock", O_RDWR)
        #expect(pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
        close(descriptor)
        for worker in workers {
            try worker.waitForEnd(seconds: Self.patience)
            // Status 1: the worker's store threw an error.
            #expect(worker.status == 0 || worker.status == 1, "\(name): \(worker.status ?? 0) \(worker.errors)")
            #expect(!worker.errors.contains("add up"), "\(name): \(worker.errors)")
        }
        let store = try Store.open(path: path)
        try store.checkInvariants()
        let view = try store.snapshot().view
        let values = try (0..<8).map { row in
            Int(try view.integer(try #require(try view.locate(0, RowKey(Int64(row)))), 0) ?? -1)
        }
        #expect(values[0] == values[1...].reduce(0, +), "\(name)")
        for (index, worker) in workers.enumerated() {
            // One more transaction may have been committed without an acknowledgement.
            let acknowledged = worker.count("a")
            #expect((acknowledged...(acknowledged + 1)).contains(values[index + 1]), "\(name)")
        }
        try store.close()
    }
}
