import StrataFiles
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The platform's files, with a name for every moment at which a process can leave something half done: before each
/// operation on a file, and before each store to what processes share. The process ends or stops itself at one of them.
final class StoppingFileSystem: FileSystem {
    /// Where to stop: a point's name, how often it is passed before, and the signal.
    struct Stop {
        var point: String
        var passes: Int
        var signal: Int32
    }

    private let inner = POSIXFileSystem()
    private let stop: Stop?
    /// What was passed, in order; kept only where nothing stops.
    private let passed = Mutex<[String: Int]>([:])

    init(_ stop: Stop?) { self.stop = stop }

    /// How often each point was passed.
    var points: [String: Int] { passed.withLock { $0 } }

    /// - Parameter file: its extension says which of a store's files it is.
    func pass(_ operation: String, _ file: String = "") {
        let name = file.isEmpty ? operation : operation + "-" + Self.kind(file)
        let count = passed.withLock { passed in
            passed[name, default: 0] += 1
            return passed[name, default: 0]
        }
        guard let stop, stop.point == name, count == stop.passes + 1 else { return }
        kill(getpid(), stop.signal)
    }

    private static func kind(_ path: String) -> String {
        for kind in [".log", ".lock"] where path.hasSuffix(kind) { return String(kind.dropFirst()) }
        return path.contains(".creating-") ? "new" : "data"
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        pass("open", path)
        return StoppingFile(try inner.open(path, mode), self)
    }
    func status(_ path: String) throws(FileError) -> FileStatus? { try inner.status(path) }
    func remove(_ path: String) throws(FileError) {
        pass("remove", path)
        try inner.remove(path)
    }
    func rename(_ path: String, to destination: String) throws(FileError) {
        pass("rename", path)
        try inner.rename(path, to: destination)
    }
    func renameNew(_ path: String, to destination: String) throws(FileError) {
        pass("rename", path)
        try inner.renameNew(path, to: destination)
    }
    func syncDirectory(of path: String) throws(FileError) {
        pass("sync-directory")
        try inner.syncDirectory(of: path)
    }
    var isPersistent: Bool { true }
    var isShared: Bool { inner.isShared }
    func randomBits() -> UInt64 { inner.randomBits() }
}

private final class StoppingFile: File {
    private let inner: any File
    private let owner: StoppingFileSystem

    init(_ inner: any File, _ owner: StoppingFileSystem) {
        self.inner = inner
        self.owner = owner
    }

    var path: String { inner.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try inner.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        owner.pass(path.hasSuffix(".log") || path.hasSuffix(".lock") || offset >= 8192 ? "write" : "header", path)
        // Half of it is what a death within the call may leave.
        if bytes.count >= 2 {
            let half = bytes.count / 2
            try inner.write(UnsafeRawBufferPointer(rebasing: bytes[..<half]), at: offset)
            owner.pass("half-write", path)
            try inner.write(UnsafeRawBufferPointer(rebasing: bytes[half...]), at: offset + Int64(half))
        } else {
            try inner.write(bytes, at: offset)
        }
    }
    func size() throws(FileError) -> Int64 { try inner.size() }
    func truncate(to size: Int64) throws(FileError) {
        owner.pass("truncate", path)
        try inner.truncate(to: size)
    }
    func preallocate(to size: Int64) throws(FileError) {
        owner.pass("preallocate", path)
        try inner.preallocate(to: size)
    }
    func syncData() throws(FileError) {
        owner.pass("sync", path)
        try inner.syncData()
        owner.pass("synced", path)
    }
    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        owner.pass("write-back", path)
        try inner.writeBack(offset: offset, count: count)
    }
    func status() throws(FileError) -> FileStatus { try inner.status() }
    func map(reserve: Int) throws(FileError) -> any FileMap { try inner.map(reserve: reserve) }
    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        owner.pass("lock")
        return try inner.tryLock(byte: byte, exclusive: exclusive)
    }
    func unlock(byte: Int64) throws(FileError) {
        owner.pass("unlock")
        try inner.unlock(byte: byte)
    }
    func isLocked(byte: Int64) throws(FileError) -> Bool { try inner.isLocked(byte: byte) }
    func mapShared(count: Int) throws(FileError) -> any SharedMemory {
        StoppingMemory(try inner.mapShared(count: count), owner)
    }
    func close() { inner.close() }
}

private final class StoppingMemory: SharedMemory {
    private let inner: any SharedMemory
    private let owner: StoppingFileSystem

    init(_ inner: any SharedMemory, _ owner: StoppingFileSystem) {
        self.inner = inner
        self.owner = owner
    }

    /// Fields of the table by their offset, fields of slots and records by the one within.
    private func pass(_ offset: Int) {
        let name =
            switch offset {
            case ..<256: "store-\(offset)"
            case ..<768: "store-record"
            case ..<896: "store-\(offset)"
            case ..<4096: "store-base"
            default:
                (offset - 4096) % 8192 < 128 ? "store-slot-\((offset - 4096) % 8192)" : "store-pin"
            }
        owner.pass(name)
    }

    var count: Int { inner.count }
    var isIntact: Bool { inner.isIntact }
    func load32(_ offset: Int) -> UInt32 { inner.load32(offset) }
    func load64(_ offset: Int) -> UInt64 { inner.load64(offset) }
    func store32(_ offset: Int, _ value: UInt32) {
        pass(offset)
        inner.store32(offset, value)
    }
    func store64(_ offset: Int, _ value: UInt64) {
        pass(offset)
        inner.store64(offset, value)
    }
    func increment32(_ offset: Int) { inner.increment32(offset) }
    func fence() { inner.fence() }
    func initializeLock() throws(FileError) { try inner.initializeLock() }
    func lock() throws(FileError) -> SharedLockHolder? {
        let holder = try inner.lock()
        owner.pass("locked-table")
        return holder
    }
    func unlock() {
        inner.unlock()
        owner.pass("unlocked-table")
    }
    func wait(_ offset: Int, while value: UInt32, microseconds: Int) {
        inner.wait(offset, while: value, microseconds: microseconds)
    }
    func ring(_ offset: Int) {
        owner.pass("ring")
        inner.ring(offset)
    }
}
