import Platform
import StrataFiles
import StrataStorage
import Testing

/// A process stopped by Ctrl-Z, a debugger or its container once blocked all other writers silently. Now other writers
/// get a typed error if the stopped process is the owner of writing; if it is a guest, the owner takes its turn back.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct StoppedProcessTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private func options(silence: Int = 500_000, timeout: Int? = nil) -> StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        options.logHalfBytes = 16 << 10
        options.silenceLimit = silence
        options.writeTimeout = timeout
        return options
    }

    private func worker(_ words: String..., name: String) throws -> StoreWorkerProcess {
        try StoreWorkerProcess(path, words, name: name)
    }

    private func end(_ worker: StoreWorkerProcess) -> Int32 {
        close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644))
        return worker.wait()
    }

    private func values(_ view: ReadView) throws -> [Int] {
        try (0..<8).map { row in
            let place = try #require(try view.locate(0, RowKey(Int64(row))))
            return Int(try view.integer(place, 0) ?? -1)
        }
    }

    private func increment(_ store: Store, _ row: Int) throws {
        let transaction = try store.beginWrite()
        let now = try values(transaction.view)
        try transaction.set(0, RowKey(Int64(row)), column: 0, to: .integer(Int64(now[row] + 1)))
        try transaction.set(0, RowKey(0), column: 0, to: .integer(Int64(now[0] + 1)))
        try transaction.commit()
    }

    @Test("an error names a stopped idle owner; once it continues, it hands over writing") func idleOwner()
        throws
    {
        let owner = try worker("increment", "1", "times=3", "stay", name: "owner")
        try owner.waitFor("s")
        try owner.pause()
        let store = try Store.open(path: path, options: options())
        #expect(try values(store.snapshot().view)[1] == 3, "readers go on")
        let stopped = StorageError.silent(path: path, [owner.processID])
        for _ in 0..<2 { #expect(throws: stopped) { try store.beginWrite() } }
        owner.signal(SIGCONT)
        try increment(store, 2)
        #expect(end(owner) == 0, "\(owner.errors)")
        #expect(try values(store.snapshot().view)[0...2] == [4, 3, 1])
        try store.close()
    }

    @Test("an owner in a long transaction is waited for, and not considered stopped") func busyOwner() throws {
        let holder = try worker("hold", "1", name: "holder")
        try holder.waitFor("h")
        let store = try Store.open(path: path, options: options(silence: 300_000, timeout: 1_500_000))
        #expect(throws: StorageError.busy(path: path)) { try store.beginWrite() }
        try holder.pause()
        #expect(throws: StorageError.silent(path: path, [holder.processID])) { try store.beginWrite() }
        holder.signal(SIGCONT)
        #expect(end(holder) == 0, "\(holder.errors)")
        try increment(store, 2)
        #expect(try values(store.snapshot().view)[0...2] == [2, 1, 1])
        try store.close()
    }

    @Test("a guest stopped in its transaction loses its turn, and gets an error before it writes") func guest()
        throws
    {
        let first = try worker("once", "1", name: "first")
        #expect(first.wait() == 0)
        let store = try Store.open(path: path, options: options())
        try increment(store, 2)
        let guest = try worker("hold", "3", "short", name: "guest")
        try guest.waitFor("h")
        try guest.pause()
        // Enough commits to reuse the pages of the guest's version, if that were not pinned.
        for _ in 0..<200 { try increment(store, 4) }
        let other = try worker("increment", "5", "times=3", "short", name: "other")
        #expect(other.wait() == 0, "\(other.errors)")
        guest.signal(SIGCONT)
        #expect(end(guest) == 1)
        #expect(guest.errors.contains("turnTakenBack") && guest.count("a") == 0, "\(guest.errors)")
        #expect(try values(store.snapshot().view) == [205, 1, 1, 0, 200, 3, 0, 0])
        try store.checkInvariants()
        try store.close()
        let again = try Store.open(path: path, options: options())
        #expect(try values(again.snapshot().view)[0] == 205)
        try again.close()
    }

    @Test("a guest in a long transaction keeps its turn") func busyGuest() throws {
        let store = try Store.open(path: path, options: options(silence: 200_000))
        let first = try worker("once", "1", name: "first")
        #expect(first.wait() == 0)
        try increment(store, 2)
        let guest = try worker("hold", "3", "short", name: "guest")
        try guest.waitFor("h")
        usleep(1_200_000)
        #expect(end(guest) == 0, "\(guest.errors)")
        try increment(store, 2)
        #expect(try values(store.snapshot().view)[0...3] == [4, 1, 2, 1])
        try store.close()
    }

    @Test("an owner stopped with a guest's record leaves the outcome unknown, and keeps the record")
    func ownerWithRecord() throws {
        let owner = try worker("increment", "1", "times=5", "stay", name: "owner")
        try owner.waitFor("s")
        let store = try Store.open(path: path, options: options())
        let transaction = try store.beginWrite()
        try transaction.set(0, RowKey(2), column: 0, to: .integer(1))
        try transaction.set(0, RowKey(0), column: 0, to: .integer(6))
        try owner.pause()
        #expect(throws: StorageError.commitOutcomeUnknown(TransactionID(store.newestVersion.rawValue + 1))) {
            try transaction.commit()
        }
        owner.signal(SIGCONT)
        #expect(end(owner) == 0, "\(owner.errors)")
        // The guest had passed its record to the owner before the owner was stopped, so the owner committed it when it
        // continued. The next write is based on that version.
        try increment(store, 3)
        #expect(try values(store.snapshot().view)[0...3] == [7, 5, 1, 1])
        try store.checkInvariants()
        try store.close()
    }

    /// Beside other processes each recovery once wrote past the end of the file, which is longer than its contents:
    /// repeated restarts filled the disk.
    @Test("a recovery beside others writes after the contents, not after the end of the file") func growth() throws {
        let first = try worker("increment", "1", "times=30", "short", "default", name: "first")
        #expect(first.wait() == 0)
        var standard = StoreOptions()
        standard.mapReserve = 1 << 30
        let store = try Store.open(path: path, options: standard)
        var acknowledged = 30
        for round in 0..<16 {
            let victim = try worker("increment", "2", "times=40", "stay", "default", "short", name: "v\(round)")
            try victim.waitFor("s")
            acknowledged += 40
            victim.end(SIGKILL)
            try increment(store, 3)
            acknowledged += 1
        }
        #expect(try values(store.snapshot().view)[0] == acknowledged)
        let size = try #require(try POSIXFileSystem().status(path)).size
        // If each of the 16 recoveries had grown the file by a step of at least 64 pages, it would be 4 MiB longer.
        #expect(size <= 2 << 20, "\(size) bytes")
        try store.checkInvariants()
        try store.close()
    }
}
