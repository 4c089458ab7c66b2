import RunRecords

/// What an engine did with its data, as a clause: `the engine gave wrong data as if it were right when one bit of its
/// file was wrong`.
enum FaultWords {
    static func clause(_ scenario: String, _ outcome: Outcome?) -> String {
        if scenario == "sync-fails", outcome == .lostCommit {
            return "a commit that was acknowledged after a failed fsync was gone, or could not be read, after a power "
                + "loss"
        }
        let event =
            outcome == .lostCommit && harmless.contains(scenario)
            ? "acknowledged data was gone, or could not be read," : event(outcome)
        return "\(event) \(circumstances[scenario] ?? "in the scenario \(scenario)")"
    }

    /// Scenarios that damage no data: they count acknowledged data as lost, too, if the engine cannot read it and says
    /// so.
    private static let harmless: Set<String> = [
        "recorded-power-loss", "sync-fails", "lock-file-tampered", "copy-while-open",
    ]

    private static func event(_ outcome: Outcome?) -> String {
        switch outcome {
        case .lostCommit: "acknowledged data was gone, and the engine reported nothing,"
        case .silentlyWrong: "the engine gave wrong data as if it were right"
        case .crashed: "the process crashed"
        case .hung: "the process waited without end"
        case .memoryLimit: "the process took more memory than it may"
        case .overSize: "the files took more room than they may"
        case .refused: "the engine refused to go on"
        case .detectedAtOpen, .detectedAtRead: "the engine reported damage"
        case .fellBack: "older or partial data came back, and the engine said so,"
        case .repaired, .correct, nil: "the engine broke a promise"
        }
    }

    /// What the scenario did to the engine or its files, by slug. Those of workloads say it as well as a clause could.
    private static let circumstances: [String: String] = [
        "bit-flip": "when one bit of its file was wrong",
        "zero-page": "when a page of its file was all zeros",
        "truncate": "when its file was cut short",
        "swapped-pages": "when two pages of its file stood in each other\u{2019}s places",
        "stale-page": "when a page was as it had been before the last changes",
        "misdirected-write": "when a page was written over with another one",
        "damage-as-it-comes": "when its file was damaged and the program had set nothing",
        "salvage": "after a salvage of its damaged file",
        "file-replaced": "after its file was replaced or deleted under it",
        "lock-file-tampered": "after its lock file was deleted, cut or written over",
        "copy-while-open": "in a copy of its files made while they were in use",
        "kill-mid-write": "after its writer was killed",
        "kill-at-call": "after its process died at a file call",
        "dead-writer": "when another process went on after a writer was killed",
        "compact-crash": "after a compaction was interrupted",
        "power-loss": "after a power loss",
        "recorded-power-loss": "after a power loss",
        "storage-history": "after a power loss among random operations",
        "sync-fails": "after a failed fsync and a power loss",
        "io-errors": "after one of its file calls failed",
        "resource-limits": "when its process could have no more files, threads or memory",
        "disk-full": "on a full disk",
        "slow-spell": "while the disk was slow",
        "fork-while-open": "after its program had forked",
        "delete-files": "where another database had been deleted before",
        "stopped-writer": "while another writer was stopped",
        "lost-update": "when several writers changed the same rows",
        "bank-transfer": "while transfers ran on other threads",
        "history": "among concurrent transactions",
        "writer-starvation": "among writers that never pause",
        "commit-threads": "while several threads committed",
        "commit-processes": "while several processes committed",
        "mixed-threads": "while threads read and wrote beside each other",
        "visible-latency": "while one thread read what another one committed",
        "foreign-pin": "while another process held an old version",
        "open-close-race": "when it was opened and closed on several threads at once",
        "write-in-callback": "when a callback began a write",
        "observer-in-callback": "when observers came and went in callbacks",
        "without-notifying": "after a commit that notified only some observers",
        "commit-in-notification": "when an observer committed while it was told of a commit",
        "missed-notification": "while an observer was told of another thread\u{2019}s commits",
        "key-path-filter": "when observers asked for changes of some properties only",
        "async-write": "when writes ran asynchronously",
        "cross-process-wake": "when another process committed",
        "write-blocked-by-notifier": "while slow observers were told of commits",
        "first-open-race": "when several processes made the database at once",
        "compact-vs-readers": "beside a compaction",
        "pinned-reader": "while a reader held an old version",
        "delete-refill": "after the program deleted all rows and inserted them again",
        "compact": "after a compaction",
        "compact-memory": "during a compaction of a large file",
        "compact-on-launch": "after a compaction at launch",
        "million-small-commits": "after very many small commits",
        "many-writer-threads": "after many threads had written and ended",
        "account-switch": "after the program changed between two databases again and again",
        "unresolved-reference": "while a reference was not resolved",
        "many-listeners": "while many observers listened",
        "version-limit": "after the program had held too many versions",
        "object-steps": "when the same steps ran on more objects",
        "query-nulls": "in queries for null",
        "query-aggregates": "in sums and extremes",
        "query-order": "in queries with an order, distinct values or a limit",
        "query-text": "in queries for parts of texts",
        "query-boundaries": "in queries at the ends of nodes",
        "query-links": "in queries through links",
        "cascade": "when the deletion of an object deleted others",
        "replace-child": "when an owned object was replaced",
        "backlink-equality": "when the program followed links backwards",
        "duplicate-in-list": "when an object was in a list several times",
        "cycles": "when objects linked to each other in a cycle",
        "orphan-add": "when an object without an owner was added",
        "embedded-parent": "when an embedded object lost its parent or got another one",
        "million-backlinks": "when very many objects linked to one",
        "upsert-modes": "when objects were updated or inserted by key",
    ]
}

/// The failures of one engine in one scenario with one outcome: one sentence, with all causes below it.
struct Finding {
    var engine: String
    var scenario: String
    var outcome: Outcome?
    /// The number of trials with this outcome; `trials` is that of all trials of the same cases.
    var count: Int
    var trials: Int
    /// Whether all of its violations are known.
    var isKnown: Bool
    var groups: [CauseGroup]

    /// `SQLite: acknowledged data was gone, and the engine reported nothing, on a full disk`.
    var sentence: String { "\(EngineName.words(engine)): \(FaultWords.clause(scenario, outcome))" }

    /// `4 of 24`; empty for cases without trials.
    var countWords: String {
        count == 0 || trials < 2 ? "" : "\(Figure.grouped(count)) of \(Figure.grouped(trials))"
    }
}

extension RunDigest {
    /// The failures of a verdict, one per engine, scenario and outcome: in plan order, and within a scenario the
    /// gravest first.
    func findings(_ verdict: Verdict) -> [Finding] {
        struct Key: Hashable {
            var engine: String
            var scenario: String
            var outcome: Outcome?
        }
        let groups = causeGroups(verdict)
        let keys = Self.unique(groups.map { Key(engine: $0.engine, scenario: $0.scenario, outcome: $0.outcome) })
        return keys.map { key in
            let own = groups.filter {
                $0.engine == key.engine && $0.scenario == key.scenario && $0.outcome == key.outcome
            }
            let cases = Self.unique(own.flatMap { $0.cases.map(\.test.id) })
            let trials = results.reduce(0) { $0 + (cases.contains($1.test.id) ? $1.trialCount : 0) }
            return Finding(
                engine: key.engine, scenario: key.scenario, outcome: key.outcome,
                count: own.reduce(0) { $0 + $1.count }, trials: trials, isKnown: verdict == .known, groups: own)
        }
    }
}
