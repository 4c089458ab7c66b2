import CStrataShim

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The platform's files.
package struct POSIXFileSystem: FileSystem {
    package init() {}

    package var isPersistent: Bool { true }
    package var isShared: Bool { strata_has_shared_locks() != 0 }

    package func randomBits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .write: O_RDWR
            case .createOrOpen: O_RDWR | O_CREAT
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            }
        let descriptor = strata_open(path, flags, 0o644)
        if descriptor < 0 { throw FileError(.open, path: path, errno: -descriptor) }
        return POSIXFile(descriptor: descriptor, path: path)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        var found = strata_status()
        let result = strata_get_status(-1, path, &found)
        if result == 0 { return FileStatus(found) }
        if result == -ENOENT || result == -ENOTDIR { return nil }
        throw FileError(.status, path: path, errno: -result)
    }

    package func remove(_ path: String) throws(FileError) {
        if unlink(path) != 0 { throw FileError(.remove, path: path, errno: errno) }
    }

    package func rename(_ path: String, to destination: String) throws(FileError) {
        #if canImport(Darwin)
            let result = Darwin.rename(path, destination)
        #else
            let result = Glibc.rename(path, destination)
        #endif
        if result != 0 { throw FileError(.rename, path: destination, errno: errno) }
    }

    package func renameNew(_ path: String, to destination: String) throws(FileError) {
        let result = strata_rename_new(path, destination)
        if result != 0 { throw FileError(.rename, path: destination, errno: -result) }
    }

    package func syncDirectory(of path: String) throws(FileError) {
        let directory = Self.directory(of: path)
        let descriptor = strata_open(directory, O_RDONLY | O_DIRECTORY, 0)
        if descriptor < 0 { throw FileError(.syncDirectory, path: directory, errno: -descriptor) }
        let failure: Int32 = fsync(descriptor) == 0 ? 0 : errno
        close(descriptor)
        // Some file systems cannot sync a directory and say so; they keep entries in order by themselves.
        if failure != 0 && failure != EINVAL { throw FileError(.syncDirectory, path: directory, errno: failure) }
    }

    package func availableBytes(beside path: String) throws(FileError) -> Int64? {
        let directory = Self.directory(of: path)
        var information = statvfs()
        if statvfs(directory, &information) != 0 { throw FileError(.status, path: directory, errno: errno) }
        let (bytes, isHuge) = UInt64(information.f_bavail).multipliedReportingOverflow(
            by: UInt64(information.f_frsize))
        return isHuge ? .max : Int64(clamping: bytes)
    }

    /// The folder that holds `path`.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension FileStatus {
    fileprivate init(_ found: strata_status) {
        self.init(
            size: found.size, device: found.device, inode: found.inode, isRegularFile: found.is_regular != 0)
    }
}

/// A descriptor. The number is set once; closing it while another thread uses it is the caller's mistake.
final class POSIXFile: File {
    private let descriptor: Int32
    let path: String
    private let closed = ClosedFlag()

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        var done = 0
        while done < buffer.count {
            let count = pread(descriptor, base + done, buffer.count - done, off_t(offset) + off_t(done))
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw FileError(.read, path: path, errno: errno)
            }
            done += count
        }
        return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let count = pwrite(descriptor, base + done, bytes.count - done, off_t(offset) + off_t(done))
            if count < 0 {
                if errno == EINTR { continue }
                throw FileError(.write, path: path, errno: errno)
            }
            if count == 0 { throw FileError(.write, path: path, errno: 0) }
            done += count
        }
    }

    func size() throws(FileError) -> Int64 {
        // A third of the time of a status; nothing here uses the position that it sets.
        let end = lseek(descriptor, 0, SEEK_END)
        if end >= 0 { return Int64(end) }
        var found = strata_status()
        let result = strata_get_status(descriptor, nil, &found)
        if result != 0 { throw FileError(.size, path: path, errno: -result) }
        return found.size
    }

    func truncate(to size: Int64) throws(FileError) {
        while ftruncate(descriptor, off_t(size)) != 0 {
            if errno == EINTR { continue }
            throw FileError(.truncate, path: path, errno: errno)
        }
    }

    func preallocate(to size: Int64) throws(FileError) {
        #if canImport(Darwin)
            if try self.size() < size { try truncate(to: size) }
        #else
            while true {
                let failure = posix_fallocate(descriptor, 0, off_t(size))
                if failure == 0 { return }
                if failure != EINTR { throw FileError(.preallocate, path: path, errno: failure) }
            }
        #endif
    }

    func syncData() throws(FileError) {
        #if canImport(Darwin)
            let result = fcntl(descriptor, F_FULLFSYNC)
        #else
            let result = fdatasync(descriptor)
        #endif
        if result != 0 { throw FileError(.sync, path: path, errno: errno) }
    }

    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        let result = strata_write_back(descriptor, offset, count)
        // Not every file system has it, and nothing depends on it.
        if result != 0 && result != -ENOSYS && result != -ESPIPE && result != -EINVAL {
            throw FileError(.writeBack, path: path, errno: -result)
        }
    }

    func status() throws(FileError) -> FileStatus {
        var found = strata_status()
        let result = strata_get_status(descriptor, nil, &found)
        if result != 0 { throw FileError(.status, path: path, errno: -result) }
        return FileStatus(found)
    }

    func map(reserve: Int) throws(FileError) -> any FileMap {
        guard let base = mmap(nil, reserve, PROT_READ, MAP_SHARED, descriptor, 0), base != MAP_FAILED else {
            throw FileError(.map, path: path, errno: errno)
        }
        guard let damage = MapDamage(watching: base, count: reserve) else {
            munmap(base, reserve)
            throw FileError(.map, path: path, errno: ENOMEM)
        }
        return MappedRange(UnsafeMutableRawPointer(base), count: reserve, damage: damage)
    }

    func mapPrivately(reserve: Int) throws(FileError) -> MappedRange {
        let size = Int(try self.size())
        guard size <= reserve, let whole = MappedRange.reserve(reserve) else {
            throw FileError(.map, path: path, errno: ENOMEM)
        }
        let flags = MAP_PRIVATE | MAP_FIXED
        if size > 0, mmap(whole, size, PROT_READ | PROT_WRITE, flags, descriptor, 0) == MAP_FAILED {
            let failure = errno
            munmap(whole, reserve)
            throw FileError(.map, path: path, errno: failure)
        }
        guard let damage = MapDamage(watching: whole, count: reserve) else {
            munmap(whole, reserve)
            throw FileError(.map, path: path, errno: ENOMEM)
        }
        return MappedRange(whole, count: reserve, damage: damage)
    }

    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        let result = strata_try_lock(descriptor, byte, exclusive ? 1 : 0)
        if result < 0 { throw FileError(.lock, path: path, errno: -result) }
        return result == 0
    }

    func unlock(byte: Int64) throws(FileError) {
        let result = strata_unlock(descriptor, byte)
        if result < 0 { throw FileError(.lock, path: path, errno: -result) }
    }

    func isLocked(byte: Int64) throws(FileError) -> Bool {
        let result = strata_is_locked(descriptor, byte)
        if result < 0 { throw FileError(.lock, path: path, errno: -result) }
        return result == 1
    }

    func mapShared(count: Int) throws(FileError) -> any SharedMemory {
        guard let memory = MappedSharedMemory(descriptor: descriptor, path: path, count: count) else {
            throw FileError(.map, path: path, errno: errno)
        }
        return memory
    }

    func close() {
        if closed.set() {
            #if canImport(Darwin)
                _ = Darwin.close(descriptor)
            #else
                _ = Glibc.close(descriptor)
            #endif
        }
    }
}
