import Seeds

/// The machine of a run. All of it is measured: another machine gives the same deterministic report.
package struct Machine: Hashable, Sendable {
    package var host: String
    package var system: String
    package var processor: String
    package var coreCount: Int
    package var memoryBytes: Int
    package var fileSystem: String
    package var fsync: FsyncHonesty
    /// Median time of one 4 KiB overwrite with fdatasync.
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
}

/// Whether a returned fsync can be trusted.
package enum FsyncHonesty: String, Sendable {
    case yes
    /// A file system in memory: nothing survives a power failure.
    case no
    /// Faster than any disk could answer.
    case suspicious
}

/// An engine that took part.
package struct EngineVersion: Hashable, Sendable {
    package var name: String
    package var version: String
    /// The promises that it makes: verdicts depend on them.
    package var promises: [EnginePromise]
    /// Equal for engines that differ only in tuning or interface.
    package var library: String
    /// For an engine that is not part of the build: the shared library that it was loaded from, and its digest.
    package var file: String?
    package var fileDigest = ""
    /// The file that was chosen for its library, and its digest; nil where the linked one was used.
    package var libraryFile: String?
    package var libraryDigest = ""
    /// File names of its libraries that are built with assertions: nothing is claimed about its speed.
    package var assertions: [String] = []

    /// `library`: nil: the name up to its first hyphen.
    package init(name: String, version: String, promises: [EnginePromise] = [], library: String? = nil) {
        self.name = name
        self.version = version
        self.promises = promises
        self.library = library ?? String(name.prefix { $0 != "-" })
    }
}

/// A sentence of an engine's documentation.
package struct EnginePromise: Hashable, Sendable {
    /// Such as `detects-damage`.
    package var kind: String
    package var sentence: String
    package var source: String
    /// Of a promise of isolation.
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

/// What is known before the first case runs.
package struct RunHeader: Hashable, Sendable {
    /// Version of this format: `assay-run/2`.
    package static let format = "assay-run/2"

    package var id: String
    package var assayVersion: String
    package var plan: String
    package var seed: Seed
    /// The command that repeats the run.
    package var command: String
    /// Seconds since 1970.
    package var startTime: Int
    package var commit: String
    package var branch: String
    package var isReleaseBuild: Bool
    /// Digest of the program that ran the cases: a run does not accept figures of other builds.
    package var buildDigest: String
    package var machine: Machine
    package var engines: [EngineVersion]
    package var notBuilt: [NotBuilt]
    /// The ids of all cases of the plan, in order: for `--resume`, and for the report of an unfinished run.
    package var cases: [String]
    /// By case id, for the cases of a comparison: the largest number of its rounds.
    package var rounds: [String: Int]
    /// By case id: the number of complete rounds of a comparison that was decided early, or ended by the budget.
    /// Written when the run ends.
    package var endedRounds: [String: Int]
    /// Ids of the cases that each round measures as two sides.
    package var controls: Set<String>
    /// Whether figures are meaningful: not where cases ran at the same time, or too briefly.
    package var measures: Bool
    /// In capitals where they put every figure in doubt: `DEBUG BUILD`.
    package var warnings: [String]
    /// The whole run's budget in seconds; nil where the plan has none.
    package var budgetSeconds: Double?
    /// Figures of this run's cases that `assay verify-figures` did not confirm, for this build on this machine.
    package var doubtfulFigures: [DoubtfulFigure]
    /// For the run of a shard, whose `cases` are those of the shard alone.
    package var part: PlanPart?
    /// For a merged run: the shards in it, ascending.
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
    /// The file that it was loaded from at run time, with the digest in brackets; nil without one.
    package var loadedFrom: String? {
        if let file { return "\(file) (\(fileDigest))" }
        return libraryFile.map { "\($0) (\(libraryDigest))" }
    }
}

extension RunHeader {
    /// Names of engines whose library is built with assertions.
    package var assertingEngines: Set<String> {
        Set(engines.filter { !$0.assertions.isEmpty }.map(\.name))
    }

    /// The warning about them at the head of the run; nil without one.
    package var assertionWarning: String? {
        let found = engines.filter { !$0.assertions.isEmpty }
        if found.isEmpty { return nil }
        var libraries: [String] = []
        for library in found.flatMap(\.assertions) where !libraries.contains(library) { libraries.append(library) }
        return "ASSERTIONS COMPILED IN: \(libraries.joined(separator: ", ")), so that nothing is claimed of the speed "
            + "beside \(found.map(\.name).joined(separator: ", ")); --peer-library names another build"
    }

    /// The number of measurements of a case that the plan asks for, or that its ended comparison has.
    package func measurementCount(of id: String) -> Int {
        guard let rounds = endedRounds[id] ?? rounds[id] else { return 1 }
        return rounds * (controls.contains(id) ? 2 : 1)
    }
}

/// A run as a report reads it: all in memory, so that rendering is a pure function.
package struct Run: Sendable, Equatable {
    package var header: RunHeader
    /// One per case, in the order of the plan; for a case with rounds their merged result. Fewer than `header.cases`
    /// when the run was stopped.
    package var results: [CaseResult]
    /// By case id: every measurement of cases with rounds.
    package var rounds: [String: [CaseResult]]
    /// By case id. Cases without details have no entry.
    package var details: [String: CaseDetails]
    /// As commands in the report name it: `Reports/2026-11-21-quick-7`.
    package var directory: String
    /// Unreadable parts of the run's files, each with file and line. The rest counts.
    package var unreadable: [String]
    /// Names of its case files, see `KeptCaseName`.
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

    package var isFinished: Bool {
        results.count == header.cases.count
            && header.rounds.keys.allSatisfy { (rounds[$0]?.count ?? 0) >= header.measurementCount(of: $0) }
    }
}
