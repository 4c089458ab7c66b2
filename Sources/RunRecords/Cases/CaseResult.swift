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

/// A setting of an engine with the value that it ran with: `synchronous` = `FULL`.
package struct EngineSetting: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
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
    package enum Side: String, Sendable, CaseIterable {
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
    /// The members of the findings are members of the result.
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

/// The part of a case that is too large for its line in results.jsonl.
package struct CaseDetails: Sendable, Equatable {
    package var series: [Series]
    package var histograms: [NamedHistogram]
    /// `Outcome.code` of every trial in address order; empty for a case without a sweep.
    package var trialCodes: [UInt8]
    /// The positions that the trials of a sweep over files damaged.
    package var map: SweepMap?

    package init(
        series: [Series] = [], histograms: [NamedHistogram] = [], trialCodes: [UInt8] = [], map: SweepMap? = nil
    ) {
        self.series = series
        self.histograms = histograms
        self.trialCodes = trialCodes
        self.map = map
    }
}
