#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension FileTree {
    /// Copies a file, or a directory with all below it, to a path where nothing is.
    ///
    /// A file shares its blocks with the original where the file system can (FICLONE), else the kernel copies it
    /// (copy_file_range), else it goes through a buffer.
    ///
    /// - Parameter constant: patterns of `*` and `?` for names of files that become further links to the original: only
    ///   for files that nobody ever changes.
    package static func copy(
        from source: String, to target: String, linking constant: [String] = []
    ) throws(FileTreeError) {
        guard isDirectory(source) else {
            let name = source.split(separator: "/").last.map(String.init) ?? source
            let isConstant = constant.contains { fnmatch($0, name, 0) == 0 }
            // Another file system, or one without links: then it is copied like the others.
            if isConstant && link(source, target) == 0 { return }
            try copyFile(from: source, to: target)
            return
        }
        try createDirectory(target)
        for name in try names(in: source) {
            try copy(from: source + "/" + name, to: target + "/" + name, linking: constant)
        }
    }

    private static func copyFile(from source: String, to target: String) throws(FileTreeError) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw FileTreeError("open", source) }
        defer { close(input) }
        let output = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard output >= 0 else { throw FileTreeError("open for writing", target) }
        defer { close(output) }
        #if canImport(Glibc)
            // FICLONE is a macro that Swift does not import: _IOW(0x94, 9, int).
            let shareBlocks: UInt = 0x4004_9409
            if ioctl(output, shareBlocks, input) == 0 { return }
            if try copyByKernel(input, output, path: target) { return }
        #endif
        try copyByBuffer(input, output, source: source, target: target)
    }

    #if canImport(Glibc)
        /// False when the kernel cannot copy between these files; then nothing was copied.
        private static func copyByKernel(_ input: Int32, _ output: Int32, path: String) throws(FileTreeError) -> Bool {
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
    #endif

    private static func copyByBuffer(
        _ input: Int32, _ output: Int32, source: String, target: String
    ) throws(FileTreeError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FileTreeError("read", source) }
            if count == 0 { return }
            try writeAll(output, Array(buffer[..<count]), path: target)
        }
    }
}

extension FileTree {
    /// Brings a file, or all files below a directory, to the disk.
    package static func sync(_ path: String) throws(FileTreeError) {
        if isDirectory(path) {
            for name in try names(in: path) { try sync(path + "/" + name) }
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileTreeError("open", path) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw FileTreeError("sync", path) }
    }

    /// Brings the names in the directory of a file to the disk.
    package static func syncDirectory(of path: String) throws(FileTreeError) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let descriptor = open(directory.isEmpty ? "/" : directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileTreeError("open", directory) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw FileTreeError("sync", directory) }
    }
}
