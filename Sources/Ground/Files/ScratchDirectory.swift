import Platform

/// A directory for the temporary files of one process, its owner.
///
/// Invariants:
/// 1. Its name begins with `assay-scratch-` and ends with random digits. No directory with this name existed before.
/// 2. The owner takes its lock before it writes its marker, and holds the lock until it ends. A directory that has a
///    marker and whose lock is free has no owner any more: the next run removes it.
/// 3. Only entries that its marker lists are removed. Other files stay, and then the directory stays, too.
package final class ScratchDirectory: Sendable {
    package static let prefix = "assay-scratch-"
    /// On systems that have one: a file system in memory that all users share.
    package static let memory = "/dev/shm"
    private static let filesEntry = "files"

    package let path: String
    private let lock: DirectoryLock

    private init(path: String, lock: DirectoryLock) {
        self.path = path
        self.lock = lock
    }

    /// The owner's files. The owner may remove this directory and create it again.
    package var files: String { path + "/" + Self.filesEntry }

    package var name: String {
        String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
    }

    package static func newName() -> String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return prefix + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Creates a scratch directory below `parent`, which must exist.
    package static func make(in parent: String, name: String = newName()) throws -> ScratchDirectory {
        let path = parent + "/" + name
        guard mkdir(path, 0o755) == 0 else { throw FileTreeError("create directory", path) }
        guard case .taken(let lock) = try DirectoryLock.attempt(path + "/" + DirectoryMarker.lockFile) else {
            throw DirectoryClaimError("\(path) was just made, and is locked by another process")
        }
        try DirectoryMarker(runID: "", entries: [filesEntry]).write(to: path)
        let scratch = ScratchDirectory(path: path, lock: lock)
        try FileTree.createDirectory(scratch.files)
        return scratch
    }

    /// Removes the listed entries, and the directory if it is then empty.
    package func remove() throws {
        try Self.clear(path)
    }

    /// Removes the scratch directories below `parent` whose owner has ended; with `names` only these. Symbolic links,
    /// directories of other users, and those without a valid marker stay.
    /// - Returns: the names of the directories that it removed, and those of `names` that did not exist.
    @discardableResult
    package static func removeAbandoned(in parent: String, names: Set<String>? = nil) throws -> Set<String> {
        guard FileTree.isDirectory(parent) else { return names ?? [] }
        var removed = names ?? []
        for name in try FileTree.names(in: parent) where name.hasPrefix(prefix) {
            if let names, !names.contains(name) { continue }
            let path = parent + "/" + name
            guard isAbandoned(path) else {
                removed.remove(name)
                continue
            }
            try clear(path)
            if FileTree.kind(path) == nil { removed.insert(name) } else { removed.remove(name) }
        }
        return removed
    }

    private static func isAbandoned(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            DirectoryMarker.exists(in: path)
        else { return false }
        return DirectoryLock.isFree(path + "/" + DirectoryMarker.lockFile)
    }

    private static func clear(_ path: String) throws {
        let marker = try DirectoryMarker.read(from: path)
        for entry in marker.entries where !entry.contains("/") && entry != "." && entry != ".." {
            try FileTree.remove(path + "/" + entry)
        }
        // The marker is removed first: another process leaves a directory without a marker alone.
        for entry in [DirectoryMarker.file, DirectoryMarker.lockFile] { try FileTree.remove(path + "/" + entry) }
        if rmdir(path) != 0 && errno != ENOENT && errno != ENOTEMPTY {
            throw FileTreeError("remove directory", path)
        }
    }
}
