#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Directories and whole files of the harness itself.
package enum FileTree {
    /// Creates the directory, and those above it.
    package static func createDirectory(_ path: String) throws {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw HarnessError("cannot create directory \(path): \(String(cString: strerror(errno)))")
        }
        try createDirectory(String(path[..<slash]))
        if mkdir(path, 0o755) != 0 && errno != EEXIST {
            throw HarnessError("cannot create directory \(path): \(String(cString: strerror(errno)))")
        }
    }
}
