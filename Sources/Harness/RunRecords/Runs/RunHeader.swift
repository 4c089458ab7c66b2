import JSONText
import Seeds

/// The machine of a run, as the harness found it before the first case; of a merged run, the machines of all shards in
/// one. No deterministic report contains any of it.
package struct Machine: Hashable, Sendable {
    package var host: String
    package var system: String
    package var processor: String
    package var coreCount: Int
    package var memoryBytes: Int
    /// The type of the file system that holds the databases.
    package var fileSystem: String
    package var fsync: FsyncHonesty
    /// The median time of overwriting 4 KiB of a file and syncing it with fdatasync, or with fsync on macOS.
    package var fsyncNanoseconds: UInt64

    package init(
        host: String, system: String, processor: String, coreCount: Int, memoryBytes: Int, fileSystem: String,
        fsync: FsyncHonesty, fsyncNanoseconds: UInt64
    ) {
        self.host = host
        self.system = system
        self.processor = processor
        self.coreCount = coreCount
        self.memoryBytes = memoryBytes
        self.fileSystem = fileSystem
        self.fsync = fsync
        self.fsyncNanoseconds = fsyncNanoseconds
    }

    /// Whether times on the two machines are comparable: everything but the measured time of a sync is equal.
    package func isSame(as other: Machine) -> Bool {
        var other = other
        other.fsyncNanoseconds = fsyncNanoseconds
        return self == other
    }
}

/// Whether an fsync that returned has taken effect. The harness concludes it from the type of the file system and from
/// the time of a sync; it cuts no power.
package enum FsyncHonesty: String, JSONForm, Sendable {
    /// Neither the file system nor the time speaks against it.
    case yes
    /// A file system in memory: nothing survives a power failure.
    case no
    /// A sync is faster than any disk.
    case suspicious
}

/// An engine of a run.
package struct EngineVersion: Hashable, Sendable {
    package var name: String
    package var version: String
    /// The promises that it makes, on which verdicts depend.
    package var promises: [EnginePromise]
    /// The same for engines that differ only in tuning or interface.
    package var library: String
    /// For an engine that is not part of the build, the shared library that it was loaded from, and its digest.
    package var file: String?
    package var fileDigest = ""
    /// The file that the user chose for its library, and its digest; nil if the linked one was used.
    package var libraryFile: String?
    package var libraryDigest = ""
    /// The names of its library files that are built with assertions. No claim is made about the speed of such an
    /// engine.
    package var assertions: [String] = []

    /// - Parameter library: nil for the engine's name up to the first hyphen.
    package init(name: String, version: String, promises: [EnginePromise] = [], library: String? = nil) {
        self.name = name
        self.version = version
        self.promises = promises
        self.library = library ?? String(name.prefix { $0 != "-" })
    }
}

/// A promise of an engine, with the sentence of its documentation.
package struct EnginePromise: Hashable, Sendable {
    /// Such as `detects-damage`.
    package var kind: String
    package var sentence: String
    package var source: String
    /// The level, for a promise of isolation.
    package var level: IsolationLevel?

    package init(kind: String, sentence: String, source: String, level: IsolationLevel? = nil) {
        self.kind = kind
        self.sentence = sentence
        self.source = source
        self.level = level
    }
}

/// An engine that this build lacks, with the remedy.
package struct NotBuilt: Hashable, Sendable {
    package var name: String
    /// A command, such as `apt-get install libsqlite3-dev`.
    package var remedy: String

    package init(name: String, remedy: String) {
        self.name = name
        self.remedy = remedy
    }
}

/// What is known of a run before its first case, in the file `run.json`.
///
/// `assay run` fills it, and `Runner` writes it before the first measurement. When all measurements are done, `Runner`
/// writes it again with `endedRounds`; after an interruption it does not. A resumed run keeps the header of its begin.
package struct RunHeader: Hashable, Sendable {
    /// Version of this format: `assay-run/2`.
    package static let format = "assay-run/2"

    package var id: String
    package var assayVersion: String
    package var plan: String
    /// The question of the plan; empty if it has none, if options changed its cases, or in an older run.
    package var question = ""
    package var seed: Seed
    /// The command that repeats the run.
    package var command: String
    /// Seconds since 1970.
    package var startTime: Int
    /// The commit of the checkout from which the run began, not of the build; empty without a checkout. On a detached
    /// HEAD only `branch` is empty.
    package var commit: String
    package var branch: String
    package var isReleaseBuild: Bool
    /// A digest of the program that ran the cases, and of the versions and files of its engines; empty if the program's
    /// file could not be read. A run takes no figures of other builds: `--resume` refuses another digest.
    package var buildDigest: String
    package var machine: Machine
    package var engines: [EngineVersion]
    package var notBuilt: [NotBuilt]
    /// The ids of all cases of the plan, in order: for `--resume`, and for the report of an unfinished run.
    package var cases: [String]
    /// The family of each case of the plan by its id, so that a report knows what an unfinished run did not answer; of
    /// a shard, also those of the other shards. Empty in an older run.
    package var families: [String: Family] = [:]
    /// The question that each scenario of the plan answers, by slug. Empty in an older run.
    package var scenarioQuestions: [String: String] = [:]
    /// The most rounds of each case of a comparison, by case id. A case without an entry is measured once.
    package var rounds: [String: Int]
    /// The number of complete rounds of each comparison that has fewer than `rounds` when the run ends, by case id: it
    /// was decided early, or the budget ended it.
    package var endedRounds: [String: Int]
    /// The ids of the cases that each round measures twice: as the measured side, and as its control.
    package var controls: Set<String>
    /// Whether figures mean something. They do not if cases ran at the same time, or too briefly.
    package var measures: Bool
    /// In capitals if they put every figure in doubt: `DEBUG BUILD`.
    package var warnings: [String]
    /// The time budget of the whole run in seconds; nil if the plan has none.
    package var budgetSeconds: Double?
    /// The figures of this run's cases for which `assay verify-figures`, with this build on this machine, got a value
    /// without the harness that differs too much. A figure that it has not checked is not among them. Empty if
    /// `measures` is false.
    package var doubtfulFigures: [DoubtfulFigure]
    /// For the run of a shard: which part it is. `cases` are then those of the shard alone.
    package var part: PlanPart?
    /// For a merged run: its shards, ascending.
    package var merged: [MergedShard]

    package init(id: String, plan: String, seed: Seed, machine: Machine) {
        self.id = id
        self.assayVersion = ""
        self.plan = plan
        self.seed = seed
        self.command = ""
        self.startTime = 0
        self.commit = ""
        self.branch = ""
        self.isReleaseBuild = false
        self.buildDigest = ""
        self.machine = machine
        self.engines = []
        self.notBuilt = []
        self.cases = []
        self.rounds = [:]
        self.endedRounds = [:]
        self.controls = []
        self.measures = true
        self.warnings = []
        self.budgetSeconds = nil
        self.doubtfulFigures = []
        self.part = nil
        self.merged = []
    }
}

