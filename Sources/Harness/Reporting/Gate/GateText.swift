import RunRecords

/// The result of a gate for a terminal: exceeded budgets first, then undecided ones, then skipped ones.
struct GateText {
    let report: GateReport
    let width: Int
    let colour: Bool

    /// The most lines for each kind of finding, except for those that fail the gate.
    private static let shown = 20

    var text: String {
        let counts = GateFinding.Decision.allCases.map { decision in
            "\(report.count(decision)) \(GateWords.word(decision))"
        }
        var lines = ["assay gate  plan \(report.plan), baseline \(report.baseline): \(counts.joined(separator: ", "))"]
        lines += report.remarks.flatMap { wrapped($0, lead: "NOTE  ", .doubt, hang: 6) }
        for decision in [GateFinding.Decision.exceeded, .undecided, .skipped, .kept] {
            lines += self.lines(decision)
        }
        let style: TextStyle = report.exitStatus == 0 ? .good : report.exitStatus == 2 ? .bad : .doubt
        lines.append(style.applied(to: "VERDICT", colour: colour) + "  " + GateWords.verdict(report))
        return lines.joined(separator: "\n") + "\n"
    }

    private func lines(_ decision: GateFinding.Decision) -> [String] {
        // An unchanged figure gets no line.
        let findings = report.findings.filter { $0.decision == decision && !(decision == .kept && $0.reason.isEmpty) }
        let style: TextStyle =
            switch decision {
            case .exceeded: .bad
            case .undecided: .doubt
            case .skipped, .kept: .faint
            }
        let limit = decision == .exceeded ? findings.count : Self.shown
        var lines = findings.prefix(limit).flatMap { finding in
            wrapped(
                "\(finding.subject), budget \(finding.budget.text): \(finding.reason)",
                lead: "  \(GateWords.word(decision))  ", style, hang: 4)
        }
        if findings.count > limit { lines.append("  and \(findings.count - limit) more that are like these") }
        return lines
    }

    private func wrapped(_ text: String, lead: String, _ style: TextStyle, hang: Int) -> [String] {
        var words = WrappedText()
        words.add(text)
        return words.lines(width: max(60, width), lead: lead, leadStyle: style, hang: hang, colour: colour)
    }
}

/// The words that all forms of a gate's result have in common.
enum GateWords {
    static func word(_ decision: GateFinding.Decision) -> String {
        switch decision {
        case .kept: "kept"
        case .exceeded: "EXCEEDED"
        case .undecided: "undecided"
        case .skipped: "skipped"
        }
    }

    static func verdict(_ report: GateReport) -> String {
        let figures = Figure.count(report.count(.kept), "figure", gap: " ")
        switch report.exitStatus {
        case 0: return "\(figures) within budget"
        case 2: return "\(Figure.count(report.count(.exceeded), "budget", gap: " ")) exceeded"
        default:
            let undecided = report.count(.undecided)
            return undecided == 0 ? "nothing was decided" : "\(undecided) undecided, \(figures) within budget"
        }
    }
}

extension Reporting {
    /// The result for a terminal of `width` columns.
    package static func terminal(_ report: GateReport, width: Int, colour: Bool) -> String {
        GateText(report: report, width: width, colour: colour).text
    }

    /// JUnit: a suite per case, a test per figure.
    package static func junit(_ report: GateReport) -> String {
        GateJUnit(report: report).text
    }

    /// Markdown for the summary of a CI step: it stays far below the 1 MiB at which some CI systems drop it.
    package static func markdown(_ report: GateReport) -> String {
        GateMarkdown(report: report).text
    }
}
