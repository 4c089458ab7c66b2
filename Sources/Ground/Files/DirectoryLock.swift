import Platform

/// A lock on a file. The kernel releases it when its holder ends, for any reason.
///
/// The lock belongs to the open file description: forked children share it, and programs that are started do not. The
/// file contains the holder's process id, for the error messages of other processes.
package final class DirectoryLock: Sendable {
    package enum Attempt {
        case taken(DirectoryLock)
        /// Another process holds the lock: its id, if the file has it already.
        case held(Int32?)
    }

    private let descriptor: Int32
    private let owner = getpid()

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The owner unlocks explicitly. To close the file is not enough: a child that another thread has just forked has
    /// it open until exec, and would keep the lock.
    deinit {
        if getpid() == owner { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    /// Takes the lock of a file, which is created if it is missing.
    ///
    /// If the file was moved or removed between the open and the lock, it is no longer the file at that path: then try
    /// again.
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

    /// Whether no process holds the lock. A file that is missing is not locked.
    package static func isFree(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Runs `body` while no other process is in such a call for the same directory. It waits for other processes, whose
    /// calls are short.
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
