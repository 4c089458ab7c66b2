import Platform

/// A file operation of the harness itself that failed.
package struct FileTreeError: Error, CustomStringConvertible {
    package var operation: String
    package var path: String
    package var code: Int32

    /// Reads the reason from errno: the caller makes the error before any other call.
    package init(_ operation: String, _ path: String) {
        self.operation = operation
        self.path = path
        self.code = errno
    }

    package init(_ operation: String, _ path: BytePath) {
        let code = errno
        self.init(operation, path.text)
        self.code = code
    }

    package var description: String {
        "cannot \(operation) \(path): \(String(cString: strerror(code)))"
    }
}

/// Operations on directories and whole files for the harness: fixtures, run directories, damaged copies. Storage
/// engines do not use them: their own file operations are what is tested.
package enum FileTree {
    /// Creates the directory, with missing parents.
    package static func createDirectory(_ path: String) throws(FileTreeError) { try createDirectory(BytePath(path)) }

    package static func createDirectory(_ path: BytePath) throws(FileTreeError) {
        if path.with({ mkdir($0, 0o755) }) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0 else {
            throw FileTreeError("create directory", path)
        }
        try createDirectory(BytePath(Array(path.bytes[..<slash])))
        if path.with({ mkdir($0, 0o755) }) != 0 && errno != EEXIST { throw FileTreeError("create directory", path) }
    }

    package static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    package enum Kind: Sendable {
        case file, directory, link, other
    }

    /// The kind of entry at a path, without following a link; nil if there is none.
    package static func kind(_ path: String) -> Kind? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .directory
        case S_IFLNK: return .link
        default: return .other
        }
    }

    /// The absolute path without symbolic links; nil if it does not exist.
    package static func absolute(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    package static func size(_ path: String) throws(FileTreeError) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileTreeError("look at", path) }
        return Int(status.st_size)
    }

    /// The modification time of the file, in nanoseconds since 1970.
    package static func changeTime(_ path: String) throws(FileTreeError) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileTreeError("look at", path) }
        #if canImport(Glibc)
            return Int(status.st_mtim.tv_sec) * 1_000_000_000 + Int(status.st_mtim.tv_nsec)
        #else
            return Int(status.st_mtimespec.tv_sec) * 1_000_000_000 + Int(status.st_mtimespec.tv_nsec)
        #endif
    }

    /// The size of a file; 0 if there is none.
    package static func fileBytes(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
    }

    /// Names in a directory, ascending, without `.` and `..`.
    package static func names(in path: String) throws(FileTreeError) -> [String] {
        try names(in: BytePath(path)).map { String(decoding: $0.bytes, as: UTF8.self) }.sorted()
    }

    /// The names as bytes, in bytewise order.
    package static func names(in path: BytePath) throws(FileTreeError) -> [BytePath] {
        guard let directory = path.with({ opendir($0) }) else { throw FileTreeError("list", path) }
        defer { closedir(directory) }
        var names: [BytePath] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: UInt8.self, capacity: Int(NAME_MAX) + 1) { start in
                    Array(UnsafeBufferPointer(start: start, count: Int(NAME_MAX) + 1).prefix { $0 != 0 })
                }
            }
            if name != Array(".".utf8) && name != Array("..".utf8) { names.append(BytePath(name)) }
        }
        return names.sorted()
    }

    /// The sum of the sizes of all files below a directory. Symbolic links are not followed.
    package static func totalSize(_ path: String) throws(FileTreeError) -> Int {
        try totalSize(BytePath(path))
    }

    private static func totalSize(_ path: BytePath) throws(FileTreeError) -> Int {
        var total = 0
        for name in try names(in: path) {
            let child = path.appending(name)
            let status = try status(child)
            switch status.st_mode & S_IFMT {
            case S_IFDIR: total += try totalSize(child)
            case S_IFREG: total += Int(status.st_size)
            default: break
            }
        }
        return total
    }

    /// The status of the entry at a path, without following a link.
    package static func status(_ path: BytePath) throws(FileTreeError) -> stat {
        var status = stat()
        guard path.with({ lstat($0, &status) }) == 0 else { throw FileTreeError("look at", path) }
        return status
    }

    /// Removes a file, or a directory with everything below it. A path that does not exist is no error.
    ///
    /// Changes the permissions of a directory if they prevent the removal.
    package static func remove(_ path: String) throws(FileTreeError) { try remove(BytePath(path)) }

    package static func remove(_ path: BytePath) throws(FileTreeError) {
        var status = stat()
        guard path.with({ lstat($0, &status) }) == 0 else {
            if errno == ENOENT { return }
            throw FileTreeError("look at", path)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            if path.with({ unlink($0) }) != 0 && errno != ENOENT { throw FileTreeError("remove", path) }
            return
        }
        let all = mode_t(0o700)
        if status.st_mode & all != all { _ = path.with { chmod($0, all) } }
        for name in try names(in: path) { try remove(path.appending(name)) }
        if path.with({ rmdir($0) }) != 0 { throw FileTreeError("remove directory", path) }
    }

    package static func readBytes(_ path: String) throws(FileTreeError) -> [UInt8] { try readBytes(BytePath(path)) }

    package static func readBytes(_ path: BytePath) throws(FileTreeError) -> [UInt8] {
        let descriptor = path.with { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw FileTreeError("open", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FileTreeError("read", path) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// The first bytes of a file, fewer if the file is shorter; nil if it cannot be read.
    package static func head(of path: String, bytes count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = read(descriptor, &bytes, count)
        return got < 0 ? nil : Array(bytes.prefix(got))
    }

    package static func readText(_ path: String) throws(FileTreeError) -> String {
        String(decoding: try readBytes(path), as: UTF8.self)
    }

    /// Replaces the contents of a file in place. It does not sync: for files that a crash may lose.
    package static func writeBytes(_ path: String, _ bytes: some Collection<UInt8>) throws(FileTreeError) {
        try write(path, Array(bytes), flags: O_TRUNC)
    }

    package static func writeText(_ path: String, _ text: String) throws(FileTreeError) {
        try write(path, Array(text.utf8), flags: O_TRUNC)
    }

    /// Creates a new file with exactly these permissions. It does not sync.
    package static func make(_ path: BytePath, _ bytes: [UInt8], mode: UInt32) throws(FileTreeError) {
        let permissions = mode_t(truncatingIfNeeded: mode & 0o7777)
        let descriptor = path.with { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions) }
        guard descriptor >= 0 else { throw FileTreeError("open for writing", path) }
        defer { close(descriptor) }
        try writeAll(descriptor, bytes, path: path.text)
        if permissions & maskedBits == 0 { return }
        guard fchmod(descriptor, permissions) == 0 else { throw FileTreeError("set the permissions of", path) }
    }

    package static func setMode(_ mode: UInt32, of path: BytePath) throws(FileTreeError) {
        let permissions = mode_t(truncatingIfNeeded: mode & 0o7777)
        guard path.with({ chmod($0, permissions) }) == 0 else { throw FileTreeError("set the permissions of", path) }
    }

    /// Gives a file a further name, a hard link.
    package static func addName(_ name: BytePath, to path: BytePath) throws(FileTreeError) {
        guard path.with({ one in name.with { link(one, $0) } }) == 0 else { throw FileTreeError("link", name) }
    }

    /// The permission bits that a new file of this process may lack: those of the umask, and the special ones. All bits
    /// if the system does not tell the umask.
    package static let maskedBits: mode_t = {
        let lines = ((try? readText("/proc/self/status")) ?? "").split(separator: "\n")
        let mask = lines.first { $0.hasPrefix("Umask:") }.flatMap { line in
            line.split(whereSeparator: \.isWhitespace).last.flatMap { mode_t($0, radix: 8) }
        }
        return mask.map { $0 | 0o7000 } ?? 0o7777
    }()

    /// Writes a new file and renames it over the old one: a reader sees the old contents or the new ones.
    package static func replaceText(_ path: String, _ text: String) throws(FileTreeError) {
        let temporary = path + ".new"
        try write(temporary, Array(text.utf8), flags: O_TRUNC | O_NOFOLLOW)
        if rename(temporary, path) != 0 { throw FileTreeError("rename to", path) }
    }

    /// Appends all bytes by one write, so that a line is complete or missing, unless the disk is full.
    package static func append(_ path: String, _ bytes: [UInt8]) throws(FileTreeError) {
        try write(path, bytes, flags: O_APPEND)
    }

    private static func write(_ path: String, _ bytes: [UInt8], flags: Int32) throws(FileTreeError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o644)
        guard descriptor >= 0 else { throw FileTreeError("open for writing", path) }
        defer { close(descriptor) }
        try writeAll(descriptor, bytes, path: path)
    }

    /// Writes all bytes, in as many calls as needed.
    package static func writeAll(_ descriptor: Int32, _ bytes: [UInt8], path: String) throws(FileTreeError) {
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Platform.write(descriptor, buffer.baseAddress?.advanced(by: offset), bytes.count - offset)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw FileTreeError("write", path) }
            offset += written
        }
    }

    /// Truncates a file to a length.
    package static func truncate(_ path: String, to length: Int) throws(FileTreeError) {
        let result = Platform.truncate(path, off_t(length))
        if result != 0 { throw FileTreeError("cut", path) }
    }
}
