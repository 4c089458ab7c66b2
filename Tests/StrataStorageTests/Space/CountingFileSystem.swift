import StrataFiles
import Synchronization

/// Files in memory that a store treats as files on a disk, with counts of its operations.
final class CountingFileSystem: FileSystemLayer {
    struct Counts: Equatable {
        var writes = 0
        /// Writes that do not continue the previous one.
        var runs = 0
        var bytes = 0
        var syncs = 0
        var writeBacks = 0
        /// Largest number of bytes that one step writes back.
        var largestWriteBack = 0
    }

    let base: MemoryFileSystem
    fileprivate let state = Mutex(State())

    fileprivate struct State {
        var counts = Counts()
        var last: (path: String, end: Int64) = ("", -1)
    }

    init(capacity: Int) { base = MemoryFileSystem(capacity: capacity) }

    /// The counts since the last call.
    func takeCounts() -> Counts {
        state.withLock { state in
            defer { state.counts = Counts() }
            return state.counts
        }
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        CountingFile(try base.open(path, mode), self)
    }
    func syncDirectory(of path: String) throws(FileError) {}
    var isPersistent: Bool { true }
}

private final class CountingFile: FileLayer {
    let base: any File
    private let owner: CountingFileSystem

    init(_ base: any File, _ owner: CountingFileSystem) {
        self.base = base
        self.owner = owner
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        owner.state.withLock { state in
            state.counts.writes += 1
            state.counts.bytes += bytes.count
            if state.last.path != path || state.last.end != offset { state.counts.runs += 1 }
            state.last = (path, offset + Int64(bytes.count))
        }
        try base.write(bytes, at: offset)
    }
    func syncData() throws(FileError) { owner.state.withLock { $0.counts.syncs += 1 } }
    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        owner.state.withLock {
            $0.counts.writeBacks += 1
            $0.counts.largestWriteBack = max($0.counts.largestWriteBack, Int(count))
        }
    }
}
