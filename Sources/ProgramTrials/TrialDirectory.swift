import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory that goes with the object, with all that is in it.
package final class TrialDirectory: Sendable {
    /// Absolute, without links in it: as the kernel names what is below.
    package let path: String

    /// - Parameter parent: where it is made; nil: where the system keeps what is temporary.
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
