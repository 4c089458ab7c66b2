import Harness
import StrataFiles
import Synchronization

/// The platform's files, with a count of what is written and synced: no other engine lets its file layer be counted.
final class CountingFileSystem: FileSystem {
    /// One for the process: Realms of one file have to share their file system.
    static let shared = CountingFileSystem()

    private let base = POSIXFileSystem()
    private let syncs = Atomic<Int>(0)
    private let writes = Atomic<Int>(0)
    private let writtenBytes = Atomic<Int>(0)

    private init() {}

    var counters: FileLayerCounters {
        FileLayerCounters(
            syncs: syncs.load(ordering: .relaxed), writes: writes.load(ordering: .relaxed),
            writtenBytes: writtenBytes.load(ordering: .relaxed))
    }

    fileprivate func countSync() { syncs.add(1, ordering: .relaxed) }

    fileprivate func countWrite(_ bytes: Int) {
        writes.add(1, ordering: .relaxed)
        writtenBytes.add(bytes, ordering: .relaxed)
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        CountingFile(try base.open(path, mode), self)
    }

    func status(_ path: String) throws(FileError) -> FileStatus? { try base.status(path) }
    func remove(_ path: String) throws(FileError) { try base.remove(path) }
    func rename(_ path: String, to destination: String) throws(FileError) {
        try base.rename(path, to: destination)
    }

    func renameNew(_ path: String, to destination: String) throws(FileError) {
        try base.renameNew(path, to: destination)
    }

    func syncDirectory(of path: String) throws(FileError) {
        countSync()
        try base.syncDirectory(of: path)
    }

    var isPersistent: Bool { base.isPersistent }
    var isShared: Bool { base.isShared }
    func randomBits() -> UInt64 { base.randomBits() }
}

private final class CountingFile: File {
    private let base: any File
    private let files: CountingFileSystem

    init(_ base: any File, _ files: CountingFileSystem) {
        self.base = base
        self.files = files
    }

    var path: String { base.path }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        files.countWrite(bytes.count)
        try base.write(bytes, at: offset)
    }

    func size() throws(FileError) -> Int64 { try base.size() }
    func truncate(to size: Int64) throws(FileError) { try base.truncate(to: size) }
    func preallocate(to size: Int64) throws(FileError) { try base.preallocate(to: size) }

    func syncData() throws(FileError) {
        files.countSync()
        try base.syncData()
    }

    func writeBack(offset: Int64, count: Int64) throws(FileError) { try base.writeBack(offset: offset, count: count) }
    func status() throws(FileError) -> FileStatus { try base.status() }
    func map(reserve: Int) throws(FileError) -> any FileMap { try base.map(reserve: reserve) }

    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        try base.tryLock(byte: byte, exclusive: exclusive)
    }

    func unlock(byte: Int64) throws(FileError) { try base.unlock(byte: byte) }
    func isLocked(byte: Int64) throws(FileError) -> Bool { try base.isLocked(byte: byte) }
    func mapShared(count: Int) throws(FileError) -> any SharedMemory { try base.mapShared(count: count) }
    func close() { base.close() }
}
