/// A few transactions drawn over time: the smallest part of a history that shows an anomaly.
///
/// It is stored as the label of a sample, as a ``GridCell`` is: the title, the conclusion, and a part for each
/// transaction, separated by a bar. A broken bar separates the fields of a transaction.
package struct WitnessTimeline: Hashable, Sendable {
    package struct Row: Hashable, Sendable {
        package var name: String
        /// The ranks of its start and its end among all starts and ends, from 0; drawn at equal distances.
        package var start: Int
        /// nil if it is unknown when, or whether, the transaction committed.
        package var end: Int?
        package var operations: String

        package init(name: String, start: Int, end: Int?, operations: String) {
            self.name = name
            self.start = start
            self.end = end
            self.operations = operations
        }
    }

    package var title: String
    package var reasons: String
    package var rows: [Row]

    package init(title: String, reasons: String, rows: [Row]) {
        self.title = title
        self.reasons = reasons
        self.rows = rows
    }

    private static let bar: Character = "|"
    private static let brokenBar: Character = "\u{A6}"

    package var label: String {
        let lines = rows.map { row in
            [row.name, String(row.start), row.end.map { String($0) } ?? "", row.operations]
                .joined(separator: String(Self.brokenBar))
        }
        return ([title, reasons] + lines).joined(separator: String(Self.bar))
    }

    /// nil if the label is not a timeline.
    package init?(label: String) {
        let lines = label.split(separator: Self.bar, omittingEmptySubsequences: false).map(String.init)
        guard lines.count > 2 else { return nil }
        // Ranks are below the number of starts and ends.
        let places = 0..<(2 * (lines.count - 2))
        var rows: [Row] = []
        for line in lines.dropFirst(2) {
            let parts = line.split(separator: Self.brokenBar, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 4, let start = Int(parts[1]), places.contains(start) else { return nil }
            let end = Int(parts[2])
            guard end != nil || parts[2].isEmpty, (start..<places.upperBound).contains(end ?? start) else { return nil }
            rows.append(Row(name: parts[0], start: start, end: end, operations: parts[3]))
        }
        self.init(title: lines[0], reasons: lines[1], rows: rows)
    }
}

extension Metric {
    /// The number of transactions of a witness; its label is a ``WitnessTimeline``.
    package static let witness = Metric("witness", unit: "count", .neutral, .measured)
}

extension CaseResult {
    /// The witnesses that a checker of histories found, for display.
    package var witnesses: [WitnessTimeline] {
        findings.samples.compactMap { $0.metric.name == Metric.witness.name ? WitnessTimeline(label: $0.label) : nil }
    }
}
