import CStrataShim
import Platform

/// The operating system's files.
package struct POSIXFileSystem: FileSystem {
    package init() {}

    package var isPersistent: Bool { true }
    package var isShared: Bool { strata_has_shared_locks() != 0 }

    package func randomBits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let descriptor = ProcessOrigin.withoutForks { () -> Int32 in
            let descriptor =
                switch mode {
                case .read: strata_open(path, O_RDONLY | O_NOFOLLOW, 0)
                case .readThroughLinks: strata_open(path, O_RDONLY, 0)
                case .write: strata_open(path, O_RDWR | O_NOFOLLOW, 0)
                case .createOrOpen: strata_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o644)
                case .createNew: strata_open(path, O_RDWR | O_CREAT | O_EXCL, 0o644)
                case .createBeside(let original): strata_open_beside(path, original)
                }
            if descriptor < 0 || strata_note_descriptor(descriptor) == 0 { return descriptor }
            close(descriptor)
            return -ENOMEM
        }
        if descriptor < 0 { throw FileError(.open, path: path, errno: -descriptor) }
        if mode == .createNew { strata_keep_places(descriptor) }
        return POSIXFile(descriptor: descriptor, path: path)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        var found = strata_status()
        // `withCString` borrows the text, whereas Swift copies a string that is passed to C: each commit calls this.
        let result = path.withCString { strata_get_status(-1, $0, &found) }
        if result == 0 { return FileStatus(found) }
        if result == -ENOENT || result == -ENOTDIR { return nil }
        throw FileError(.status, path: path, errno: -result)
    }

    package func resolve(_ path: String) throws(FileError) -> String {
        guard let file = try Self.followed(path) else { return path }
        guard let real = realpath(Self.directory(of: file), nil) else { return file }
        defer { free(real) }
        guard let directory = String(validatingCString: real) else {
            throw FileError(.follow, path: path, errno: EILSEQ)
        }
        let name =
            file.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(file[file.utf8.index(after: $0)...]) } ?? file
        return directory == "/" ? "/" + name : directory + "/" + name
    }

    /// Most links that the system follows.
    private static let mostLinks = 40

    /// The target of links at a path, which need not exist; nil for a path without a file name.
    private static func followed(_ path: String) throws(FileError) -> String? {
        var file = path
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
        for links in 0... {
            if ["", ".", ".."].contains(where: { file == $0 || file.hasSuffix("/" + $0) }) { break }
            let count = Int(strata_read_link(file, &buffer, buffer.count))
            if count < 0 { return file }
            if links == mostLinks { throw FileError(.follow, path: path, errno: ELOOP) }
            if count == buffer.count { throw FileError(.follow, path: path, errno: ENAMETOOLONG) }
            guard let target = String(validating: buffer[..<count], as: UTF8.self) else {
                throw FileError(.follow, path: path, errno: EILSEQ)
            }
            file = target.hasPrefix("/") ? target : directory(of: file) + "/" + target
        }
        return nil
    }

    package func remove(_ path: String) throws(FileError) {
        if unlink(path) != 0 { throw FileError(.remove, path: path, errno: errno) }
    }

    package func rename(_ path: String, to destination: String) throws(FileError) {
        let result = Platform.rename(path, destination)
        if result != 0 { throw FileError(.rename, path: destination, errno: errno) }
    }

    package func renameNew(_ path: String, to destination: String) throws(FileError) {
        let result = strata_rename_new(path, destination)
        if result != 0 { throw FileError(.rename, path: destination, errno: -result) }
    }

    package func syncDirectory(of path: String) throws(FileError) {
        let directory = Self.directory(of: path)
        let descriptor = strata_open(directory, O_RDONLY | O_DIRECTORY, 0)
        if descriptor == -EACCES { return try syncAll(of: directory) }
        if descriptor < 0 { throw FileError(.open, path: directory, errno: -descriptor) }
        let failure: Int32 = fsync(descriptor) == 0 ? 0 : errno
        close(descriptor)
        // Some file systems cannot sync a directory and report that; they keep entries in order themselves.
        if failure != 0 && failure != EINVAL { throw FileError(.syncDirectory, path: directory, errno: failure) }
    }

    /// Makes a directory durable that this process may write but not read, and so cannot open for a sync: syncs its
    /// whole file system through the parent directory, or all file systems if it cannot open the parent, or if that is
    /// on another one.
    private func syncAll(of directory: String) throws(FileError) {
        #if canImport(Darwin)
            sync()
        #else
            let descriptor = strata_open(directory + "/..", O_RDONLY | O_DIRECTORY, 0)
            if descriptor < 0 { return sync() }
            defer { close(descriptor) }
            var (mine, parent) = (strata_status(), strata_status())
            let isSame =
                strata_get_status(-1, directory, &mine) == 0 && strata_get_status(descriptor, nil, &parent) == 0
                && mine.device == parent.device
            if !isSame { return sync() }
            let result = strata_sync_file_system(descriptor)
            if result != 0 { throw FileError(.syncDirectory, path: directory, errno: -result) }
        #endif
    }

    package func availableBytes(beside path: String) throws(FileError) -> Int64? {
        let directory = Self.directory(of: path)
        var information = statvfs()
        if statvfs(directory, &information) != 0 { throw FileError(.status, path: directory, errno: errno) }
        let (bytes, isHuge) = UInt64(information.f_bavail).multipliedReportingOverflow(
            by: UInt64(information.f_frsize))
        return isHuge ? .max : Int64(clamping: bytes)
    }

    package func servedKind(of path: String) -> String? {
        strata_served_kind(path).flatMap { String(validatingCString: $0) }
    }

    /// The directory of `path`.
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

