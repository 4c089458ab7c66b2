import Measuring
import RunRecords

/// Collects what a case finds.
package final class CaseReport {
    package private(set) var samples: [Sample] = []
    package private(set) var series: [Series] = []
    package private(set) var histograms: [NamedHistogram] = []
    package private(set) var outcomes: [Outcome: Int] = [:]
    package private(set) var trials: [Trial] = []
    /// The causes of all trials that are not `correct`; the runner drops those that the scenario accepts.
    package private(set) var causes = FailureCauses()
    package private(set) var trialCodes: [UInt8] = []
    /// The number of places that a replay skipped in the trial file of the original case.
    private var leftOutCount = 0
    /// The positions that the trials of a sweep over closed files damage.
    package private(set) var sweptPositions: (fault: FaultKind, positions: [Int], others: [Int])?
    package private(set) var sweptFiles: [SweepMap.File] = []
    package private(set) var messages: [String] = []
    package private(set) var brokenTrials: [String] = []
    /// The result of the one trial that a replay runs; nil otherwise.
    package internal(set) var replayed: ReplayedTrial?
    package private(set) var isCut = false
    package private(set) var isInconclusive = false

    /// How many trials of each outcome that is not honest are kept in full.
    package static let keptTrials = 20

    /// - Parameter wanted: the address of the only trial to run.
    package init(replaying wanted: FaultAddress? = nil) {
        replayed = wanted.map { ReplayedTrial($0) }
    }

    package func add(_ sample: Sample) {
        samples.append(sample)
    }

    package func add(
        _ metric: Metric, _ value: Double, statistic: String = "value", count: Int = 1, label: String = ""
    ) {
        samples.append(Sample(metric, value, statistic: statistic, count: count, label: label))
    }

    /// Fills a cell of a table that the report builds from several cases.
    package func addGridCell(_ cell: GridCell, isGood: Bool) {
        add(.gridCell, isGood ? 1 : 0, label: cell.label)
    }

    /// Fills a cell of a table of engines that the report builds from several cases.
    package func addGridFigure(_ place: GridFigure, perSecond value: Double, count: Int) {
        add(.gridFigure, value, count: count, label: place.label)
    }

    package func add(_ series: Series) {
        self.series.append(series)
    }

    /// Keeps the distribution. Adds as samples its maximum, its mean, and each of p50, p90, p99, p99.9 and p99.99 that
    /// has at least ten values beyond it.
    package func add(_ histogram: Histogram, name: String = "", metric: Metric = .latencyNanoseconds) {
        guard !histogram.isEmpty else { return }
        histograms.append(NamedHistogram(name: name.isEmpty ? metric.name : name, histogram: histogram))
        let count = Int(histogram.count)
        let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)]
        for (statistic, fraction) in quantiles where histogram.carries(fraction) {
            add(metric, Double(histogram.quantile(fraction)), statistic: statistic, count: count, label: name)
        }
        add(metric, Double(histogram.maximum), statistic: "max", count: count, label: name)
        add(metric, histogram.mean, statistic: "mean", count: count, label: name)
    }

    /// Adds a trial of a sweep, in the order of addresses, or the single outcome of a case without a sweep.
    package func add(_ trial: Trial) {
        replayed?.note(trial, index: nextPlace)
        trialCodes.append(trial.outcome.code)
        let seen = outcomes[trial.outcome, default: 0]
        outcomes[trial.outcome] = seen + 1
        if trial.outcome != .correct { causes.add(trial) }
        if !trial.outcome.isHonest && seen < Self.keptTrials {
            trials.append(trial)
        }
    }

    /// The place of the next trial in the case's trial file, also if a replay runs only some of the trials.
    var nextPlace: Int { trialCodes.count + leftOutCount }

    /// Skips as many places of the trial file: a replay calls it for the trials that it does not run.
    package func leaveOut(_ count: Int) { leftOutCount += count }

    /// Describes the files that a sweep damages, in the order in which its addresses count through them.
    package func describe(_ files: [SweepMap.File]) {
        sweptFiles = files
    }

    func noteSweep(_ addresses: [FaultAddress]) {
        guard let fault = addresses.first?.fault, fault.damagesFiles else { return }
        let places = addresses.compactMap { $0.fault == fault ? $0.places : nil }
        guard places.count == addresses.count else { return }
        sweptPositions = (fault, places.map { $0[0] }, fault.hasTwoPlaces ? places.map { $0[1] } : [])
    }

    /// The map of the sweep; nil for a case that does not sweep over files, or did not describe them.
    var map: SweepMap? {
        guard let sweptPositions, !sweptFiles.isEmpty, sweptPositions.positions.count == trialCodes.count else {
            return nil
        }
        return SweepMap(
            fault: sweptPositions.fault, positions: sweptPositions.positions, others: sweptPositions.others,
            files: sweptFiles)
    }

    /// Adds a trial in which the harness failed: 0 in the trial file; the case's verdict becomes `harness-error`.
    package func addBroken(_ address: FaultAddress, _ reason: String) {
        replayed?.noteBroken(address, index: nextPlace)
        trialCodes.append(0)
        brokenTrials.append("\(address): \(reason)")
    }

    /// Adds a trial that the budget left out: 255 in the trial file, so that each later trial keeps the position of its
    /// address.
    package func addUntried() {
        trialCodes.append(.max)
        isCut = true
    }

    /// Compares what an oracle expects with what the engine gave, as one trial named by `address`. It is for a case
    /// without faults: equal values are `correct`, all others `silently-wrong`.
    package func check<Value: Equatable>(_ address: String, expected: Value, got: Value) {
        let isEqual = expected == got
        add(
            Trial(
                address: FaultAddress(text: address), outcome: isEqual ? .correct : .silentlyWrong,
                detail: isEqual ? "" : "expected \(expected), got \(got)"))
    }

    /// Adds a sentence to the report: what was not done, or what a figure means.
    package func note(_ message: String) {
        messages.append(message)
    }

    /// The budget ended before the plan's work was done: the figures describe only the part that was done.
    package func cut() {
        isCut = true
    }

    /// The case allows no statement about the engine, for this reason.
    package func inconclusive(_ reason: String) {
        isInconclusive = true
        messages.append(reason)
    }

    /// The case needs the preloaded library, and it is not there.
    package func lackPreload() {
        inconclusive("\(Preload.libraryName) is not beside the program; build it (make)")
    }
}
