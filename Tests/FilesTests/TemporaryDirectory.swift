import Files
import Platform

/// A directory that the object creates, and removes when it is released.
package final class TemporaryDirectory {
    package let path: String

    package init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
        var template = Array((base + "/assay-test-" + String(repeating: "X", count: 6)).utf8CString)
        guard mkdtemp(&template) != nil else { throw FileTreeError("create directory", base) }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileTree.remove(path)
    }
}
