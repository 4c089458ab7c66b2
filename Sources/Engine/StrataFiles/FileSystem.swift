/// The storage engine's access to files, and the interface for fault injection.
///
/// The engine reaches files through this protocol alone, so that a test or a harness can pass a disk that loses, tears,
/// reorders or refuses I/O. Implementations: ``POSIXFileSystem``, ``MemoryFileSystem``, and the simulated disk of the
/// harness.
///
/// Concurrency: every member may be called from any thread.
package protocol FileSystem: Sendable {
    /// Opens or creates a file.
    /// - Throws: ``FileError`` with operation `open`.
    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File

    /// Status of the file at `path`; nil if there is none. A symbolic link is not followed, and is no regular file; for
    /// a user's path call ``resolve(_:)`` first.
    func status(_ path: String) throws(FileError) -> FileStatus?

    /// The path with symbolic links resolved, so that it leads to the same file when links or the process's directory
    /// change. Returns `path` unchanged if there can be no file; the open then throws. By default there are no links.
    /// - Throws: ``FileError`` with operation `follow` for a circular link, or one whose target is no text.
    func resolve(_ path: String) throws(FileError) -> String

    /// Removes a directory entry. The removal is durable after ``syncDirectory(of:)``.
    func remove(_ path: String) throws(FileError)

    /// Renames atomically over an existing file. Durable after ``syncDirectory(of:)`` of the destination.
    func rename(_ path: String, to destination: String) throws(FileError)

    /// Renames atomically to a new name. Durable after ``syncDirectory(of:)`` of the destination.
    /// - Throws: ``FileError`` with EEXIST if the destination exists; it is unchanged then.
    func renameNew(_ path: String, to destination: String) throws(FileError)

    /// Makes creations, removals and renames in the directory that holds `path` durable.
    func syncDirectory(of path: String) throws(FileError)

    /// Whether written bytes outlive the process. If not, the engine uses no log and no syncs.
    var isPersistent: Bool { get }

    /// Whether other processes can open the same files at the same time, so that ``File/mapShared(count:)`` and
    /// ``File/isLocked(byte:)`` work.
    var isShared: Bool { get }

    /// Bytes available for new files beside `path`; nil if unknown, which is the default.
    func availableBytes(beside path: String) throws(FileError) -> Int64?

    /// Name of the network or user-space file system that holds `path`: NFS, CIFS, FUSE, 9p. Nil for local ones, and if
    /// unknown, which is the default.
    func servedKind(of path: String) -> String?

    /// Random bytes for salts and identities. A simulated file system returns a seeded sequence.
    func randomBits() -> UInt64
}

/// Mode of opening a file. Except with ``readThroughLinks`` a symbolic link at the path is refused: a user who can
/// create names in a directory must not choose by a link which file the engine reads or writes.
package enum OpenMode: Sendable, Equatable {
    /// Read-only; the file must exist.
    case read
    /// Read-only, for a path given by the user; a symbolic link is followed.
    case readThroughLinks
    /// Read and write; the file must exist.
    case write
    /// Read and write; created if missing.
    case createOrOpen
    /// Read and write; the file must not exist.
    case createNew
    /// As `createNew`, with the owner and access rights of another file, so that a log is not readable by more users
    /// than its data file.
    case createBeside(String)

    /// Whether it can create a file.
    package var creates: Bool { isNew || self == .createOrOpen }

    package var isReadOnly: Bool { self == .read || self == .readThroughLinks }

    /// Whether it fails if the file exists.
    package var isNew: Bool {
        switch self {
        case .createNew, .createBeside: true
        case .read, .readThroughLinks, .write, .createOrOpen: false
        }
    }
}

