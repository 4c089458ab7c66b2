import Platform
import StrataFiles
import StrataStorage
import Testing

/// A process once overwrote a place that another process had found damaged. Now all processes that have a file open
/// share the list of its known damage.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct SharedDamageTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private func options() -> StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        options.logHalfBytes = 16 << 10
        return options
    }

    private func stop(_ worker: StoreWorkerProcess) {
        close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644))
        #expect(worker.wait() == 0, "\(worker.errors)")
        unlink(path + ".stop")
    }

    @Test("damage found by another process refuses the next write here, until either acknowledges it")
    func toldAcross() throws {
        #expect(try StoreWorkerProcess(path, ["once", "1"], name: "first").wait() == 0)
        let store = try Store.open(path: path, options: options())
        try store.beginWrite().rollback()
        let finder = try StoreWorkerProcess(path, ["damage", "77"], name: "finder")
        try finder.waitFor("d")
        #expect(store.damage.places.map(\.place.page) == [PageNumber(77)])
        #expect(throws: StorageError.damaged(path: path, places: 1)) { try store.beginWrite() }
        #expect(store.damage.takeUntold().count == 1)
        stop(finder)
        try store.beginWrite().rollback()
        let unacknowledged = store.damage.places.filter { !$0.isAcknowledged }
        #expect(unacknowledged.isEmpty)
        // Damage at a new place refuses again, also in processes that open the store later.
        let other = try StoreWorkerProcess(path, ["damage", "78"], name: "other")
        try other.waitFor("d")
        #expect(throws: StorageError.damaged(path: path, places: 2)) { try store.beginWrite() }
        other.end(SIGKILL)
        try store.close()
        let again = try Store.open(path: path, options: options())
        #expect(throws: StorageError.damaged(path: path, places: 2)) { try again.beginWrite() }
        again.damage.acknowledge()
        try again.beginWrite().rollback()
        try again.close()
    }

    /// Two processes that reported damage at the same moment increment one counter in the lock file. One of them once
    /// took the other's increment for its own, and never read the other's place.
    @Test("all processes know damage that several of them found at once") func atOnce() throws {
        #expect(try StoreWorkerProcess(path, ["once", "1"], name: "first").wait() == 0)
        let store = try Store.open(path: path, options: options())
        let finders = try (100..<106).map { try StoreWorkerProcess(path, ["damage", "\($0)"], name: "f\($0)") }
        for page in 0..<20 as Range<UInt32> {
            store.damage.note([
                DamagedPlace(table: nil, loss: .unknown, page: PageNumber(200 + page), reason: .checksum)
            ])
        }
        for finder in finders { try finder.waitFor("d") }
        let pages = Set(store.damage.places.map(\.place.page.rawValue))
        #expect(pages == Set(100..<106).union(200..<220))
        close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644))
        for finder in finders { #expect(finder.wait() == 0, "\(finder.errors)") }
        try store.beginWrite().rollback()
        try store.close()
    }
}
