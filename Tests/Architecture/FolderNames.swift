/// The rule refuses two folders of one name in the sources, unless ``shared`` states the purpose that all folders of
/// the name have. It also refuses a name in ``shared`` that fewer than two folders have.
enum FolderNames {
    /// The names that several folders of the sources have, each with the purpose that all of these folders have.
    static let shared: [String: String] = [
        "Archive": "finished runs in an archive: their records, and reports about them",
        "Cases": "one case of a run: its record, the code that runs it, and the commands that show it",
        "Charts": "drawings of figures: the drawing, and the section of a page that contains it",
        "Collections": "lists, sets and maps: the objects of a program, and the trees that store them",
        "Comparing": "comparisons of two runs, two builds or two stores",
        "Concurrency": "a family of scenarios",
        "Doubling": "writes of two stores at once: the library's part, and what scenarios of it share",
        "Figures": "measured figures: their records, the values in a report, and the sections of pages for them",
        "Gate": "comparison of a run's counts with those of a baseline: the decision, and reports about it",
        "Growth": "a family of scenarios",
        "Harness": "the harness: all of its rooms, and the room with what the others of them share",
        "Migration": "change from one schema or store to the next: the library's part, and a family of scenarios",
        "Opening": "opening a database, up to the first read: the engine's part, and scenarios that time it",
        "Queries": "conditions on rows: the library's part, and a family of scenarios",
        "Runs": "a directory of cases: its record, and the code that writes it",
        "Stores": "the stores that a migration reads or writes: adapters to them, their files, and stores of scenarios",
        "Workload": "a family of scenarios",
        "Writing": "changes of stored data: the parts of Strata that make or store them, and scenarios that time them",
    ]

    /// - Parameter shared: ``shared``, or what a test has in its place.
    /// - Returns: a violation for each name that several folders have and `shared` lacks, and for each name of `shared`
    ///   that fewer than two folders have. A target counts as a folder, and a part of Sources as well.
    static func violations(in paths: [String], shared: [String: String] = Self.shared) -> [Violation] {
        var folders: [String: Set<String>] = [:]
        for path in paths where path.hasPrefix("Sources/") || path.hasPrefix("Benchmarks/") {
            guard !path.hasPrefix("Benchmarks/Controls/") else { continue }
            let parts = path.split(separator: "/").dropLast()
            for part in parts.dropFirst() { folders[String(part), default: []].insert(String(path[..<part.endIndex])) }
        }
        let unstated = folders.filter { $0.value.count > 1 && shared[$0.key] == nil }.sorted { $0.key < $1.key }.map {
            Violation(
                path: $0.value.sorted().joined(separator: ", "),
                rule: "several folders have this name: rename one, or state their common purpose in FolderNames")
        }
        let unused = shared.keys.filter { folders[$0, default: []].count < 2 }.sorted().map {
            Violation(path: $0, rule: "fewer than two folders have this name: remove it from FolderNames")
        }
        return unstated + unused
    }
}
