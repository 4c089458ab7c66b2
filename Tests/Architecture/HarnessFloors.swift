extension Floors {
    static let runRecords = Floors(
        room: "Sources/Harness/RunRecords/",
        folders: [
            // Figures and tables of rows. Their files do not know cases.
            "Measurements", "DatasetTables",
            // One case; a run, which is a directory of cases; what follows from the figures of a run.
            "Cases", "Runs", "Figures",
            // Several runs: a baseline and its gate, two runs side by side, shards, the archive.
            "Gate", "Comparing", "Merging", "Archive",
        ],
        exceptions: [:])

    static let harness = Floors(
        room: "Sources/Harness/Harness/",
        folders: [
            // The mistakes that the self-test plants; calls of the operating system. Their files do not know cases.
            "Mistakes", "System",
            // The protocol of engines; the times at which requests arrive; the protocol, input and report of scenarios.
            "Engines", "Load", "Cases",
            // The cases that a plan selects; the content that an oracle expects.
            "Plans", "Oracles",
            // The worker process of a case; builds of revisions; the runner of many cases.
            "Workers", "Revisions", "Runs",
            // Commands that start runs: a comparison of two builds, a profile, the self-test.
            "Comparing", "Profiles", "SelfTest",
        ],
        exceptions: [:])

    static let reporting = Floors(
        room: "Sources/Harness/Reporting/",
        folders: [
            // Numbers, tables and markup as text; the digest of a run, from which all reports read.
            "Text", "Digest",
            // The content that all forms of a report show: figures, the words for them, drawings.
            "Figures", "Words", "Charts",
            // The forms of a report.
            "Terminal", "HTML", "CSV", "Exports", "Archive", "Gate",
        ],
        exceptions: [:])

    static let programTrials = Floors(
        room: "Sources/Harness/ProgramTrials/",
        folders: [
            // Code that starts a program and waits for its end; runs trials in lanes; records a program's calls.
            "Programs", "Trials", "Recording",
            // The faults that trials apply to its files or calls: a loss of power, changed bytes, a failed call.
            "PowerFailure", "Damaging", "Failing",
        ],
        exceptions: [:])

    /// The files in the room's own folder register the scenarios. They are the highest floor.
    static let scenarios = Floors(
        room: "Benchmarks/Scenarios/",
        folders: [
            // Parts that scenarios of several families use: databases that a scenario opens, loads and copies; metrics
            // and tallies; rows, and the content that a check expects after them; processes and threads that work on a
            // database.
            "Databases", "Findings", "Content", "Actors",
            // The families of scenarios, and Keyed, the load of YCSB.
            "Queries", "Migration", "Keyed", "Concurrency", "Crash", "Growth", "Corruption", "Workload", "",
        ],
        exceptions: [:])
}
