import Platform
import StrataFiles

/// A directory that is deleted with the object, together with its files.
final class TemporaryDirectory {
    let path: String

    /// - Parameter base: the parent directory; nil for the one of temporary files.
    init(in base: String? = nil) throws {
        let base = base ?? getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
        var template = Array((base + "/strata-test-" + String(repeating: "X", count: 6)).utf8CString)
        guard let made = mkdtemp(&template) else { throw FileError(.open, path: base, errno: errno) }
        path = String(cString: made)
    }

    deinit { Self.remove(path) }

    /// Follows no symbolic link.
    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for name in names(in: path) { remove(path + "/" + name) }
        rmdir(path)
    }

    /// Its files, in order.
    func names() -> [String] { Self.names(in: path) }

    private static func names(in path: String) -> [String] {
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
