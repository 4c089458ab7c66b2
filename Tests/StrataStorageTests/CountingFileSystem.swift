import StrataFiles
import Synchronization

/// Files in memory under a store that treats them as files on a disk, with counts of what it asks of the disk.
final class CountingFileSystem: FileSystem {
    struct Counts: Equatable {
        var writes = 0
        /// Writes that do not begin where the one before ended.
        var runs = 0
        var bytes = 0
        var syncs = 0
        /// Largest number of bytes that one step writes back.
        var largestWriteBack = 0
    }

    private let inner: MemoryFileSystem
    fileprivate let state = Mutex(State())

    fileprivate struct State {
        var counts = Counts()
        var last: (path: String, end: Int64) = ("", -1)
    }

    init(capacity: Int) { inner = MemoryFileSystem(capacity: capacity) }

    /// What was counted since the last call.
    func takeCounts() -> Counts {
        state.withLock { state in
            defer { state.counts = Counts() }
            return state.counts
        }
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        CountingFile(try inner.open(path, mode), self)
    }
    func status(_ path: String) throws(FileError) -> FileStatus? { try inner.status(path) }
    func remove(_ path: String) throws(FileError) { try inner.remove(path) }
    func rename(_ path: String, to destination: String) throws(FileError) {
        try inner.rename(path, to: destination)
    }
    func renameNew(_ path: String, to destination: String) throws(FileError) {
        try inner.renameNew(path, to: destination)
    }
    func syncDirectory(of path: String) throws(FileError) { try inner.syncDirectory(of: path) }
    var isPersistent: Bool { true }
    func randomBits() -> UInt64 { inner.randomBits() }
}

private final class CountingFile: File {
    private let inner: any File
    private let owner: CountingFileSystem

    init(_ inner: any File, _ owner: CountingFileSystem) {
        self.inner = inner
        self.owner = owner
    }

    var path: String { inner.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try inner.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        owner.state.withLock { state in
            state.counts.writes += 1
            state.counts.bytes += bytes.count
            if state.last.path != path || state.last.end != offset { state.counts.runs += 1 }
            state.last = (path, offset + Int64(bytes.count))
        }
        try inner.write(bytes, at: offset)
    }
    func size() throws(FileError) -> Int64 { try inner.size() }
    func truncate(to size: Int64) throws(FileError) { try inner.truncate(to: size) }
    func preallocate(to size: Int64) throws(FileError) { try inner.preallocate(to: size) }
    func syncData() throws(FileError) { owner.state.withLock { $0.counts.syncs += 1 } }
    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        owner.state.withLock { $0.counts.largestWriteBack = max($0.counts.largestWriteBack, Int(count)) }
    }
    func status() throws(FileError) -> FileStatus { try inner.status() }
    func map(reserve: Int) throws(FileError) -> any FileMap { try inner.map(reserve: reserve) }
    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        try inner.tryLock(byte: byte, exclusive: exclusive)
    }
    func unlock(byte: Int64) throws(FileError) { try inner.unlock(byte: byte) }
    func close() { inner.close() }
}
