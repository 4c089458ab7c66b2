import JSONText
import Measuring

/// The abnormal end of a worker process.
package struct CrashReport: Hashable, Sendable {
    package var signal: Int32?
    package var exitStatus: Int32?
    /// The end of the worker's standard error.
    package var standardError: String

    package init(signal: Int32? = nil, exitStatus: Int32? = nil, standardError: String = "") {
        self.signal = signal
        self.exitStatus = exitStatus
        self.standardError = standardError
    }
}

extension CrashReport: JSONRecord {
    package static let blank = CrashReport()
    package static let fields: [JSONField<CrashReport>] = [
        .member("signal", \.signal), .member("exit_status", \.exitStatus), .member("stderr", \.standardError),
    ]
}

/// A setting of an engine with the value that it ran with: `synchronous` = `FULL`.
package struct EngineSetting: NamedText, Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { self.init(name: name, value: value) }

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A latency distribution of a case.
package struct NamedHistogram: Sendable, Equatable {
    package var name: String
    package var histogram: Histogram

    package init(name: String, histogram: Histogram) {
        self.name = name
        self.histogram = histogram
    }
}

/// The number of trials with an outcome.
package struct OutcomeCount: Hashable, Sendable {
    package var outcome: Outcome
    package var count: Int

    package init(outcome: Outcome, count: Int) {
        self.outcome = outcome
        self.count = count
    }
}

/// One measurement of a case: most cases have one, those of a comparison have one per round and side.
package struct Turn: Hashable, Sendable {
    /// Counts from 0.
    package var round: Int
    package var side: Side

    /// One engine of a comparison is measured as two identical sides, whose difference is noise.
    package enum Side: String, JSONForm, Sendable, CaseIterable {
        case measured = ""
        case control
    }

    package init(round: Int = 0, side: Side = .measured) {
        self.round = round
        self.side = side
    }
}

/// The result of a case.
///
/// Deterministic fields, for equal seed, plan and binary: the case, verdict, outcome, outcome counts, trials, causes,
/// settings, and samples and series of the deterministic kind. The others (duration, crash, histograms, `isCut`,
/// message) are measured, and so are the counts of a case that was cut by its budget.
@dynamicMemberLookup
package struct CaseResult: Sendable, Equatable {
    package var test: Case
    /// The measurement of this case: its round and side.
    package var turn: Turn
    package var engineVersion = ""
    package var settings: [EngineSetting] = []
    package var verdict: Verdict
    /// The gravest outcome of all trials; nil if no trial ran.
    package var outcome: Outcome?
    /// What the case found. The result forwards the members of the findings.
    package var findings = CaseFindings()
    /// The promises that the case tested, each with the result.
    package var promises: [JudgedPromise] = []
    /// The reason for the verdict, in a sentence; empty for a plain pass.
    package var message = ""
    package var crash: CrashReport?
    package var durationNanoseconds: UInt64 = 0
    /// Whether threads ran freely: then the interleaving of operations differs from run to run.
    package var hasFreeSchedule = false
    /// Whether the case judges the state after a power failure: it is conclusive only if the machine's syncs are
    /// honest.
    package var restsOnSyncs = false

    package init(test: Case, verdict: Verdict, turn: Turn = Turn()) {
        self.test = test
        self.turn = turn
        self.verdict = verdict
    }

    package subscript<Value>(dynamicMember member: WritableKeyPath<CaseFindings, Value>) -> Value {
        get { findings[keyPath: member] }
        _modify { yield &findings[keyPath: member] }
    }

    package func count(of outcome: Outcome) -> Int { findings.count(of: outcome) }

    package var trialCount: Int {
        findings.outcomes.reduce(0) { $0 + $1.count }
    }

    /// The first sample with that metric, statistic and label.
    package func value(_ metric: Metric, statistic: String = "value", label: String = "") -> Double? {
        let matches = { (sample: Sample) in
            sample.metric.name == metric.name && sample.statistic == statistic && sample.label == label
        }
        return findings.samples.first(where: matches)?.value
    }
}

extension CaseResult: JSONRecord {
    package static let blank = CaseResult(test: .blank, verdict: .pass)

    /// The members of its line in results.jsonl. Older builds wrote no causes.
    package static let fields: [JSONField<CaseResult>] = [
        .derived("case") { .string($0.test.id) }, .member("round", \.turn.round, in: .counts),
        .member("side", \.turn.side),
        .member("test", \.test), .member("engine_version", \.engineVersion),
        .texts("settings", \.settings),
        .member("verdict", \.verdict), .member("outcome", \.outcome), .outcomes(\.findings.outcomes),
        .member("samples", \.findings.samples), .member("trials", \.findings.trials), .member("message", \.message),
        .sparse("causes", \.findings.causes), .sparse("promises", \.promises), .member("crash", \.crash),
        .member("duration_ns", \.durationNanoseconds), .member("cut", \.findings.isCut),
        .member("free_schedule", \.hasFreeSchedule), .sparse("rests_on_syncs", \.restsOnSyncs),
    ]
}

extension JSONField {
    /// Counts by the name of the outcome. Reading skips the names that this build does not know.
    package static func outcomes(_ member: Member<[OutcomeCount]>) -> JSONField {
        JSONField(
            "outcomes",
            write: { .object($0[keyPath: member].map { JSONMember($0.outcome.rawValue, .integer($0.count)) }) }
        ) { (json, record) throws(JSONShapeError) in
            let counts = try [String: Int](json: json ?? .null, in: .counts)
            record[keyPath: member] = Outcome.allCases.compactMap { outcome in
                counts[outcome.rawValue].map { OutcomeCount(outcome: outcome, count: $0) }
            }
        }
    }
}
