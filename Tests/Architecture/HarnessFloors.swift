extension Floors {
    static let runRecords = Floors(
        room: "Sources/RunRecords/",
        folders: [
            // Figures, and tables of rows, without the case that they belong to.
            "Measurements", "DatasetTables",
            // One case; a run, which is a directory of cases; what follows from the figures of a run.
            "Cases", "Runs", "Figures",
            // Several runs: a baseline and its gate, two runs side by side, shards, the archive.
            "Gate", "Comparing", "Merging", "Archive",
        ],
        exceptions: [:])

    static let harness = Floors(
        room: "Sources/Harness/",
        folders: [
            // What the self-test plants; the operating system, without a word about cases.
            "Mistakes", "System",
            // What an engine is; when requests arrive; what a scenario is, and what it gets and reports.
            "Engines", "Load", "Cases",
            // Which cases a run has; which content is right.
            "Plans", "Oracles",
            // A case in a process of its own; builds of revisions; a run of many cases.
            "Workers", "Revisions", "Runs",
            // What a user asks of runs: two builds, a profile, the self-test.
            "Comparing", "Profiles", "SelfTest",
        ],
        exceptions: [:])

    static let reporting = Floors(
        room: "Sources/Reporting/",
        folders: [
            // Numbers, tables and markup as text; a run, worked out once.
            "Text", "Digest",
            // What is shown, before it has a form: figures, the words for them, drawings.
            "Figures", "Words", "Charts",
            // The forms.
            "Terminal", "HTML", "CSV", "Exports", "Archive", "Gate",
        ],
        exceptions: [:])

    static let programTrials = Floors(
        room: "Sources/ProgramTrials/",
        folders: [
            // Starting a program and watching it end; running trials in lanes; recording a program's calls.
            "Programs", "Trials", "Recording",
            // What is done to its files or calls: the power fails, bytes change, a call fails.
            "PowerFailure", "Damage", "Failing",
        ],
        exceptions: [:])

    /// The files in the room's own folder register the scenarios, and stand above all of them.
    static let scenarios = Floors(
        room: "Benchmarks/Scenarios/",
        folders: [
            // What scenarios of several families have in common: databases that are opened, loaded and copied; metrics
            // and tallies; rows and the content that they must lead to; processes and threads that work on a database.
            "Databases", "Findings", "Content", "Actors",
            // The families of scenarios, and Keyed, the load of YCSB.
            "Queries", "Migration", "Keyed", "Concurrency", "Crash", "Growth", "Corruption", "Workload", "",
        ],
        exceptions: [:])
}
