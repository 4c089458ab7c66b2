internal import StrataFiles

// A path may lead to another file at any time: another process creates the store first, a backup is restored, the file
// is removed. So every decision by path is checked against the file that is open.

/// The path by which a file was opened, and the identity of that file.
struct OpenedPath: Sendable {
    private let path: String
    let identity: FileStatus
    private let fileSystem: any FileSystem

    init(_ path: String, _ identity: FileStatus, _ fileSystem: any FileSystem) {
        self.path = path
        self.identity = identity
        self.fileSystem = fileSystem
    }

    /// Whether the path leads to another file by now, or to none.
    var isStale: Bool {
        get throws(StorageError) {
            if !fileSystem.isPersistent { return false }
            do throws(FileError) { return try !fileSystem.leads(path, to: identity) } catch {
                throw StorageError(error)
            }
        }
    }
}
