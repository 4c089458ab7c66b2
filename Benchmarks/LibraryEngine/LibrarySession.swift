import Files
import Harness
import Measuring
import PackedRows
import RunRecords

/// A thread's session on a store.
final class LibrarySession: TableSession, QuerySession, SnapshotSession, UpdateSession, DeletionSession,
    KeyedRowSession, TransactionSession
{
    private let directory: String
    let store: LibraryStore
    private var isOpen = true
    let key = KeyBuffer()
    var catalogue: PackedCatalogue?
    var pinned = PinnedVersions<LibraryTransaction>()
    var running: LibraryTransaction?
    var keyedRows: PackedKeyedRows?

    init(_ library: EngineLibrary, directory: String, _ durability: DurabilityClass) throws(EngineError) {
        self.directory = directory
        store = try LibraryStore.open.store(directory) { () throws(EngineError) in
            try LibraryStore(library, directory: directory, durability)
        }
    }

    /// Files that the engine removes meanwhile do not count.
    func sizes() throws(EngineError) -> SizePoint {
        let live = try store.liveBytes()
        var (data, log) = (0, 0)
        for file in LibraryEngine(store.library.description).files(at: DatabaseLocation(directory: directory)) {
            let size: Int
            do { size = try FileTree.size(file.path) } catch { continue }
            if file.role == .log { log += size } else { data += size }
        }
        return SizePoint(
            fileBytes: data, liveBytes: live ?? data, freeBytes: max(0, data - (live ?? data)), logBytes: log)
    }

    func close() throws(EngineError) {
        guard isOpen else { return }
        isOpen = false
        keyedRows = nil
        pinned.releaseAll()
        running?.abort()
        running = nil
        try LibraryStore.open.letGo(directory) { store throws(EngineError) in try store.close() }
    }

    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        let points = try PackedPoints(reads, try table(reads.table))
        let buffer = key
        guard reads.snapshot == .each else {
            return try read(.once) { version throws(EngineError) in
                try points.read(from: version, buffer, latency: latency)
            }
        }
        // Each read begins a transaction of its own, and sees the newest version.
        return try points.each(latency) { (key, digest) throws(EngineError) in
            let transaction = try store.begin(.read)
            defer { transaction.abort() }
            try points.read(key, from: transaction, buffer, to: &digest)
        }
    }
}

extension LibrarySession: KeyValueTransactionSession {
    @inline(__always)
    func read<Output>(
        _ reading: KeyValueReading, _ body: (LibraryTransaction) throws(EngineError) -> Output
    ) throws(EngineError) -> Output {
        switch reading {
        case .batch, .requestOfRange: return try store.read(body)
        case .once, .request:
            let transaction = try store.begin(reading == .once ? store.snapshotKind : .read)
            defer { transaction.abort() }
            return try body(transaction)
        }
    }

    @inline(__always)
    func write(_ body: (LibraryTransaction) throws(EngineError) -> Void) throws(EngineError) { try store.write(body) }

    func newestVersion() throws(EngineError) -> LibraryTransaction { try store.begin(.snapshot) }

    func transaction(_ access: TransactionAccess) throws(EngineError) -> LibraryTransaction {
        try store.begin(access == .reading ? store.snapshotKind : .write)
    }
}

extension LibrarySession: CompactionSession {
    func compact() throws(EngineError) { try store.compact() }
}
