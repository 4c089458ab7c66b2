/// Where the storage engine's bytes live: the fault seam.
///
/// The engine reaches files through this protocol alone, so a test or a harness hands it a disk that loses, tears,
/// reorders or refuses whatever it wants. Implementations: ``POSIXFileSystem``, ``MemoryFileSystem``, and the simulated
/// disk of the harness.
///
/// Concurrency: every member may be called from any thread.
package protocol FileSystem: Sendable {
    /// Opens or creates a file.
    /// - Throws: ``FileError`` with operation `open`.
    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File

    /// What stands at `path` now, or nil when there is nothing. A symbolic link in the place of the file is what is
    /// described, and is no regular file; ``resolve(_:)`` comes first where the path is a user's.
    func status(_ path: String) throws(FileError) -> FileStatus?

    /// The path of the file itself where `path` is a symbolic link, or leads through one: it stays the same when links
    /// and the process's directory change. `path` as it is where nothing can stand; opening it says why. Has a default:
    /// no links.
    /// - Throws: ``FileError`` with operation `follow` for a link that leads to no end, or whose target is no text.
    func resolve(_ path: String) throws(FileError) -> String

    /// Removes a directory entry. The removal is durable after ``syncDirectory(of:)``.
    func remove(_ path: String) throws(FileError)

    /// Renames atomically over an existing file. Durable after ``syncDirectory(of:)`` of the destination.
    func rename(_ path: String, to destination: String) throws(FileError)

    /// Renames to a name that nothing has yet, atomically. Durable after ``syncDirectory(of:)`` of the destination.
    /// - Throws: ``FileError`` with EEXIST when something stands at the destination, which stays as it is.
    func renameNew(_ path: String, to destination: String) throws(FileError)

    /// Makes creations, removals and renames in the directory that holds `path` durable.
    func syncDirectory(of path: String) throws(FileError)

    /// Whether bytes written here outlive the process. False makes the engine skip its log and its syncs.
    var isPersistent: Bool { get }

    /// Whether other processes may open the same files at the same time, and ``File/mapShared(count:)`` and
    /// ``File/isLocked(byte:)`` work.
    var isShared: Bool { get }

    /// Bytes that new files beside `path` can take; nil when that is not known. Has a default: not known.
    func availableBytes(beside path: String) throws(FileError) -> Int64?

    /// What serves the files beside `path` where that is another machine or a program: NFS, CIFS, FUSE, 9p. Nil for the
    /// file systems of this machine, and where it is not known. Has a default: nil.
    func servedKind(of path: String) -> String?

    /// Random bytes for salts and identities. A simulated file system returns a seeded sequence.
    func randomBits() -> UInt64
}

/// How to open a file. A symbolic link in the place of the file is refused, except by ``readThroughLinks``: a user may
/// be able to create names in a directory, and must not choose by a link which file the engine reads or writes.
package enum OpenMode: Sendable, Equatable {
    /// Reading only; the file must be there.
    case read
    /// Reading only, for a file that the user names; a symbolic link in its place is followed.
    case readThroughLinks
    /// Reading and writing; the file must be there.
    case write
    /// Reading and writing; created when absent.
    case createOrOpen
    /// Reading and writing; fails when it is there already.
    case createNew
    /// The same, with the owner and the rights of another file: nobody may read a log who may not read what it is of.
    case createBeside(String)

    /// Whether it makes a file where there is none.
    package var creates: Bool { isNew || self == .createOrOpen }

    package var isReadOnly: Bool { self == .read || self == .readThroughLinks }

    /// Whether it fails when the file is there.
    package var isNew: Bool {
        switch self {
        case .createNew, .createBeside: true
        case .read, .readThroughLinks, .write, .createOrOpen: false
        }
    }
}

/// What a path led to at one moment.
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

    /// Whether both are of one file, whatever became of it meanwhile.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// An open file.
