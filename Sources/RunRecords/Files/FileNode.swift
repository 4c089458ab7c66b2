#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory entry without contents: a symbolic link, a FIFO, a socket.
package struct FileNode: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case link(target: [UInt8])
        case fifo
        case socket
    }

    package var kind: Kind
    /// Its permissions; for a link they mean nothing.
    package var mode: UInt32

    package init(_ kind: Kind, mode: UInt32) {
        self.kind = kind
        self.mode = mode & 0o7777
    }

    /// Whether its permissions mean anything.
    package var hasMode: Bool {
        if case .link = kind { return false }
        return true
    }

    /// - Parameter target: of a link.
    /// Returns: nil for the mode of another kind of entry.
    package init?(mode: UInt32, target: [UInt8]) {
        switch mode_t(truncatingIfNeeded: mode) & S_IFMT {
        case S_IFLNK: self.init(.link(target: target), mode: 0)
        case S_IFIFO: self.init(.fifo, mode: mode)
        case S_IFSOCK: self.init(.socket, mode: mode)
        default: return nil
        }
    }

    /// Throws: for another kind of entry.
    package init(_ status: stat, at path: BytePath) throws(FileTreeError) {
        var target: [UInt8] = []
        if status.st_mode & S_IFMT == S_IFLNK {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = path.with { readlink($0, &buffer, buffer.count) }
            guard count > 0 else { throw FileTreeError("read the link", path) }
            target = buffer.prefix(count).map { UInt8(bitPattern: $0) }
        }
        guard let node = FileNode(mode: UInt32(status.st_mode), target: target) else {
            errno = ENOTSUP
            throw FileTreeError("take a device along:", path)
        }
        self = node
    }

    /// Creates such an entry at a path that does not exist.
    package func make(at path: BytePath) throws(FileTreeError) {
        let permissions = mode_t(truncatingIfNeeded: mode)
        let status: Int32
        switch kind {
        case .link(let target):
            status = path.with { place in BytePath(target).with { symlink($0, place) } }
        case .fifo:
            status = path.with { mkfifo($0, permissions) == 0 ? chmod($0, permissions) : -1 }
        case .socket:
            status = path.with { mknod($0, S_IFSOCK | permissions, 0) == 0 ? chmod($0, permissions) : -1 }
        }
        if status != 0 { throw FileTreeError("make", path) }
    }
}
