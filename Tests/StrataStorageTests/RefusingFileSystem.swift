import StrataFiles
import Synchronization

/// Files in memory that count writes and syncs and refuse them on request.
final class RefusingFileSystem: FileSystem {
    private let inner = MemoryFileSystem(capacity: 1 << 24)
    let writes = Atomic<Int>(0)
    let syncs = Atomic<Int>(0)
    /// The write (counted from 1) from which on all fail.
    let firstRefusedWrite = Atomic<Int>(.max)
    let firstRefusedSync = Atomic<Int>(.max)

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        RefusingFile(try inner.open(path, mode), self)
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
    func randomBits() -> UInt64 { 7 }
}

private final class RefusingFile: File {
    private let inner: any File
    private let owner: RefusingFileSystem

    init(_ inner: any File, _ owner: RefusingFileSystem) {
        self.inner = inner
        self.owner = owner
    }

    var path: String { inner.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try inner.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        let number = owner.writes.add(1, ordering: .relaxed).newValue
        if number >= owner.firstRefusedWrite.load(ordering: .relaxed) { throw FileError(.write, path: path, errno: 28) }
        try inner.write(bytes, at: offset)
    }
    func size() throws(FileError) -> Int64 { try inner.size() }
    func truncate(to size: Int64) throws(FileError) { try inner.truncate(to: size) }
    func preallocate(to size: Int64) throws(FileError) { try inner.preallocate(to: size) }
    func syncData() throws(FileError) {
        let number = owner.syncs.add(1, ordering: .relaxed).newValue
        if number >= owner.firstRefusedSync.load(ordering: .relaxed) { throw FileError(.sync, path: path, errno: 5) }
        try inner.syncData()
    }
    func writeBack(offset: Int64, count: Int64) throws(FileError) {}
    func status() throws(FileError) -> FileStatus { try inner.status() }
    func map(reserve: Int) throws(FileError) -> any FileMap { try inner.map(reserve: reserve) }
    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        try inner.tryLock(byte: byte, exclusive: exclusive)
    }
    func unlock(byte: Int64) throws(FileError) { try inner.unlock(byte: byte) }
    func close() { inner.close() }
}
