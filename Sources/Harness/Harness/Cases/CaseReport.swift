import Measuring
import RunRecords

/// The answer of a worker process, which writes it as one JSON document to file descriptor 3.
@dynamicMemberLookup
package struct WorkerReport: Sendable, Equatable {
    /// What the case found. The report forwards the members of the findings.
    package var findings = CaseFindings()
    package var details = CaseDetails()
    package var messages: [String] = []
    package var brokenTrials: [String] = []
    package var isInconclusive = false
    /// The result of the one trial that a replay runs; nil otherwise.
    package var replayed: ReplayedTrial?
    /// Why the worker could not do its task.
    package var harnessFailure: String?

    package init() {}

    package subscript<Value>(dynamicMember member: KeyPath<CaseFindings, Value>) -> Value {
        findings[keyPath: member]
    }
}

/// Collects what a case finds, and forwards the members of the worker's report.
@dynamicMemberLookup
package final class CaseReport {
    private var content = WorkerReport()
    /// The number of places that a replay skipped in the trial file of the original case.
    private var leftOutCount = 0
    /// The positions that the trials of a sweep over closed files damage.
    private var sweptPositions: (fault: FaultKind, positions: [Int], others: [Int])?
    private var sweptFiles: [SweepMap.File] = []

    /// - Parameter wanted: the address of the only trial to run.
    package init(replaying wanted: FaultAddress? = nil) {
        content.replayed = wanted.map { ReplayedTrial($0) }
    }

    package subscript<Value>(dynamicMember member: KeyPath<WorkerReport, Value>) -> Value {
        content[keyPath: member]
    }

    package var outcomes: [Outcome: Int] {
        Dictionary(uniqueKeysWithValues: content.outcomes.map { ($0.outcome, $0.count) })
    }

    package internal(set) var replayed: ReplayedTrial? {
        get { content.replayed }
        set { content.replayed = newValue }
    }

    /// The report as the worker writes it, at the end of the case.
    package var ended: WorkerReport {
        var report = content
        // A case with a single outcome has no sweep: the count of its outcome is all there is to store.
        if report.details.trialCodes.count > 1 { report.details.map = map } else { report.details.trialCodes = [] }
        return report
    }

    package func add(_ sample: Sample) {
        content.findings.samples.append(sample)
    }

    package func add(
        _ metric: Metric, _ value: Double, statistic: String = "value", count: Int = 1, label: String = ""
    ) {
        content.findings.samples.append(Sample(metric, value, statistic: statistic, count: count, label: label))
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
        content.details.series.append(series)
    }

    /// Keeps the distribution. Adds as samples its maximum, its mean, and each of p50, p90, p99, p99.9 and p99.99 that
    /// has at least ten values beyond it.
    package func add(_ histogram: Histogram, name: String = "", metric: Metric = .latencyNanoseconds) {
        guard !histogram.isEmpty else { return }
        content.details.histograms.append(
            NamedHistogram(name: name.isEmpty ? metric.name : name, histogram: histogram))
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
        let place = nextPlace
        content.replayed?.note(trial, index: place)
        content.details.trialCodes.append(trial.outcome.code)
        content.findings.add(trial)
    }

    /// The place of the next trial in the case's trial file, also if a replay runs only some of the trials.
    var nextPlace: Int { content.details.trialCodes.count + leftOutCount }

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
    private var map: SweepMap? {
        guard let sweptPositions, !sweptFiles.isEmpty,
            sweptPositions.positions.count == content.details.trialCodes.count
        else { return nil }
        return SweepMap(
            fault: sweptPositions.fault, positions: sweptPositions.positions, others: sweptPositions.others,
            files: sweptFiles)
    }

    /// Adds a trial in which the harness failed: 0 in the trial file; the case's verdict becomes `harness-error`.
    package func addBroken(_ address: FaultAddress, _ reason: String) {
        let place = nextPlace
        content.replayed?.noteBroken(address, index: place)
        content.details.trialCodes.append(0)
        content.brokenTrials.append("\(address): \(reason)")
    }

    /// Adds a trial that the budget left out: 255 in the trial file, so that each later trial keeps the position of its
    /// address.
    package func addUntried() {
        content.details.trialCodes.append(.max)
        cut()
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
        content.messages.append(message)
    }

    /// The budget ended before the plan's work was done: the figures describe only the part that was done.
    package func cut() {
        content.findings.isCut = true
    }

    /// The case allows no statement about the engine, for this reason.
    package func inconclusive(_ reason: String) {
        content.isInconclusive = true
        content.messages.append(reason)
    }

    /// The case needs the preloaded library, which the harness did not find: the case is inconclusive.
    package func lackPreload() {
        inconclusive("\(Preload.libraryName) is not beside the program; build it (make)")
    }
}
