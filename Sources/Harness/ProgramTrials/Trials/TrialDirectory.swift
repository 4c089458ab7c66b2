import Files
import Harness
import Platform

/// A directory. The release of this object removes the directory with its contents.
package final class TrialDirectory: Sendable {
    /// Absolute and without links, in the kernel's form.
    package let path: String

    /// - Parameter parent: the enclosing directory; nil: the system's directory for temporary files.
    package init(in parent: String? = nil) throws {
        let base = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
        var template = Array((base + "/assay-trial-" + String(repeating: "X", count: 6)).utf8CString)
        guard mkdtemp(&template) != nil else {
            throw HarnessError("cannot make a directory in \(base): \(systemMessage()); TMPDIR names another place")
        }
        let made = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = FileTree.absolute(made) ?? made
    }

    deinit { try? FileTree.remove(path) }
}