/// A descriptor. Its number is set once; a caller must not close it while another thread uses it.
///
/// A forked child has closed the descriptor, and its number may name another file: every call throws EBADF there, and
/// closing has no effect.
final class POSIXFile: File {
    private let number: Int32
    private let origin = ProcessOrigin()
    let path: String
    private let closed = ClosedFlag()
    private let hasLocked = ClosedFlag()

    init(descriptor: Int32, path: String) {
        number = descriptor
        self.path = path
    }

    deinit { close() }

    @inline(__always)
    private func usable(_ operation: FileError.Operation) throws(FileError) -> Int32 {
        if origin.isForked { throw FileError(operation, path: path, errno: EBADF) }
        return number
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let descriptor = try usable(.read)
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
        let descriptor = try usable(.write)
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let count = pwrite(descriptor, base + done, bytes.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError(.write, path: path, errno: count < 0 ? errno : 0) }
            #if Zoo
                if PlantedMistake.shortWriteBelieved.isPlanted { return }
            #endif
            done += count
        }
    }

    func nextData(from offset: Int64) -> Range<Int64>? {
        guard let descriptor = try? usable(.size) else { return offset..<Int64.max }
        let found = strata_next_data(descriptor, offset)
        return found < 0 ? nil : found..<max(found, strata_next_hole(descriptor, found))
    }

    func size() throws(FileError) -> Int64 {
        let descriptor = try usable(.size)
        // `lseek` takes a third of the time of `fstat`. No call uses the position that it sets.
        let end = lseek(descriptor, 0, SEEK_END)
        if end >= 0 { return Int64(end) }
        var found = strata_status()
        let result = strata_get_status(descriptor, nil, &found)
        if result != 0 { throw FileError(.size, path: path, errno: -result) }
        return found.size
    }

    func truncate(to size: Int64) throws(FileError) {
        let descriptor = try usable(.truncate)
        try checkLimit(size, .truncate)
        while ftruncate(descriptor, off_t(size)) != 0 {
            if errno == EINTR { continue }
            throw FileError(.truncate, path: path, errno: errno)
        }
    }

    func preallocate(to size: Int64) throws(FileError) {
        let descriptor = try usable(.preallocate)
        #if canImport(Darwin)
            if try self.size() < size { try truncate(to: size) }
        #else
            // Skips the existing part: on file systems without extents the C library would read each of its blocks.
            let old = try self.size()
            if size <= old { return }
            try checkLimit(size, .preallocate)
            while true {
                let failure = posix_fallocate(descriptor, off_t(old), off_t(size - old))
                if failure == 0 { return }
                if failure != EINTR { throw FileError(.preallocate, path: path, errno: failure) }
            }
        #endif
    }

    /// Checks the process's limit (`ulimit -f`): growing a file beyond it would end the process by a signal.
    private func checkLimit(_ size: Int64, _ operation: FileError.Operation) throws(FileError) {
        var limit = rlimit()
        #if canImport(Darwin)
            let result = getrlimit(RLIMIT_FSIZE, &limit)
        #else
            let result = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #endif
        if result == 0, limit.rlim_cur < UInt64(max(size, 0)), try self.size() < size {
            throw FileError(operation, path: path, errno: EFBIG)
        }
    }

    func syncData() throws(FileError) {
        let descriptor = try usable(.sync)
        #if canImport(Darwin)
            let result = fcntl(descriptor, F_FULLFSYNC)
        #else
            let result = fdatasync(descriptor)
        #endif
        if result != 0 { throw FileError(.sync, path: path, errno: errno) }
    }

    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        let descriptor = try usable(.writeBack)
        let result = strata_write_back(descriptor, offset, count)
        // Not every file system supports the call, and no durability depends on it.
        if result != 0 && result != -ENOSYS && result != -ESPIPE && result != -EINVAL {
            throw FileError(.writeBack, path: path, errno: -result)
        }
    }

    func status() throws(FileError) -> FileStatus {
        let descriptor = try usable(.status)
        var found = strata_status()
        let result = strata_get_status(descriptor, nil, &found)
        if result != 0 { throw FileError(.status, path: path, errno: -result) }
        return FileStatus(found)
    }

    func map(reserve: Int) throws(FileError) -> any FileMap {
        let descriptor = try usable(.map)
        let size = Int(try self.size())
        var failure = ENOMEM
        for count in AddressSpace.attempts(reserve, atLeast: size) {
            let wish = AddressSpace.place(for: max(reserve, count))
            let mapped = ProcessOrigin.withoutForks { () -> (UnsafeMutableRawPointer, MapDamage)? in
                guard let base = mmap(wish, count, PROT_READ, MAP_SHARED, descriptor, 0), base != MAP_FAILED else {
                    failure = errno
                    return nil
                }
                return Self.watched(base, count).map { (base, $0) }
            }
            if let (base, damage) = mapped { return MappedRange(base, count: count, damage: damage, adding: .same) }
            if failure != ENOMEM { break }
        }
        throw FileError(.map, path: path, errno: failure)
    }

    func mapPrivately(reserve: Int) throws(FileError) -> MappedRange {
        let descriptor = try usable(.map)
        let size = Int(try self.size())
        guard let (whole, count) = MappedRange.reserve(growing: max(reserve, size), atLeast: size) else {
            throw FileError(.map, path: path, errno: ENOMEM)
        }
        var failure = ENOMEM
        let damage = ProcessOrigin.withoutForks { () -> MapDamage? in
            // Maps the file's contents over the beginning of anonymous memory.
            let flags = MAP_PRIVATE | MAP_FIXED
            if size > 0, mmap(whole, size, PROT_READ | PROT_WRITE, flags, descriptor, 0) == MAP_FAILED {
                failure = errno
                munmap(whole, count)
                return nil
            }
            return Self.watched(whole, count)
        }
        guard let damage else { throw FileError(.map, path: path, errno: failure) }
        return MappedRange(whole, count: count, damage: damage, adding: .zeros)
    }

    /// Watches a new mapping, or unmaps it if memory is missing. Must not use the heap, because forks are blocked.
    private static func watched(_ base: UnsafeMutableRawPointer, _ count: Int) -> MapDamage? {
        guard let damage = MapDamage(watching: base, count: count) else {
            munmap(base, count)
            return nil
        }
        return damage
    }

    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        let descriptor = try usable(.lock)
        let result = strata_try_lock(descriptor, byte, exclusive ? 1 : 0)
        if result == 0 { _ = hasLocked.set() }
        if result < 0 { throw FileError(.lock, path: path, errno: -result) }
        return result == 0
    }

    func unlock(byte: Int64) throws(FileError) {
        let descriptor = try usable(.lock)
        let result = strata_unlock(descriptor, byte)
        if result < 0 { throw FileError(.lock, path: path, errno: -result) }
    }

    func isLocked(byte: Int64) throws(FileError) -> Bool {
        let descriptor = try usable(.lock)
        let result = strata_is_locked(descriptor, byte)
        if result < 0 { throw FileError(.lock, path: path, errno: -result) }
        return result == 1
    }

    func lockHolders(byte: Int64) -> [Int32] {
        if origin.isForked { return [] }
        return [Int32](unsafeUninitializedCapacity: 8) { buffer, count in
            count = strata_lock_holders(number, byte, buffer.baseAddress, buffer.count)
        }
    }

    func mapShared(count: Int) throws(FileError) -> any SharedMemory {
        let descriptor = try usable(.map)
        guard let memory = MappedSharedMemory(descriptor: descriptor, count: count) else {
            throw FileError(.map, path: path, errno: errno)
        }
        return memory
    }

    /// Releases the locks before it closes the descriptor. Locks belong to the open file description, which a mapping
    /// of the file keeps alive, and so does the copy in a process that another thread is just starting.
    func close() {
        if closed.set() {
            if origin.isForked { return }
            if hasLocked.isSet { _ = strata_unlock_all(number) }
            ProcessOrigin.withoutForks {
                strata_forget_descriptor(number)
                _ = Platform.close(number)
            }
        }
    }
}
