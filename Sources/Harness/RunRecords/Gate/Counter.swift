/// A kind of figure that is counted and not timed. A gate decides only on these.
///
/// A counter has several metrics: `syncs_per_commit`, and `file_syncs` of the whole case, both belong to `syncs`. The
/// kernel's counts for a whole process (`written_bytes`, `read_syscalls`) are not counters: they include loaded
/// libraries and printed messages.
package enum Counter: String, Sendable, CaseIterable {
    case syncs
    case writeCalls = "write_calls"
    case writtenBytes = "written_bytes"
    case readCalls = "read_calls"
    /// All file calls of a process that the preloaded library sees: reads, writes, syncs, opens, renames and so on.
    case fileCalls = "file_calls"
    case fileBytes = "file_bytes"
    case allocations
    case allocatedBytes = "allocated_bytes"
    case instructions

    /// The metrics of the whole case, by their names in results.
    private static let ofWholeCase: [String: Counter] = [
        "file_syncs": .syncs, "file_write_calls": .writeCalls, "file_written_bytes": .writtenBytes,
        "file_read_calls": .readCalls, "file_calls": .fileCalls, "file_bytes": .fileBytes,
        "file_bytes_per_row": .fileBytes, "instructions": .instructions,
    ]

    /// nil if the metric belongs to no counter.
    package init?(metric: String) {
        if let counter = Self.ofWholeCase[metric] {
            self = counter
            return
        }
        // A metric per operation: `syncs_per_commit`, `allocations_per_operation`.
        guard let range = metric.firstRange(of: "_per_"), range.upperBound < metric.endIndex,
            let counter = Counter(rawValue: String(metric[..<range.lowerBound]))
        else { return nil }
        self = counter
    }

    /// For an error message: the names that a budget may give to a counter or to one metric. Other operations than
    /// those shown may follow `_per_`.
    package static var names: [String] {
        let shown = ["syncs_per_commit", "written_bytes_per_commit", "allocations_per_operation"]
        return allCases.map(\.rawValue) + ofWholeCase.keys.filter { Counter(rawValue: $0) == nil }.sorted() + shown
    }

    /// Whether the preloaded library counts it. A machine may lack that library.
    package var isWitnessed: Bool {
        switch self {
        case .syncs, .writeCalls, .writtenBytes, .readCalls, .fileCalls: true
        case .fileBytes, .allocations, .allocatedBytes, .instructions: false
        }
    }

    package var isOfAllocator: Bool { self == .allocations || self == .allocatedBytes }
}

/// The name of a counted figure within its case.
package struct CountedName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let metric: String
    package let statistic: String
    package let label: String
    package let counter: Counter

    /// nil if a gate does not decide on the figure: it is timed, or says how much work was done.
    package init?(metric: String, statistic: String, label: String) {
        guard let counter = Counter(metric: metric) else { return nil }
        (self.metric, self.statistic, self.label, self.counter) = (metric, statistic, label, counter)
    }

    package init?(_ sample: Sample) {
        self.init(metric: sample.metric.name, statistic: sample.statistic, label: sample.label)
    }

    /// `file_syncs (whole case)`, `file_bytes max (while pinned)`.
    package var description: String { FigureName.text(metric, statistic, label) }

    package static func < (a: CountedName, b: CountedName) -> Bool {
        (a.metric, a.label, a.statistic) < (b.metric, b.label, b.statistic)
    }
}

/// The values of one figure in several measurements.
package struct ObservedRange: Sendable, Hashable {
    package let low: Double
    package let high: Double
    package let median: Double
    /// The number of measurements.
    package let count: Int

    /// nil if no value is finite.
    package init?(_ values: [Double]) {
        let ordered = values.filter(\.isFinite).sorted()
        guard let low = ordered.first, let high = ordered.last else { return nil }
        self.init(low: low, high: high, median: ordered[(ordered.count - 1) / 2], count: ordered.count)
    }

    package init(low: Double, high: Double, median: Double, count: Int) {
        (self.low, self.high, self.median, self.count) = (low, high, median, count)
    }

    /// Whether all of several measurements are equal. A single measurement does not show that.
    package var repeatsExactly: Bool { low == high && count > 1 }
}

/// The counted figures of a case over all its measurements.
package struct CountedCase: Sendable, Equatable {
    package let test: Case
    package let figures: [CountedName: ObservedRange]

    package init(test: Case, figures: [CountedName: ObservedRange]) {
        (self.test, self.figures) = (test, figures)
    }

    /// nil if a measurement of the case failed, was cut, or was inconclusive: then none of its figures is valid.
    ///
    /// - Parameter measurements: all of one case, at least one.
    package init?(_ measurements: [CaseResult]) {
        guard let first = measurements.first, measurements.allSatisfy({ Self.objection(to: $0) == nil }) else {
            return nil
        }
        var values: [CountedName: [Double]] = [:]
        for sample in measurements.flatMap(\.samples) {
            if let name = CountedName(sample) { values[name, default: []].append(sample.value) }
        }
        self.init(test: first.test, figures: values.compactMapValues { ObservedRange($0) })
    }

    /// Why the figures of a measurement are not valid; nil if they are.
    package static func objection(to result: CaseResult) -> String? {
        if result.isCut { return "was cut by the budget" }
        if [.pass, .known, .unpromised].contains(result.verdict) { return nil }
        return result.verdict.rawValue + (result.message.isEmpty ? "" : ": \(result.message)")
    }
}

extension Run {
    /// Every measurement of a case: a single one, or one per round and side.
    package func measurements(of id: String) -> [CaseResult] {
        rounds[id] ?? results.filter { $0.test.id == id }
    }
}
