import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Which of the branches that engines seldom take some process of a campaign took: what none of them did, nothing was
/// tried of.
///
/// Branches are noted in builds with the trait Zoo alone. All processes that are started after this was made note
/// theirs in one file, by its name in their environment.
struct BranchCoverage {
    private static let variable = "ASSAY_COVERAGE_MARKS"

    private let path: String
    private let branches: [String]

    /// - Parameter directory: where the file is kept. nil where no engine of the campaign notes any.
    /// Throws: `FileTreeError`.
    init?(_ engines: some Sequence<any Engine>, in directory: String) throws {
        let branches = Set(engines.flatMap(\.rareBranches))
        guard !branches.isEmpty, let directory = FileTree.absolute(directory) else { return nil }
        self.branches = branches.sorted()
        path = directory + "/rare-branches"
        if !FileTree.exists(path) { try FileTree.writeBytes(path, []) }
        setenv(Self.variable, path, 1)
    }

    /// What was taken and what was not, for people.
    func words() throws -> String {
        Self.words(branches, taken: Set(try FileTree.readText(path).split(separator: "\n").map(String.init)))
    }

    static func words(_ branches: [String], taken: Set<String>) -> String {
        let missed = branches.filter { !taken.contains($0) }
        let count = "\(branches.count - missed.count) of \(branches.count) rarely taken branches were taken"
        return missed.isEmpty ? count : "\(count); never: \(missed.joined(separator: ", "))"
    }
}