/// Status of a file at one moment.
package struct FileStatus: Sendable, Equatable {
    /// In bytes.
    package var size: Int64
    package var device: UInt64
    package var inode: UInt64
    package var isRegularFile: Bool

    package init(size: Int64, device: UInt64, inode: UInt64, isRegularFile: Bool = true) {
        self.size = size
        self.device = device
        self.inode = inode
        self.isRegularFile = isRegularFile
    }

    /// Whether both are of the same file.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// An open file.
///
/// Offsets and lengths are bytes. Reads and writes are complete or throw: implementations repeat calls after EINTR and
/// after a short transfer. Concurrency: every member may be called from any thread; callers must not overlap writes.
package protocol File: AnyObject, Sendable {
    /// The path by which it was opened, for messages.
    var path: String { get }

    /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int

    /// Writes all bytes. Durable after ``syncData()``.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError)

    /// Size in bytes.
    func size() throws(FileError) -> Int64

    /// The next range of bytes at or after `offset` without a hole. Holes read as zeros, and reading one through a
    /// mapping may allocate it. Nil if only holes follow. By default, and if holes are unknown, everything from
    /// `offset` on.
    func nextData(from offset: Int64) -> Range<Int64>?

    /// Truncates the file, or extends it by a hole.
    func truncate(to size: Int64) throws(FileError)

    /// Allocates disk space for the first `size` bytes, so that a full disk fails here and not in a later write.
    func preallocate(to size: Int64) throws(FileError)

    /// Makes contents and size durable. The caller must not repeat a sync that threw: the kernel may have dropped the
    /// bytes meanwhile, and the second sync would report success.
    func syncData() throws(FileError)

    /// Starts writing dirty pages of the range and waits for that, without a guarantee of durability.
    func writeBack(offset: Int64, count: Int64) throws(FileError)

    /// The file's identity.
    func status() throws(FileError) -> FileStatus

    /// A read-only mapping of the file, which shows later writes.
    /// - Parameter reserve: address space in bytes. If it is scarce the mapping is smaller, but not smaller than the
    ///   file. Bytes past the end of the file, and pages that the medium does not return, read as zeros and mark the
    ///   mapping as damaged.
    /// - Throws: ``FileError`` with ENOMEM if the file does not fit the address space.
    func map(reserve: Int) throws(FileError) -> any FileMap

    /// A private mapping, whose changes do not reach the file. Has a default.
    func mapPrivately(reserve: Int) throws(FileError) -> MappedRange

    /// Takes an advisory lock on one byte, against other descriptors and processes; false if another one holds a
    /// lock that excludes it.
    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool

    /// Releases the lock on one byte.
    func unlock(byte: Int64) throws(FileError)

    /// Whether another descriptor holds a lock on one byte, of either kind.
    func isLocked(byte: Int64) throws(FileError) -> Bool

    /// Ids of the processes that hold a lock on one byte, as far as known; for messages. Empty by default.
    /// - Complexity: examines every process of the machine.
    func lockHolders(byte: Int64) -> [Int32]

    /// Maps the first bytes of the file, which must exist, for changes by several processes.
    func mapShared(count: Int) throws(FileError) -> any SharedMemory

    /// Closes the descriptor, which releases its locks. A second call has no effect.
    func close()
}

/// A mapped view of a file. The addresses stay valid until the object is released.
package protocol FileMap: AnyObject, Sendable {
    var base: UnsafeRawPointer { get }
    /// Reserved bytes.
    var count: Int { get }

    /// Extends the reservation in place. By default a mapping cannot grow.
    /// - Returns: false if the addresses are not available; the mapping is unchanged then.
    func extend(to count: Int) -> Bool
    /// Nil if no page can be lost.
    var damage: MapDamage? { get }

    /// Loads bytes of the file to their mapped addresses, before they are read there. No effect for a mapping of the
    /// kernel, which loads pages itself.
    func load(offset: Int, count: Int) throws(FileError)
}

extension FileMap {
    package var damage: MapDamage? { nil }
    package func extend(to count: Int) -> Bool { count <= self.count }
    package func load(offset: Int, count: Int) throws(FileError) {}
}

extension FileSystem {
    /// Whether a path leads to an open file at this moment: another program may rename or remove files at any time.
    package func leads(_ path: String, to file: any File) throws(FileError) -> Bool {
        try leads(path, to: try file.status())
    }

    package func leads(_ path: String, to status: FileStatus) throws(FileError) -> Bool {
        try self.status(path)?.isSameFile(as: status) ?? false
    }
}

// Defaults for file systems that a single process uses.
extension FileSystem {
    package var isShared: Bool { false }
    package func resolve(_ path: String) throws(FileError) -> String { path }
    package func availableBytes(beside path: String) throws(FileError) -> Int64? { nil }
    package func servedKind(of path: String) -> String? { nil }
}

extension File {
    package func isLocked(byte: Int64) throws(FileError) -> Bool { throw FileError(.lock, path: path, errno: 0) }
    package func lockHolders(byte: Int64) -> [Int32] { [] }
    package func nextData(from offset: Int64) -> Range<Int64>? { offset..<Int64.max }

    package func mapShared(count: Int) throws(FileError) -> any SharedMemory {
        throw FileError(.map, path: path, errno: 0)
    }
}
