import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Synchronization

/// A simulated disk that the stores of a deterministic schedule share as if each were a process. The lock file is on a
/// disk of its own, which no crash affects, and its shared words are in memory.
final class ScheduledTable: FileSystemLayer {
    let base: SimulatedDisk
    private let locks: SimulatedDisk
    private let scheduling: DeterministicScheduling
    /// The words of each lock file, by its inode.
    private let words = Mutex<[UInt64: ScheduledWords]>([:])

    init(_ base: SimulatedDisk, _ scheduling: DeterministicScheduling) {
        self.base = base
        self.scheduling = scheduling
        locks = SimulatedDisk(seed: Seed(3))
    }

    var isShared: Bool { true }

    private func disk(of path: String) -> SimulatedDisk { path.hasSuffix(".lock") ? locks : base }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        if !path.hasSuffix(".lock") { return try base.open(path, mode) }
        // The data file that it belongs to is on the other disk.
        let file = try locks.open(path, mode.isNew ? .createNew : mode)
        let inode = try file.status().inode
        let words = words.withLock { all in
            let found = all[inode] ?? ScheduledWords(scheduling)
            all[inode] = found
            return found
        }
        return LockFile(base: file, words: words)
    }

    func status(_ path: String) throws(FileError) -> FileStatus? { try disk(of: path).status(path) }
    func remove(_ path: String) throws(FileError) { try disk(of: path).remove(path) }

    private final class LockFile: FileLayer {
        let base: any File
        private let words: ScheduledWords

        init(base: any File, words: ScheduledWords) {
            self.base = base
            self.words = words
        }

        func mapShared(count: Int) throws(FileError) -> any SharedMemory { words }
    }
}

/// Words that several stores share. The scheduler may switch threads after an exchange, and at a fence.
private final class ScheduledWords: SharedMemory {
    private static let size = 1 << 19
    private let scheduling: DeterministicScheduling
    private let monitor: any Monitor
    /// The scheduler's baton guards both.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private nonisolated(unsafe) var waits = 0

    init(_ scheduling: DeterministicScheduling) {
        self.scheduling = scheduling
        monitor = scheduling.makeMonitor("shared words")
        base = .allocate(byteCount: Self.size, alignment: 8)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size)
    }

    deinit { base.deallocate() }

    var count: Int { Self.size }
    var isIntact: Bool { true }

    func load32(_ offset: Int) -> UInt32 { base.load(fromByteOffset: offset, as: UInt32.self) }
    func load64(_ offset: Int) -> UInt64 { base.load(fromByteOffset: offset, as: UInt64.self) }
    func store32(_ offset: Int, _ value: UInt32) { base.storeBytes(of: value, toByteOffset: offset, as: UInt32.self) }
    func store64(_ offset: Int, _ value: UInt64) { base.storeBytes(of: value, toByteOffset: offset, as: UInt64.self) }

    func exchange64(_ offset: Int, expected: UInt64, with new: UInt64) -> Bool {
        if load64(offset) != expected { return false }
        store64(offset, new)
        scheduling.yield(at: "exchange")
        return true
    }

    func increment32(_ offset: Int) { store32(offset, load32(offset) &+ 1) }
    func fence() { scheduling.yield(at: "fence") }

    func wait(_ offset: Int, while value: UInt32, microseconds: Int) {
        // Every second wait ends early, so that its thread also reads the words between two rings.
        waits += 1
        if waits % 2 == 0 { return scheduling.pause(microseconds: 1) }
        let deadline = scheduling.deadline(after: microseconds)
        monitor.withLock {
            if load32(offset) == value { _ = monitor.wait(until: deadline) }
        }
    }

    func ring(_ offset: Int) {
        monitor.withLock {
            increment32(offset)
            monitor.wakeAll()
        }
    }
}
