import Files
import Harness
import Platform

/// Which rare branches of the engines the processes of a campaign took. A branch that no process took was not tested.
///
/// Only builds with the trait Zoo mark branches. Every process that is started after `init` marks its branches in one
/// shared file, which an environment variable names.
struct BranchCoverage {
    private static let variable = "ASSAY_COVERAGE_MARKS"

    private let path: String
    private let branches: [String]

    /// nil if no engine of the campaign marks branches. Throws: `FileTreeError`.
    ///
    /// - Parameter directory: the directory of the shared file.
    init?(_ engines: some Sequence<any Engine>, in directory: String) throws {
        let branches = Set(engines.flatMap(\.rareBranches))
        guard !branches.isEmpty, let directory = FileTree.absolute(directory) else { return nil }
        self.branches = branches.sorted()
        path = directory + "/rare-branches"
        if !FileTree.exists(path) { try FileTree.writeBytes(path, []) }
        setenv(Self.variable, path, 1)
    }

    /// The branches that a process took, and those that no process took, as text.
    func words() throws -> String {
        Self.words(branches, taken: Set(try FileTree.readText(path).split(separator: "\n").map(String.init)))
    }

    static func words(_ branches: [String], taken: Set<String>) -> String {
        let missed = branches.filter { !taken.contains($0) }
        let count = "\(branches.count - missed.count) of \(branches.count) rarely taken branches were taken"
        return missed.isEmpty ? count : "\(count); never: \(missed.joined(separator: ", "))"
    }
}
