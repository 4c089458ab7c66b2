/// Folders of one name have one meaning, in whatever room they stand: a reader who knows one of them knows the others.
enum FolderNames {
    /// The names that several folders of the sources have, each with what all of them are about.
    static let shared: [String: String] = [
        "Archive": "finished runs that are kept: their records, and reports about them",
        "Cases": "one case of a run: its record, its course, and the commands about it",
        "Charts": "drawings of figures: the drawing itself, and the section of a page that shows it",
        "Collections": "lists, sets and maps: the objects of a program, and the trees that store them",
        "Comparing": "two runs, two builds or two stores side by side",
        "Concurrency": "a family of scenarios",
        "Damage": "wrong bytes in files: trials that write them, and what a check found of them",
        "Figures": "what was measured: its records, the values that a report shows, and the sections that show them",
        "Gate": "counts of a run beside those of a baseline: the decision, and reports about it",
        "Growth": "a family of scenarios",
        "Migration": "from one schema or store to the next: the library's part, and a family of scenarios",
        "Opening": "from a closed database to the first read: the engine's part, and scenarios that time it",
        "Queries": "conditions on rows: the library's part, and a family of scenarios",
        "Runs": "a directory of cases: its record, and how it comes about",
        "Stores": "one adapter for each kind of store that a migration reads or writes",
        "Workload": "a family of scenarios",
        "Writing": "changes from the call to the commit: the engine's part, and scenarios that time it",
    ]

    /// The names that several folders have and that `shared` lacks. A target counts as a folder.
    static func violations(in paths: [String]) -> [Violation] {
        var folders: [Substring: Set<Substring>] = [:]
        for path in paths where path.hasPrefix("Sources/") || path.hasPrefix("Benchmarks/") {
            guard !path.hasPrefix("Benchmarks/Controls/") else { continue }
            let parts = path.split(separator: "/").dropLast()
            for part in parts.dropFirst() { folders[part, default: []].insert(path[..<part.endIndex]) }
        }
        return folders.filter { $0.value.count > 1 && shared[String($0.key)] == nil }.sorted { $0.key < $1.key }.map {
            Violation(
                path: $0.value.sorted().joined(separator: ", "),
                rule: "folders of one name mean one thing: rename one, or say in FolderNames what both are about")
        }
    }
}
