import Seeds

/// The machine that a run happened on. All of it is measured: another machine gives the same deterministic report.
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

/// Whether a returned fsync can mean what it says.
package enum FsyncHonesty: String, Sendable {
    case yes
    /// A file system in memory: nothing survives a power cut.
    case no
    /// Faster than any disk could answer.
    case suspicious
}

/// An engine that took part.
package struct EngineVersion: Hashable, Sendable {
    package var name: String
    package var version: String
    /// What it says about itself: what verdicts go by.
    package var promises: [EnginePromise]

    package init(name: String, version: String, promises: [EnginePromise] = []) {
        self.name = name
        self.version = version
        self.promises = promises
    }
}

/// A sentence of an engine's documentation.
package struct EnginePromise: Hashable, Sendable {
    /// Such as `detects-damage`.
    package var kind: String
    package var sentence: String
    package var source: String

    package init(kind: String, sentence: String, source: String) {
        self.kind = kind
        self.sentence = sentence
        self.source = source
    }
}

/// An engine that could not take part, and how to get it.
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
    /// Version of this format: `assay-run/1`.
    package static let format = "assay-run/1"

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
    package var machine: Machine
    package var engines: [EngineVersion]
    package var notBuilt: [NotBuilt]
    /// The ids of all cases of the plan, in order: what `--resume` and an unfinished report compare with.
    package var cases: [String]
    /// In capitals where they cast doubt on every figure: `DEBUG BUILD`.
    package var warnings: [String]
    /// The whole run's budget in seconds; nil where the plan has none.
    package var budgetSeconds: Double?

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
        self.machine = machine
        self.engines = []
        self.notBuilt = []
        self.cases = []
        self.warnings = []
        self.budgetSeconds = nil
    }
}

/// A run as a report reads it: all in memory, so that rendering is a pure function.
package struct Run: Sendable, Equatable {
    package var header: RunHeader
    /// In the order of the plan. Fewer than `header.cases` when the run was stopped.
    package var results: [CaseResult]
    /// By case id. Cases without details have no entry.
    package var details: [String: CaseDetails]
    /// As the commands of the report name it: `Reports/2026-11-21-quick-7`.
    package var directory: String

    package init(header: RunHeader, results: [CaseResult], details: [String: CaseDetails] = [:], directory: String) {
        self.header = header
        self.results = results
        self.details = details
        self.directory = directory
    }

    package var isFinished: Bool { results.count == header.cases.count }
}
