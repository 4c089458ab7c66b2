import Platform
import Synchronization

/// Files of an in-memory database, which live as long as this object.
///
/// A file's contents stay at one address, so that they serve as its mapping, too. A removed file lives until its last
/// handle and its last mapping are released, as on a real disk.
package final class MemoryFileSystem: FileSystem {
    private let entries = Mutex<[String: MemoryContents]>([:])
    private let lastInode = Atomic<UInt64>(0)
    /// Largest size of a file.
    private let capacity: Int

    package init(capacity: Int = 1 << 36) { self.capacity = capacity }

    package var isPersistent: Bool { false }

    package func randomBits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let inode = lastInode.add(1, ordering: .relaxed).newValue
        let contents = try entries.withLock { (entries) throws(FileError) -> MemoryContents in
            if let found = entries[path] {
                if mode.isNew { throw FileError(.open, path: path, errno: EEXIST) }
                return found
            }
            if !mode.creates { throw FileError(.open, path: path, errno: ENOENT) }
            guard let range = MappedRange(growing: capacity) else {
                throw FileError(.open, path: path, errno: ENOMEM)
            }
            let made = MemoryContents(range, inode: inode, capacity: capacity)
            entries[path] = made
            return made
        }
        return MemoryFile(contents, path: path)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        entries.withLock { $0[path] }?.status
    }

    package func remove(_ path: String) throws(FileError) {
        let removed = entries.withLock { $0.removeValue(forKey: path) }
        if removed == nil { throw FileError(.remove, path: path, errno: ENOENT) }
    }

    package func rename(_ path: String, to destination: String) throws(FileError) {
        try entries.withLock { (entries) throws(FileError) in
            guard let moved = entries.removeValue(forKey: path) else {
                throw FileError(.rename, path: path, errno: ENOENT)
            }
            entries[destination] = moved
        }
    }

    package func renameNew(_ path: String, to destination: String) throws(FileError) {
        try entries.withLock { (entries) throws(FileError) in
            if entries[destination] != nil { throw FileError(.rename, path: destination, errno: EEXIST) }
            guard let moved = entries.removeValue(forKey: path) else {
                throw FileError(.rename, path: path, errno: ENOENT)
            }
            entries[destination] = moved
        }
    }

    package func syncDirectory(of path: String) throws(FileError) {}
}

/// A file's bytes. `length` is atomic; threads that use the file guard its bytes among themselves, as on a disk.
private final class MemoryContents: Sendable {
    let range: MappedRange
    let inode: UInt64
    private let capacity: Int
    let length = Atomic<Int>(0)
    let locks = Mutex<[Int64: Int]>([:])

    init(_ range: MappedRange, inode: UInt64, capacity: Int) {
        self.range = range
        self.inode = inode
        self.capacity = capacity
    }

    /// Whether there is address space for this many bytes; extends the reservation if it was small.
    func hasRoom(for bytes: Int) -> Bool {
        if bytes <= range.count { return true }
        if bytes > capacity { return false }
        return range.extend(to: min(capacity, max(bytes, bytes / 4 * 5))) || range.extend(to: bytes)
    }

    var status: FileStatus {
        FileStatus(size: Int64(length.load(ordering: .acquiring)), device: 0, inode: inode)
    }
}

/// An open handle of a file, with the locks that were taken through it.
private final class MemoryFile: File {
    private let contents: MemoryContents
    let path: String
    /// Bytes locked through this handle: -1 exclusive, 1 shared.
    private let held = Mutex<[Int64: Int]>([:])

    init(_ contents: MemoryContents, path: String) {
        self.contents = contents
        self.path = path
    }

    deinit { close() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let available = contents.length.load(ordering: .acquiring) - Int(offset)
        let count = min(buffer.count, available)
        guard count > 0, let base = buffer.baseAddress else { return 0 }
        memcpy(base, contents.range.base + Int(offset), count)
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        guard let base = bytes.baseAddress else { return }
        let end = Int(offset) + bytes.count
        if !contents.hasRoom(for: end) { throw FileError(.write, path: path, errno: ENOSPC) }
        memcpy(contents.range.mutableBase + Int(offset), base, bytes.count)
        contents.length.max(end, ordering: .acquiringAndReleasing)
    }

    func size() throws(FileError) -> Int64 { contents.status.size }

    func truncate(to size: Int64) throws(FileError) {
        let end = Int(size)
        if !contents.hasRoom(for: end) { throw FileError(.truncate, path: path, errno: ENOSPC) }
        let old = contents.length.exchange(end, ordering: .acquiringAndReleasing)
        if end < old {
            let page = 16384
            let boundary = (end + page - 1) / page * page
            memset(contents.range.mutableBase + end, 0, min(boundary, old) - end)
            if boundary < old { contents.range.discard(from: boundary, count: old - boundary) }
        }
    }

    func preallocate(to size: Int64) throws(FileError) {
        if !contents.hasRoom(for: Int(size)) { throw FileError(.preallocate, path: path, errno: ENOSPC) }
        contents.length.max(Int(size), ordering: .acquiringAndReleasing)
    }

    func syncData() throws(FileError) {}
    func writeBack(offset: Int64, count: Int64) throws(FileError) {}
    func status() throws(FileError) -> FileStatus { contents.status }
    func map(reserve: Int) throws(FileError) -> any FileMap { contents.range }

    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        let mine = held.withLock { $0[byte] } ?? 0
        let done = contents.locks.withLock { locks in
            let others = (locks[byte] ?? 0) - mine
            if exclusive ? others != 0 : others < 0 { return false }
            locks[byte] = exclusive ? -1 : others + 1
            return true
        }
        if done { held.withLock { $0[byte] = exclusive ? -1 : 1 } }
        return done
    }

    func unlock(byte: Int64) throws(FileError) {
        guard let mine = held.withLock({ $0.removeValue(forKey: byte) }) else { return }
        contents.locks.withLock { $0[byte] = ($0[byte] ?? 0) - mine }
    }

    func close() {
        let mine = held.withLock { held in
            defer { held = [:] }
            return held
        }
        contents.locks.withLock { locks in
            for (byte, count) in mine { locks[byte] = (locks[byte] ?? 0) - count }
        }
    }
}
