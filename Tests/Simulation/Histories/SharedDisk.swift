import StrataFiles

/// A simulated disk that stores of this process share as if each were another process: locks belong to handles, and the
/// lock file, which is no part of what a crash leaves, is a real one that all map.
final class SharedDisk<Base: FileSystem>: FileSystemLayer {
    let base: Base
    private let real = POSIXFileSystem()
    private let lockPath: String

    /// - Parameter lockPath: where the lock file stands among the platform's files.
    init(_ base: Base, lockPath: String) {
        self.base = base
        self.lockPath = lockPath
    }

    var isShared: Bool { true }

    private func isLockFile(_ path: String) -> Bool { path.hasSuffix(".lock") }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        if !isLockFile(path) { return try base.open(path, mode) }
        // The file beside which it would be made is not among the platform's.
        return try real.open(lockPath, mode.isNew ? .createNew : mode)
    }

    func status(_ path: String) throws(FileError) -> FileStatus? {
        isLockFile(path) ? try real.status(lockPath) : try base.status(path)
    }

    func remove(_ path: String) throws(FileError) {
        isLockFile(path) ? try real.remove(lockPath) : try base.remove(path)
    }
}
