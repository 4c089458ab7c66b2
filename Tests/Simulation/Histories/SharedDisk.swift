import StrataFiles

/// A simulated disk that stores of this process share as if they were processes: locks belong to handles. The lock
/// file, which a crash does not preserve, is a real file that all stores map.
final class SharedDisk<Base: FileSystem>: FileSystemLayer {
    let base: Base
    private let real = POSIXFileSystem()
    private let lockPath: String

    /// - Parameter lockPath: the path of the lock file on the platform's file system.
    init(_ base: Base, lockPath: String) {
        self.base = base
        self.lockPath = lockPath
    }

    var isShared: Bool { true }

    private func isLockFile(_ path: String) -> Bool { path.hasSuffix(".lock") }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        if !isLockFile(path) { return try base.open(path, mode) }
        // The data file that it belongs to is not on the platform's file system.
        return try real.open(lockPath, mode.isNew ? .createNew : mode)
    }

    func status(_ path: String) throws(FileError) -> FileStatus? {
        isLockFile(path) ? try real.status(lockPath) : try base.status(path)
    }

    func remove(_ path: String) throws(FileError) {
        isLockFile(path) ? try real.remove(lockPath) : try base.remove(path)
    }
}
