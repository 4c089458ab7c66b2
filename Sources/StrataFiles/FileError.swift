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
        /// Of an encrypted file: sealed bytes that are not whole, another key, a file that is not encrypted.
        case unseal, wrongKey, notEncrypted
    }

    package var operation: Operation
    package var path: String
    /// The system's number, or 0 for a short transfer.
    package var errno: Int32

    package init(_ operation: Operation, path: String, errno: Int32) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// Whether something stands where a new name was to be.
    package var isAlreadyThere: Bool { errno == EEXIST }

    /// Whether space is what is missing.
    package var isNoSpace: Bool { errno == ENOSPC || errno == EDQUOT }

    package var description: String {
        let reason = errno == 0 ? "short transfer" : String(cString: strerror(errno))
        return "\(operation.rawValue) \(path): \(reason)"
    }
}
