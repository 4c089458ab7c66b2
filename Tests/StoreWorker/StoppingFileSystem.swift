import Platform
import StrataFiles
import Synchronization

/// The platform's files, with a named point before each operation on a file and each store to shared memory, where a
/// process can leave work incomplete. The process ends or stops itself at one of them.
final class StoppingFileSystem: FileSystemLayer {
    /// The point to stop at: its name, how often it is passed before, and the signal.
    struct Stop {
        var point: String
        var passes: Int
        var signal: Int32
    }

    let base = POSIXFileSystem()
    private let stop: Stop?
    /// The number of passes of each point so far.
    private let passed = Mutex<[String: Int]>([:])

    init(_ stop: Stop?) { self.stop = stop }

    /// How often each point was passed.
    var points: [String: Int] { passed.withLock { $0 } }

    /// - Parameter file: its extension identifies the kind of the store's file.
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
        return StoppingFile(try base.open(path, mode), self)
    }
    func remove(_ path: String) throws(FileError) {
        pass("remove", path)
        try base.remove(path)
    }
    func rename(_ path: String, to destination: String) throws(FileError) {
        pass("rename", path)
        try base.rename(path, to: destination)
    }
    func renameNew(_ path: String, to destination: String) throws(FileError) {
        pass("rename", path)
        try base.renameNew(path, to: destination)
    }
    func syncDirectory(of path: String) throws(FileError) {
        pass("sync-directory")
        try base.syncDirectory(of: path)
    }
}

private final class StoppingFile: FileLayer {
    let base: any File
    private let owner: StoppingFileSystem

    init(_ base: any File, _ owner: StoppingFileSystem) {
        self.base = base
        self.owner = owner
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        owner.pass(path.hasSuffix(".log") || path.hasSuffix(".lock") || offset >= 8192 ? "write" : "header", path)
        // A death within the call may leave half of the write.
        if bytes.count >= 2 {
            let half = bytes.count / 2
            try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<half]), at: offset)
            owner.pass("half-write", path)
            try base.write(UnsafeRawBufferPointer(rebasing: bytes[half...]), at: offset + Int64(half))
        } else {
            try base.write(bytes, at: offset)
        }
    }
    func truncate(to size: Int64) throws(FileError) {
        owner.pass("truncate", path)
        try base.truncate(to: size)
    }
    func preallocate(to size: Int64) throws(FileError) {
        owner.pass("preallocate", path)
        try base.preallocate(to: size)
    }
    func syncData() throws(FileError) {
        owner.pass("sync", path)
        try base.syncData()
        owner.pass("synced", path)
    }
    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        owner.pass("write-back", path)
        try base.writeBack(offset: offset, count: count)
    }
    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        owner.pass("lock")
        return try base.tryLock(byte: byte, exclusive: exclusive)
    }
    func unlock(byte: Int64) throws(FileError) {
        owner.pass("unlock")
        try base.unlock(byte: byte)
    }
    func mapShared(count: Int) throws(FileError) -> any SharedMemory {
        StoppingMemory(try base.mapShared(count: count), owner)
    }
}

private final class StoppingMemory: SharedMemory {
    private let inner: any SharedMemory
    private let owner: StoppingFileSystem

    init(_ inner: any SharedMemory, _ owner: StoppingFileSystem) {
        self.inner = inner
        self.owner = owner
    }

    /// Passes the point before this process writes a word of the process table. The point is named after the word's
    /// offset in the table, or in the process slot. All words of records have one name, and so have pins and the base.
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
    func exchange64(_ offset: Int, expected: UInt64, with new: UInt64) -> Bool {
        pass(offset)
        return inner.exchange64(offset, expected: expected, with: new)
    }
    func increment32(_ offset: Int) { inner.increment32(offset) }
    func fence() { inner.fence() }
    func wait(_ offset: Int, while value: UInt32, microseconds: Int) {
        inner.wait(offset, while: value, microseconds: microseconds)
    }
    func ring(_ offset: Int) {
        owner.pass("ring")
        inner.ring(offset)
    }
}
