import Platform

extension FileTree {
    /// Copies a file, or a directory with everything below it, to a path that does not exist, with permissions.
    ///
    /// A file shares its blocks with the original if the file system can do that (FICLONE). Otherwise the kernel copies
    /// it (copy_file_range), or else this process does. A symbolic link becomes a link with the same text, and a FIFO
    /// or a socket becomes a new one. A file with several names below the directory is one file with these names in the
    /// copy.
    ///
    /// - Parameter constant: patterns of `*` and `?` for the names of files that become hard links to the original.
    ///   Only for files that are never changed.
    /// Throws: also for a device.
    package static func copy(
        from source: String, to target: String, linking constant: [String] = []
    ) throws(FileTreeError) {
        var status = stat()
        guard stat(source, &status) == 0 else { throw FileTreeError("open", source) }
        if status.st_mode & S_IFMT == S_IFDIR, let slash = target.utf8.lastIndex(of: UInt8(ascii: "/")),
            slash != target.startIndex
        {
            try createDirectory(String(target[..<slash]))
        }
        var copies: [FileIdentity: BytePath] = [:]
        try copy(status, from: BytePath(source), to: BytePath(target), linking: constant, &copies)
    }

    /// - Parameter copies: the first copy of each file that has several names.
    private static func copy(
        _ status: stat, from source: BytePath, to target: BytePath, linking constant: [String],
        _ copies: inout [FileIdentity: BytePath]
    ) throws(FileTreeError) {
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            // The new directory is writable for its owner until its contents are complete; then it gets the original's
            // permissions.
            let isMade = target.with { mkdir($0, 0o700) } == 0
            guard isMade || errno == EEXIST else { throw FileTreeError("create directory", target) }
            for name in try names(in: source) {
                let child = source.appending(name)
                try copy(try Self.status(child), from: child, to: target.appending(name), linking: constant, &copies)
            }
            if isMade { try setMode(UInt32(status.st_mode), of: target) }
        case S_IFREG:
            let isConstant = constant.contains { pattern in source.name.with { fnmatch(pattern, $0, 0) } == 0 }
            // A link fails on another file system, or one without hard links: the file is then copied like the others.
            if isConstant && source.with({ one in target.with { link(one, $0) } }) == 0 { return }
            if status.st_nlink > 1, let first = copies.updateValue(target, forKey: FileIdentity(status)) {
                copies[FileIdentity(status)] = first
                return try addName(target, to: first)
            }
            try copyFile(from: source, to: target, mode: status.st_mode)
        default:
            try FileNode(status, at: source).make(at: target)
        }
    }

    private static func copyFile(from source: BytePath, to target: BytePath, mode: mode_t) throws(FileTreeError) {
        let input = source.with { open($0, O_RDONLY | O_CLOEXEC) }
        guard input >= 0 else { throw FileTreeError("open", source) }
        defer { close(input) }
        let output = target.with { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
        guard output >= 0 else { throw FileTreeError("open for writing", target) }
        defer { close(output) }
        try copyBytes(input, output, source: source, target: target)
        // After the bytes, since a write clears some permission bits.
        guard fchmod(output, mode & 0o7777) == 0 else { throw FileTreeError("set the permissions of", target) }
    }

    private static func copyBytes(
        _ input: Int32, _ output: Int32, source: BytePath, target: BytePath
    ) throws(FileTreeError) {
        #if canImport(Glibc)
            // FICLONE is a macro that Swift does not import: _IOW(0x94, 9, int).
            let shareBlocks: UInt = 0x4004_9409
            if ioctl(output, shareBlocks, input) == 0 { return }
        #endif
        if try copyByKernel(input, output, path: target) { return }
        try copyByBuffer(input, output, source: source, target: target)
    }

    /// Returns false, and has copied nothing, if the kernel cannot copy between these files.
    private static func copyByKernel(
        _ input: Int32, _ output: Int32, path: BytePath
    ) throws(FileTreeError) -> Bool {
        var copied = 0
        while true {
            let count = KernelCalls.copyFileRange(input, output, count: 1 << 30)
            if count == 0 { return true }
            if count > 0 {
                copied += count
                continue
            }
            if errno == EINTR { continue }
            if copied == 0 && [EXDEV, ENOSYS, EINVAL, EOPNOTSUPP].contains(errno) { return false }
            throw FileTreeError("copy to", path)
        }
    }

    private static func copyByBuffer(
        _ input: Int32, _ output: Int32, source: BytePath, target: BytePath
    ) throws(FileTreeError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FileTreeError("read", source) }
            if count == 0 { return }
            try writeAll(output, Array(buffer[..<count]), path: target.text)
        }
    }
}

extension FileTree {
    /// Syncs a file, or all files below a directory.
    package static func sync(_ path: String) throws(FileTreeError) {
        try sync(BytePath(path), isDirectory: isDirectory(path))
    }

    private static func sync(_ path: BytePath, isDirectory: Bool) throws(FileTreeError) {
        if isDirectory {
            for name in try names(in: path) {
                let child = path.appending(name)
                let kind = try status(child).st_mode & S_IFMT
                // Entries of other kinds have a name and no contents: the sync of their directory suffices.
                if kind == S_IFDIR || kind == S_IFREG { try sync(child, isDirectory: kind == S_IFDIR) }
            }
        }
        let descriptor = path.with { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw FileTreeError("open", path) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw FileTreeError("sync", path) }
    }

    /// Syncs the directory of a file, and with it the names in the directory.
    package static func syncDirectory(of path: String) throws(FileTreeError) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = open(directory.isEmpty ? "/" : directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileTreeError("open", directory) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw FileTreeError("sync", directory) }
    }
}
