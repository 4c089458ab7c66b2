import Platform
import StrataFiles
import StrataStorage
import Testing

/// Several processes on one store: invariants 3, 6 and 10.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct StoreProcessTests {
    private static let rows = 8
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private func worker(_ words: String..., name: String) throws -> StoreWorkerProcess {
        try StoreWorkerProcess(path, words, name: name)
    }

    private func options(timeout: Int? = nil) -> StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        options.logHalfBytes = 16 << 10
        options.writeTimeout = timeout
        return options
    }

    private func stop() { close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644)) }
    private func goOn() { unlink(path + ".stop") }

    private func values(_ view: ReadView) throws -> [Int] {
        try (0..<Self.rows).map { row in
            let place = try #require(try view.locate(0, RowKey(Int64(row))))
            return Int(try view.integer(place, 0) ?? -1)
        }
    }

    /// Opens the store alone, checks everything, and leaves it clean.
    private func contents() throws -> [Int] {
        let store = try Store.open(path: path, options: options())
        try store.checkInvariants()
        let found = try values(store.snapshot().view)
        try store.close()
        let files = POSIXFileSystem()
        #expect(try files.status(path + ".log") == nil)
        #expect(try files.status(path + ".lock") == nil)
        #expect(found[0] == found[1...].reduce(0, +))
        return found
    }

    private func increment(_ store: Store, _ row: Int) throws {
        let transaction = try store.beginWrite()
        let now = try values(transaction.view)
        try transaction.set(0, RowKey(Int64(row)), column: 0, to: .integer(Int64(now[row] + 1)))
        try transaction.set(0, RowKey(0), column: 0, to: .integer(Int64(now[0] + 1)))
        try transaction.commit()
    }

    @Test("no increment of several processes is lost, and each is seen by all") func increments() throws {
        let workers = try (1...3).map { try worker("increment", "\($0)", name: "w\($0)") }
        for worker in workers { try worker.waitFor("a", times: 30) }
        let store = try Store.open(path: path, options: options())
        var last = 0
        for _ in 0..<200 {
            let now = try values(store.snapshot().view)
            #expect(now[0] == now[1...].reduce(0, +) && now[0] >= last)
            last = now[0]
            usleep(500)
        }
        for _ in 0..<20 { try increment(store, 4) }
        stop()
        for worker in workers { #expect(worker.wait() == 0, "\(worker.errors)") }
        try store.checkInvariants()
        try store.close()
        let found = try contents()
        #expect(found[4] == 20)
        for (index, worker) in workers.enumerated() { #expect(found[index + 1] == worker.count("a")) }
    }

    @Test("processes that open a new file at once all find one store") func firstOpen() throws {
        for round in 0..<50 {
            let workers = try (1...7).map { try worker("once", "\($0)", name: "w\($0)") } + [worker("pin", name: "w8")]
            for worker in workers.dropLast() { #expect(worker.wait() == 0, "round \(round): \(worker.errors)") }
            stop()
            #expect(workers[7].wait() == 0, "round \(round): \(workers[7].errors)")
            #expect(try contents() == [7, 1, 1, 1, 1, 1, 1, 1], "round \(round)")
            goOn()
            #expect(try Store.removeFiles(path: path))
        }
    }

    @Test("a writer that is killed within a transaction leaves no trace, and the next one goes on")
    func deadWriter() throws {
        let first = try worker("once", "1", name: "first")
        #expect(first.wait() == 0)
        let store = try Store.open(path: path, options: options())
        let holder = try worker("hold", "2", name: "holder")
        try holder.waitFor("h")
        // Readers and opens go on.
        #expect(try values(store.snapshot().view)[1] == 1)
        let pinned = try store.snapshot()
        holder.end(SIGKILL)
        try increment(store, 3)
        #expect(try values(store.snapshot().view) == [2, 1, 0, 1, 0, 0, 0, 0])
        #expect(try values(pinned.view) == [1, 1, 0, 0, 0, 0, 0, 0])
        try store.checkInvariants()
        try store.close()
        #expect(try values(pinned.view) == [1, 1, 0, 0, 0, 0, 0, 0])
    }

    @Test("a stopped writer blocks writers, not readers; a timeout ends the wait")
    func stoppedWriter() throws {
        let holder = try worker("hold", "1", name: "holder")
        try holder.waitFor("h")
        try holder.pause()
        let store = try Store.open(path: path, options: options(timeout: 50_000))
        #expect(try values(store.snapshot().view) == Array(repeating: 0, count: Self.rows))
        #expect(throws: StorageError.busy(path: path)) { try store.beginWrite() }
        let impatient = try worker("once", "2", "timeout=50000", name: "impatient")
        #expect(impatient.wait() == 0)
        #expect(impatient.said.contains("b"))
        let patient = try worker("once", "3", name: "patient")
        stop()
        usleep(100_000)
        holder.signal(SIGCONT)
        #expect(holder.wait() == 0, "\(holder.errors)")
        #expect(patient.wait() == 0, "\(patient.errors)")
        try increment(store, 4)
        try store.close()
        #expect(try contents() == [3, 1, 0, 1, 1, 0, 0, 0])
    }

    /// SEED chooses another seed and its three successors.
    private static let seeds: ClosedRange<UInt64> = {
        let first = getenv("SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
        return first...(first + 3)
    }()

    @Test("processes killed at any moment lose nothing that was acknowledged", arguments: seeds)
    func randomKills(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        #expect(try worker("once", "7", name: "first").wait() == 0)
        let store = try Store.open(path: path, options: options())
        var workers = try (1...3).map { try worker("increment", "\($0)", name: "w\($0)") }
        let reader = try worker("pin", name: "reader")
        var kills = [0, 0, 0]
        for _ in 0..<15 {
            usleep(UInt32(random.below(60_000)))
            let victim = Int(random.below(3))
            workers[victim].end(SIGKILL)
            kills[victim] += 1
            let now = try values(store.snapshot().view)
            #expect(now[0] == now[1...].reduce(0, +), "seed \(seed)")
            if random.below(3) == 0 { try increment(store, 5) }
            workers[victim] = try worker("increment", "\(victim + 1)", name: "w\(victim + 1)")
        }
        let before = try values(store.snapshot().view)[0]
        for worker in workers {
            #expect(worker.errors.isEmpty, "seed \(seed)")
            try worker.waitFor("a", times: worker.count("a") + 3)
        }
        #expect(try values(store.snapshot().view)[0] >= before + 9, "seed \(seed)")
        stop()
        for worker in workers { #expect(worker.wait() == 0, "seed \(seed): \(worker.errors)") }
        #expect(reader.wait() == 0, "seed \(seed): \(reader.errors)")
        try store.checkInvariants()
        try store.close()
        let found = try contents()
        for index in 0..<3 {
            let acknowledged = workers[index].count("a")
            #expect((acknowledged...(acknowledged + kills[index])).contains(found[index + 1]), "seed \(seed)")
        }
    }

    @Test("after all are killed at once the next open finds every acknowledged commit") func killAll() throws {
        let workers = try (1...3).map { try worker("increment", "\($0)", name: "w\($0)") }
        for worker in workers { try worker.waitFor("a", times: 20) }
        for worker in workers { worker.signal(SIGKILL) }
        for worker in workers { _ = worker.wait() }
        let found = try contents()
        for (index, worker) in workers.enumerated() {
            #expect((worker.count("a")...(worker.count("a") + 1)).contains(found[index + 1]))
        }
    }

    @Test("the pages of a version that one process reads are kept while another writes") func pins() throws {
        let first = try worker("once", "1", name: "first")
        #expect(first.wait() == 0)
        let pin = try worker("pin", name: "pin")
        try pin.waitFor("p")
        let writer = try worker("increment", "2", name: "writer")
        try writer.waitFor("a", times: 150)
        let store = try Store.open(path: path, options: options())
        for _ in 0..<50 { try increment(store, 3) }
        try store.checkInvariants()
        try store.close()
        stop()
        #expect(pin.wait() == 0, "\(pin.errors)")
        #expect(writer.wait() == 0, "\(writer.errors)")
        #expect(try contents()[3] == 50)
    }

    @Test("observers are notified of another process's versions, in order") func notifications() throws {
        let first = try worker("once", "1", name: "first")
        #expect(first.wait() == 0)
        let watcher = try worker("watch", name: "watcher")
        try watcher.waitFor("r")
        let writer = try worker("increment", "2", name: "writer")
        try watcher.waitFor("v", times: 5)
        stop()
        #expect(writer.wait() == 0 && watcher.wait() == 0)
        #expect(!watcher.said.contains("!"))
    }
}

/// The lock file is damaged, replaced or removed: a typed error, and never two writers.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct LockFileTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let lock: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
        lock = path + ".lock"
    }

    /// A store with a row, which a writer in another process holds in the middle of a transaction.
    private func holder() throws -> StoreWorkerProcess {
        let holder = try StoreWorkerProcess(path, ["hold", "1"], name: "holder")
        try holder.waitFor("h")
        return holder
    }

    private func finish(_ holder: StoreWorkerProcess) throws {
        close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644))
        #expect(holder.wait() == 0, "\(holder.errors)")
        #expect(holder.count("a") == 1)
        let store = try Store.open(path: path)
        try store.checkInvariants()
        try store.close()
    }

    private func change(_ offset: Int, _ bytes: [UInt8]) {
        let descriptor = open(lock, O_RDWR)
        #expect(pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
        close(descriptor)
    }

    @Test("removing the lock file under a writer admits no second writer") func removed() throws {
        let holder = try holder()
        unlink(lock)
        #expect(throws: StorageError.lockFile(path: lock)) { try Store.open(path: path) }
        // The holder commits without the lock file's name.
        try finish(holder)
    }

    @Test("a lock file that is truncated in use is an error, not a signal", arguments: [0, 64, 4096])
    func cut(size: Int) throws {
        let holder = try holder()
        let store = try Store.open(path: path)
        var snapshot: Snapshot? = try store.snapshot()
        #expect(truncate(lock, size) == 0)
        #expect(throws: StorageError.lockFile(path: lock)) { try Store.open(path: path) }
        #expect(throws: StorageError.lockFile(path: lock)) { try store.beginWrite() }
        #expect(throws: StorageError.lockFile(path: lock)) { try store.snapshot() }
        // Pinned versions stay readable.
        #expect(try snapshot?.view.locate(0, RowKey(1)) != nil)
        snapshot = nil
        close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644))
        let status = holder.wait()
        // The holder's commit meets the truncated lock file and reports it.
        #expect(status == 1 && holder.errors.contains("lockFile"), "\(status) \(holder.errors)")
        #expect(holder.count("a") == 0)
        do { try store.close() } catch {}
        let again = try Store.open(path: path)
        try again.checkInvariants()
        try again.beginWrite().rollback()
        try again.close()
    }

    @Test("an idle lock file that is truncated and zeroed keeps writers out until all have closed")
    func filled() throws {
        let first = try Store.open(path: path)
        let transaction = try first.beginWrite()
        try transaction.apply(schema: StoreSchema(userVersion: 1, tables: []))
        try transaction.commit()
        let second = try Store.open(path: path)
        #expect(truncate(lock, 0) == 0 && truncate(lock, 1 << 20) == 0)
        for store in [first, second] {
            #expect(throws: StorageError.lockFile(path: lock)) { try store.beginWrite() }
            do { try store.close() } catch {}
        }
        let again = try Store.open(path: path)
        #expect(again.newestVersion == TransactionID(1))
        try again.beginWrite().rollback()
        try again.close()
    }

    @Test("a copy of the lock file is not the lock file") func copied() throws {
        let holder = try holder()
        let bytes = try Self.contents(lock)
        unlink(lock)
        let descriptor = open(lock, O_CREAT | O_WRONLY, 0o644)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        #expect(throws: StorageError.lockFile(path: lock)) { try Store.open(path: path) }
        try finish(holder)
    }

    @Test("a lock file of another version, another size or another store is refused", arguments: [72, 76, 80, 88, 96])
    func changed(offset: Int) throws {
        let holder = try holder()
        let bytes = try Self.contents(lock)
        change(offset, [bytes[offset] ^ 1])
        #expect(throws: StorageError.lockFile(path: lock)) { try Store.open(path: path) }
        change(offset, [bytes[offset]])
        try finish(holder)
    }

    @Test("the stale contents of a lock file are ignored") func earlierLife() throws {
        let holder = try holder()
        holder.end(SIGKILL)
        #expect(try POSIXFileSystem().status(lock) != nil)
        change(128, Array(repeating: 0xFF, count: 100_000))
        let store = try Store.open(path: path)
        try store.beginWrite().rollback()
        try store.checkInvariants()
        try store.close()
        #expect(try POSIXFileSystem().status(lock) == nil)
    }

    @Test("a wrong owner word does not admit a second writer") func wrongOwner() throws {
        let holder = try holder()
        change(136, [0, 0, 0, 0])
        let other = try StoreWorkerProcess(path, ["once", "2", "timeout=100000"], name: "other")
        _ = other.wait()
        #expect(other.count("a") == 0)
        try finish(holder)
    }

    @Test("a failed write ends writing for all processes until one has the store alone") func poison() throws {
        let store = try Store.open(path: path)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreSchema(userVersion: 1, tables: []))
        try transaction.commit()
        let other = try Store.open(path: path)
        // As after a writer's failed sync.
        change(120, [1, 0, 0, 0])
        #expect(throws: StorageError.poisoned) { try other.beginWrite() }
        _ = try other.snapshot()
        try other.close()
        try store.close()
        let again = try Store.open(path: path)
        try again.beginWrite().rollback()
        try again.close()
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        let file = try POSIXFileSystem().open(path, .read)
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }
}