extension EngineVersion {
    /// The file that the engine, or the library that the user chose for it, was loaded from at run time, with its
    /// digest in brackets; nil if the program is linked with both.
    package var loadedFrom: String? {
        if let file { return "\(file) (\(fileDigest))" }
        return libraryFile.map { "\($0) (\(libraryDigest))" }
    }
}

extension RunHeader {
    /// The names of the engines whose library is built with assertions.
    package var assertingEngines: Set<String> {
        Set(engines.filter { !$0.assertions.isEmpty }.map(\.name))
    }

    /// The warnings with their topics in capitals, as every report shows them: `SWAPPED MEMORY: 90 MiB; ..`, with that
    /// about assertions.
    package var shownWarnings: [String] {
        let shown = warnings.map { warning in
            let topic = warning.prefix { $0 != ":" }
            return topic.uppercased() + warning.dropFirst(topic.count)
        }
        // Older runs recorded the warning about assertions in the words of their time.
        return shown.filter { !$0.hasPrefix(Self.assertionTopic) } + [assertionWarning].compactMap { $0 }
    }

    /// How ``assertionWarning`` begins.
    package static let assertionTopic = "ASSERTIONS COMPILED IN"

    /// The warning about such libraries; nil if there is none, or if the run takes no times.
    package var assertionWarning: String? {
        guard measures else { return nil }
        let found = engines.filter { !$0.assertions.isEmpty }
        if found.isEmpty { return nil }
        var libraries: [String] = []
        for library in found.flatMap(\.assertions) where !libraries.contains(library) { libraries.append(library) }
        let slowed = found.map(\.name).joined(separator: ", ")
        return "\(Self.assertionTopic): \(libraries.joined(separator: ", ")), which slows down \(slowed): a report may "
            + "claim that an engine is behind, and never that it is ahead; `--peer-library` takes another build"
    }

    /// How many measurements of a case make it complete: 1 for a case without rounds. For a case in rounds, a
    /// measurement per round and side, of all its rounds, or of the complete ones if its comparison has ended.
    package func measurementCount(of id: String) -> Int {
        guard let rounds = endedRounds[id] ?? rounds[id] else { return 1 }
        return rounds * (controls.contains(id) ? 2 : 1)
    }
}

/// A run as a report reads it. All of it is in memory, so that rendering reads no file.
package struct Run: Sendable, Equatable {
    package var header: RunHeader
    /// One result per case, in the order of the plan; of a case with rounds, the merged result. They are fewer than
    /// `header.cases` if the run was stopped.
    package var results: [CaseResult]
    /// Every measurement of each case with rounds, of both sides, by case id.
    package var rounds: [String: [CaseResult]]
    /// By case id. A case without details has no entry.
    package var details: [String: CaseDetails]
    /// The path that commands in the report use: `Reports/2026-11-21-quick-7`.
    package var directory: String
    /// What could not be read of the run's files, each with file and line. All else counts.
    package var unreadable: [String]
    /// The names of the run's case files, see `KeptCaseName`.
    package var caseFiles: Set<String> = []

    package init(
        header: RunHeader, results: [CaseResult], rounds: [String: [CaseResult]] = [:],
        details: [String: CaseDetails] = [:], directory: String, unreadable: [String] = []
    ) {
        self.header = header
        self.results = results
        self.rounds = rounds
        self.details = details
        self.directory = directory
        self.unreadable = unreadable
    }

    /// Whether each case has a result, and each case in rounds has at least `header.measurementCount(of:)`
    /// measurements.
    package var isFinished: Bool {
        results.count == header.cases.count
            && header.rounds.keys.allSatisfy { (rounds[$0]?.count ?? 0) >= header.measurementCount(of: $0) }
    }
}
