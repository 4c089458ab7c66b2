import StrataFiles

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A directory that goes with the object, with the files in it.
final class TemporaryDirectory {
    let path: String

    /// - Parameter base: where it is made; nil for where temporary files are.
    init(in base: String? = nil) throws {
        let base = base ?? getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
        var template = Array((base + "/strata-test-" + String(repeating: "X", count: 6)).utf8CString)
        guard let made = mkdtemp(&template) else { throw FileError(.open, path: base, errno: errno) }
        path = String(cString: made)
    }

    deinit {
        for name in names() { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// Its files, in order.
    func names() -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
