import Platform

/// A directory entry that has no contents of its own: a symbolic link, a FIFO or a socket.
package struct FileNode: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case link(target: [UInt8])
        case fifo
        case socket
    }

    package var kind: Kind
    /// The permissions of the entry; those of a link mean nothing.
    package var mode: UInt32

    package init(_ kind: Kind, mode: UInt32) {
        self.kind = kind
        self.mode = mode & 0o7777
    }

    /// Whether the permissions mean anything.
    package var hasMode: Bool {
        if case .link = kind { return false }
        return true
    }

    /// - Parameter target: the text of a link.
    /// Returns: nil if the mode is that of another kind of entry.
    package init?(mode: UInt32, target: [UInt8]) {
        switch mode_t(truncatingIfNeeded: mode) & S_IFMT {
        case S_IFLNK: self.init(.link(target: target), mode: 0)
        case S_IFIFO: self.init(.fifo, mode: mode)
        case S_IFSOCK: self.init(.socket, mode: mode)
        default: return nil
        }
    }

    /// Throws: also if the entry is of another kind.
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
            throw FileTreeError("copy the device", path)
        }
        self = node
    }

    /// Creates this entry at a path that does not exist yet.
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
