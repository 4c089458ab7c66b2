/// What checks and salvages of damaged copies found, as counts for one kind of damage of a case.
///
/// Each count is stored as a sample of one metric. Its label has the fault and the name of the count, separated by a
/// bar, so that the CSV contains both.
package struct SalvageFigures: Hashable, Sendable {
    package enum Count: String, Sendable, CaseIterable {
        case copies
        /// Copies whose read returned wrong data, or crashed, without an error.
        case wrongReads = "wrong reads"
        /// Copies in which a check found nothing, though a read gave wrong data or was refused.
        case missedChecks = "checks missed"
        /// Copies from which a salvage made a database.
        case salvaged
        case rowsRight = "rows right"
        /// Rows that are right, except for values that the salvage reported as lost.
        case rowsPartial = "rows partial"
        case rowsWrong = "rows wrong"
        case rowsMissing = "rows missing"
        /// Salvages that reported truly what is missing.
        case trueClaims = "true claims"
        case falseClaims = "false claims"
    }

    package var fault: String
    package private(set) var counts: [Count: Int] = [:]

    package init(fault: String) { self.fault = fault }

    package subscript(count: Count) -> Int {
        get { counts[count] ?? 0 }
        set { counts[count] = newValue }
    }

    package func label(_ count: Count) -> String { "\(fault)|\(count.rawValue)" }

    /// The fault and the counts in the order of `Count`, separated by spaces.
    package var line: String { ([fault] + Count.allCases.map { "\(self[$0])" }).joined(separator: " ") }

    /// nil if the line is not of that form.
    package init?(line: some StringProtocol) {
        let parts = line.split(separator: " ")
        let numbers = parts.dropFirst().compactMap { Int($0) }
        guard let fault = parts.first, numbers.count == Count.allCases.count, parts.count == numbers.count + 1 else {
            return nil
        }
        self.init(fault: String(fault))
        for (count, number) in zip(Count.allCases, numbers) { self[count] = number }
    }

    package mutating func add(_ other: SalvageFigures) {
        for count in Count.allCases { self[count] += other[count] }
    }
}

extension Metric {
    package static let salvageCount = Metric("salvage_count", unit: "count", .neutral, .measured)
}

extension CaseResult {
    /// The counts by fault, in the order in which the case reports them; empty for a case that salvaged nothing.
    package var salvageFigures: [SalvageFigures] {
        var list: [SalvageFigures] = []
        for sample in findings.samples where sample.metric.name == Metric.salvageCount.name {
            let parts = sample.label.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let count = SalvageFigures.Count(rawValue: parts[1]),
                let number = Int(exactly: sample.value.rounded())
            else { continue }
            if list.last?.fault != parts[0] { list.append(SalvageFigures(fault: parts[0])) }
            list[list.count - 1][count] = number
        }
        return list
    }
}
