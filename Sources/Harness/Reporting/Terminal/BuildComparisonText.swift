import RunRecords
import Statistics

/// A comparison of two builds for a terminal. On 80 columns, only a line with a path is longer.
struct BuildComparisonText: WrappingText {
    let comparison: BuildComparison
    let width: Int
    let colour: Bool

    /// The width after the two columns of figures; the name takes the rest.
    private static let ratioWidth = 25
    private static let figureWidth = 10

    var text: String {
        var lines = opening
        for compared in comparison.cases { lines += [""] + self.lines(compared) }
        if !comparison.refused.isEmpty {
            lines += ["", styled("Left out", .strong)]
            lines += comparison.refused.flatMap { wrapped("\(name($0.test)): \($0.reason)", lead: "  ", hang: 4) }
        }
        return (lines + [""] + closing).joined(separator: "\n") + "\n"
    }

    private func styled(_ text: String, _ style: TextStyle) -> String {
        style.applied(to: text, colour: colour)
    }

    // MARK: Opening and closing

    private var opening: [String] {
        let threshold = Figure.percent(comparison.threshold, gap: " ")
        let cases = Figure.count(comparison.cases.count, "case", gap: " ")
        var lines = [
            "assay ab  \(cases), \(comparison.pairs) pairs, threshold \(threshold), seed \(comparison.header.seed)"
        ]
        lines += [line("A", comparison.a), line("B", comparison.b)]
        lines += comparison.header.warnings.flatMap { wrapped($0, lead: "WARNING  ", .doubt, hang: 9) }
        return lines
    }

    private func line(_ name: String, _ side: BuildComparison.Side) -> String {
        let build = side.build
        let facts = [build.isRelease ? "release" : "DEBUG", build.hasZoo ? "ZOO" : "", build.digest]
        let tail = "  " + facts.filter { !$0.isEmpty }.joined(separator: " ")
        let room = max(20, width - tail.count - 3)
        // A path is shortened at its beginning, the name of a revision at its end.
        let isLong = side.path.count > room
        let path =
            side.revision.isEmpty
            ? (isLong ? "\u{2026}" + side.path.suffix(room - 1) : side.path)
            : TextTable.shortened(side.revision, to: room)
        return "\(name)  \(path)\(tail)"
    }

    private var closing: [String] {
        let counts = SideComparison.Finding.allCases.compactMap { finding -> String? in
            let count = comparison.cases.filter { $0.finding == finding }.count
            return count == 0 ? nil : "\(finding.rawValue) in \(Figure.count(count, "case", gap: " "))"
        }
        let words = counts.isEmpty ? "nothing was compared" : "B is " + counts.joined(separator: ", ")
        return [
            "\(styled("VERDICT", .strong))  \(words)",
            "Report  \(comparison.directory)/ab.html   Numbers  ab.csv, ab.json   Raw  measurements.jsonl",
        ]
    }

    // MARK: Cases

    private func name(_ test: Case) -> String {
        var words = [test.scenario, test.engine]
        if !test.dataset.isEmpty {
            words.append(
                test.size > 0 ? "\(test.dataset) \(Figure.grouped(test.size, gap: " "))" : test.dataset)
        }
        if !test.parameters.isEmpty { words.append(test.parameterText) }
        if test.durability != .full { words.append(test.durability.rawValue) }
        return words.joined(separator: "  ")
    }

    private func lines(_ compared: ComparedCase) -> [String] {
        var lines = wrapped(name(compared.test), hang: 2)
        for (index, batch) in compared.batches.enumerated() {
            let judged = batch.judged
            let measure = Measure(judged.name)
            let figures = [judged.medianA, judged.medianB].map { padded(measure.text($0, gap: " "), Self.figureWidth) }
            let title = (index == 0 ? "" : "again: ") + measure.words
            lines.append(row(title, figures.joined(separator: " "), judged.measured))
            let blank = String(repeating: " ", count: 2 * Self.figureWidth + 1)
            lines.append(styled(row("A against itself", blank, judged.control), .faint))
        }
        let visible = compared.batches.first?.judged.measured?.smallestVisible
        let finding = compared.finding.rawValue.uppercased()
        let lead = "  \(finding)" + (compared.reason.isEmpty ? "" : ": ")
        lines += wrapped(compared.reason, lead: lead, style(compared.finding), hang: 4)
        if compared.finding == .inconclusive, compared.failure == nil, let visible {
            let percent = Figure.percent(visible, gap: " ")
            lines.append("  a difference of \(percent) would have been found 9 times of 10")
        }
        return lines + differences(compared)
    }

    /// Name, figures, ratio with its interval, and the decision.
    private func row(_ title: String, _ figures: String, _ comparison: SideComparison?) -> String {
        let room = max(12, width - 2 - figures.count - 1 - Self.ratioWidth - 14)
        let start = "  " + left(TextTable.shortened(title, to: room), room) + figures + " "
        guard let comparison else { return start + "too few pairs" }
        let interval = "\(fixed(comparison.low)) .. \(fixed(comparison.high))"
        return start + left(padded(fixed(comparison.ratio), 6) + "  " + interval, Self.ratioWidth)
            + comparison.finding.rawValue
    }

    /// Other figures that differ beyond doubt, but take no part in the decision.
    private func differences(_ compared: ComparedCase) -> [String] {
        compared.hints.prefix(6).flatMap { wrapped("not judged: \($0.sideWords(gap: " "))", lead: "  ", hang: 4) }
    }

    private func style(_ finding: SideComparison.Finding) -> TextStyle {
        switch finding {
        case .slower: .bad
        case .faster, .same: .good
        case .inconclusive: .doubt
        }
    }

    private func fixed(_ ratio: Double) -> String {
        guard ratio.isFinite, ratio < 1_000 else { return Figure.none }
        let thousandths = Int((ratio * 1_000).rounded())
        let rest = String(thousandths % 1_000)
        return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    /// Right-aligned in its column.
    private func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
