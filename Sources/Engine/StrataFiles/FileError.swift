import Platform

/// A file operation that failed.
package struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The operation that failed. Its word begins the error's description.
    package enum Operation: String, Sendable {
        case open, status, read, write, size, truncate, preallocate, sync, syncDirectory, writeBack, map, lock, rename
        case remove
        /// Reading the target of a symbolic link.
        case follow
        /// For an encrypted file: damaged sealed bytes, a wrong key, a file that is not encrypted.
        case unseal, wrongKey, notEncrypted
    }

    package var operation: Operation
    package var path: String
    /// The system's errno; 0 if no system call failed: for a short transfer, a lock that another descriptor holds, an
    /// operation that the file does not have, and the three operations of encrypted files.
    package var errno: Int32

    package init(_ operation: Operation, path: String, errno: Int32) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The errno for a new name that is taken.
    package static let alreadyThere = EEXIST

    /// Whether the new name is taken.
    package var isAlreadyThere: Bool { errno == Self.alreadyThere }

    /// The error for a lock that another descriptor holds.
    package static func keptOut(path: String) -> FileError { FileError(.lock, path: path, errno: 0) }

    /// Whether the process lacks the right: in a directory with the sticky bit, only a file's owner can remove it.
    package var isRefused: Bool { errno == EPERM || errno == EACCES }

    /// Whether it is ``keptOut(path:)``.
    package var isKeptOut: Bool { operation == .lock && errno == 0 }

    /// Whether space is missing: on the disk, in the user's quota, or under the process's limit.
    package var isNoSpace: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }

    /// Out of memory or address space.
    package static let noMemory = ENOMEM

    /// Whether address space is missing.
    package var isNoAddressSpace: Bool { operation == .map && errno == Self.noMemory }

    /// Whether written bytes, or a new name, may be lost. A failure for lack of descriptors, memory or rights, before
    /// any write, loses none.
    package var mayHaveLostBytes: Bool {
        switch operation {
        case .write, .truncate, .preallocate, .sync, .syncDirectory, .writeBack, .rename: true
        case .open, .status, .read, .size, .map, .lock, .remove, .follow, .unseal, .wrongKey, .notEncrypted: false
        }
    }

    /// Whether the path is a symbolic link.
    package var isLink: Bool { operation == .open && errno == ELOOP }

    package var description: String {
        let reason =
            isKeptOut
            ? "another process holds the lock"
            : isLink
                ? "the path is a symbolic link, which is not followed; remove it"
                : errno == 0 ? "short transfer" : String(cString: strerror(errno))
        return "\(operation.rawValue) \(path): \(reason)"
    }
}
