import Files
import Harness

/// Sums over the trials of a sweep, which run in processes of their own.
struct DoubleWriteTally {
    private let prefix: String

    init(_ context: CaseContext) { prefix = context.directory + "/double-write-" }

    /// May be called in any process of the case.
    func add(_ what: String, _ count: Int) throws {
        if count > 0 { try FileTree.append(prefix + what, [UInt8](repeating: 1, count: count)) }
    }

    func count(_ what: String) throws -> Int {
        FileTree.exists(prefix + what) ? try FileTree.size(prefix + what) : 0
    }
}
