#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The files that this process has open.
///
/// A lock of POSIX belongs to a process: no question about a file's locks tells of the asker's own, and closing any
/// descriptor of a file gives up all of them. A library that reads a file beside another one has to know that first.
enum OwnDescriptors {
    /// Whether a descriptor of this process leads to the file of a path. False where there is no such file, or where
    /// the system does not list descriptors.
    static func hold(_ path: String) -> Bool {
        var wanted = stat()
        guard stat(path, &wanted) == 0, let list = opendir("/dev/fd") else { return false }
        defer { closedir(list) }
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let descriptor = Int32(name) else { continue }
            var found = stat()
            if fstat(descriptor, &found) == 0, found.st_dev == wanted.st_dev, found.st_ino == wanted.st_ino {
                return true
            }
        }
        return false
    }
}