///
/// Offsets and lengths are bytes. Reads and writes are whole or throw: implementations go on after EINTR and after a
/// short transfer.
/// Concurrency: every member may be called from any thread; overlapping writes are the caller's business.
package protocol File: AnyObject, Sendable {
    /// The path that it was opened by, for messages.
    var path: String { get }

    /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int

    /// Writes all bytes. Durable after ``syncData()``.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError)

    /// Size in bytes.
    func size() throws(FileError) -> Int64

    /// The next bytes from `offset` on that are not in a hole, as far as they go without one: holes read as zeros, and
    /// to look at one through a map may fill it. Nil where nothing but holes follows.
    /// Has a default, and where holes cannot be told: everything from `offset` on.
    func nextData(from offset: Int64) -> Range<Int64>?

    /// Cuts the file, or lengthens it by a hole.
    func truncate(to size: Int64) throws(FileError)

    /// Takes disk space for the first `size` bytes, so that a full disk shows here and not in a later write.
    func preallocate(to size: Int64) throws(FileError)

    /// Makes contents, and what is needed to read them back (the size), durable. Never try it again after it threw.
    func syncData() throws(FileError)

    /// Starts writing dirty pages of the range to the medium and waits for it, without making anything durable.
    func writeBack(offset: Int64, count: Int64) throws(FileError)

    /// The file's identity.
    func status() throws(FileError) -> FileStatus

    /// A read-only view of the file that later writes show up in.
    /// - Parameter reserve: bytes of address space to take. Where that is short the map is smaller, but not than the
    ///   file. Bytes past the end of the file read as zeros and mark the map as damaged, as do pages that the medium
    ///   does not give back.
    /// - Throws: ``FileError`` with ENOMEM when there is no address space for the file.
    func map(reserve: Int) throws(FileError) -> any FileMap

    /// A view of the file in which changes stay; they do not reach the file. Has a default.
    func mapPrivately(reserve: Int) throws(FileError) -> MappedRange

    /// Takes an advisory lock on one byte, shared with other descriptors and processes; false when somebody has it.
    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool

    /// Gives the lock on one byte back.
    func unlock(byte: Int64) throws(FileError)

    /// Whether another descriptor has a lock on one byte, of either kind.
    func isLocked(byte: Int64) throws(FileError) -> Bool

    /// The processes that have a lock on one byte, as far as that can be told; for messages. Has a default: none.
    /// - Complexity: a look at every process of the machine.
    func lockHolders(byte: Int64) -> [Int32]

    /// Maps the first bytes of the file, which must be there, to be changed by several processes.
    func mapShared(count: Int) throws(FileError) -> any SharedMemory

    /// Closes the descriptor; locks go with it. Calling it twice is harmless.
    func close()
}

/// A mapped view of a file. The addresses stay valid until the object is released.
package protocol FileMap: AnyObject, Sendable {
    var base: UnsafeRawPointer { get }
    /// Reserved bytes.
    var count: Int { get }

    /// Takes more address space, behind what is reserved. Has a default: there is none.
    /// - Returns: false when so much is not to be had; the map is as it was.
    func extend(to count: Int) -> Bool
    /// Nil where no page can be lost.
    var damage: MapDamage? { get }

    /// Brings bytes of the file to where they are mapped; nothing to do where the system does that by itself.
    func load(offset: Int, count: Int) throws(FileError)
}

extension FileMap {
    package var damage: MapDamage? { nil }
    package func extend(to count: Int) -> Bool { count <= self.count }
    package func load(offset: Int, count: Int) throws(FileError) {}
}

extension FileSystem {
    /// Whether a path leads to a file that is open: it may come to lead to another one, or to none, at any time.
    package func leads(_ path: String, to file: any File) throws(FileError) -> Bool {
        try leads(path, to: try file.status())
    }

    package func leads(_ path: String, to status: FileStatus) throws(FileError) -> Bool {
        try self.status(path)?.isSameFile(as: status) ?? false
    }
}

// For files that one process has for itself.
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
