#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A lock on a file that the kernel gives back when its holder ends, however it ends.
///
/// The lock belongs to the open file: children that are forked hold it too, programs that are started do not. The file
/// holds the holder's process id, for those who are refused.
package final class DirectoryLock: Sendable {
    package enum Attempt {
        case taken(DirectoryLock)
        /// By another process: its id, where the file says it already.
        case held(Int32?)
    }

    private let descriptor: Int32
    private let owner = getpid()

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The process that took the lock gives it back by name. To close the file is not enough: a child that another
    /// thread just forked has it open until it starts its program, and the lock would live as long.
    deinit {
        if getpid() == owner { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    /// Takes the lock of a file, which is made where it is missing.
    ///
    /// A file that was moved or removed between its opening and its locking is no lock of that path: then the path is
    /// looked up again.
    package static func attempt(_ path: String) throws(FileTreeError) -> Attempt {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
            guard descriptor >= 0 else { throw FileTreeError("open for locking", path) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let error = FileTreeError("lock", path)
                defer { close(descriptor) }
                guard error.code == EWOULDBLOCK else { throw error }
                return .held(holder(descriptor))
            }
            guard isStill(path, descriptor) else {
                close(descriptor)
                continue
            }
            let text = Array("\(getpid())\n".utf8)
            guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.count, 0) == text.count else {
                let error = FileTreeError("write", path)
                close(descriptor)
                throw error
            }
            return .taken(DirectoryLock(descriptor: descriptor))
        }
    }

    /// Whether nobody holds the lock. A file that is not there is held by nobody.
    package static func isFree(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Runs `body` while no other process is in such a call for the same directory. Waits for them: each is short.
    package static func during<Output>(
        _ directory: String, _ body: () throws -> Output
    ) throws -> Output {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileTreeError("open", directory) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw FileTreeError("lock", directory) }
        }
        return try body()
    }

    private static func isStill(_ path: String, _ descriptor: Int32) -> Bool {
        var named = stat()
        var opened = stat()
        guard lstat(path, &named) == 0, fstat(descriptor, &opened) == 0 else { return false }
        return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self))
    }
}
