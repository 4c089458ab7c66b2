#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A file operation that failed.
package struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Operation: String, Sendable {
        case open, status, read, write, size, truncate, preallocate, sync, syncDirectory, writeBack, map, lock, rename
        case remove
        /// A symbolic link whose target cannot be told.
        case follow
        /// Of an encrypted file: sealed bytes that are not whole, another key, a file that is not encrypted.
        case unseal, wrongKey, notEncrypted
    }

    package var operation: Operation
    package var path: String
    /// The system's number; 0 for a short transfer, and for a lock that somebody else has.
    package var errno: Int32

    package init(_ operation: Operation, path: String, errno: Int32) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The system's number for a new name that something has.
    package static let alreadyThere = EEXIST

    /// Whether something stands where a new name was to be.
    package var isAlreadyThere: Bool { errno == Self.alreadyThere }

    /// Somebody else has the lock that was wanted.
    package static func keptOut(path: String) -> FileError { FileError(.lock, path: path, errno: 0) }

    /// Whether the process has no right to do it: in a directory with the sticky bit, only a file's owner removes it.
    package var isRefused: Bool { errno == EPERM || errno == EACCES }

    /// Whether it is ``keptOut(path:)``.
    package var isKeptOut: Bool { operation == .lock && errno == 0 }

    /// Whether space is what is missing: on the disk, of the user's share, or below the process's limit.
    package var isNoSpace: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }

    /// Memory, or address space, is missing.
    package static let noMemory = ENOMEM

    /// Whether address space is what is missing.
    package var isNoAddressSpace: Bool { operation == .map && errno == Self.noMemory }

    /// Whether bytes may be lost that were handed over, or a name that was made. What failed for want of descriptors,
    /// memory or rights, before anything was written, has lost nothing.
    package var mayHaveLostBytes: Bool {
        switch operation {
        case .write, .truncate, .preallocate, .sync, .syncDirectory, .writeBack, .rename: true
        case .open, .status, .read, .size, .map, .lock, .remove, .follow, .unseal, .wrongKey, .notEncrypted: false
        }
    }

    /// Whether a symbolic link stands in the place of the file.
    package var isLink: Bool { operation == .open && errno == ELOOP }

    package var description: String {
        let reason =
            isKeptOut
            ? "another process has it"
            : isLink
                ? "a symbolic link stands in the place of the file and is not followed; remove it"
                : errno == 0 ? "short transfer" : String(cString: strerror(errno))
        return "\(operation.rawValue) \(path): \(reason)"
    }
}
