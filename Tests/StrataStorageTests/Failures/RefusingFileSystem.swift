import StrataFiles
import Synchronization

/// Files in memory that count writes and syncs and refuse them on request.
final class RefusingFileSystem: FileSystemLayer {
    let base = MemoryFileSystem(capacity: 1 << 24)
    let writes = Atomic<Int>(0)
    let syncs = Atomic<Int>(0)
    /// The number, counted from 1, of the first write that fails; all later ones fail too.
    let firstRefusedWrite = Atomic<Int>(.max)
    let firstRefusedSync = Atomic<Int>(.max)
    /// Whether opens fail as in a process without free descriptors.
    let hasNoDescriptors = Atomic<Bool>(false)

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        if hasNoDescriptors.load(ordering: .relaxed) { throw FileError(.open, path: path, errno: 24) }
        return RefusingFile(try base.open(path, mode), self)
    }
    func syncDirectory(of path: String) throws(FileError) {
        if hasNoDescriptors.load(ordering: .relaxed) { throw FileError(.open, path: path, errno: 24) }
        try base.syncDirectory(of: path)
    }
    var isPersistent: Bool { true }
    func randomBits() -> UInt64 { 7 }
}

private final class RefusingFile: FileLayer {
    let base: any File
    private let owner: RefusingFileSystem

    init(_ base: any File, _ owner: RefusingFileSystem) {
        self.base = base
        self.owner = owner
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        let number = owner.writes.add(1, ordering: .relaxed).newValue
        if number >= owner.firstRefusedWrite.load(ordering: .relaxed) { throw FileError(.write, path: path, errno: 28) }
        try base.write(bytes, at: offset)
    }
    func syncData() throws(FileError) {
        let number = owner.syncs.add(1, ordering: .relaxed).newValue
        if number >= owner.firstRefusedSync.load(ordering: .relaxed) { throw FileError(.sync, path: path, errno: 5) }
        try base.syncData()
    }
    func writeBack(offset: Int64, count: Int64) throws(FileError) {}
}
