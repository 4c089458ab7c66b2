import RunRecords

/// The result of a gate as Markdown: the verdict, then the figures that are not kept. Kept ones are only counted.
struct GateMarkdown {
    let report: GateReport

    /// The most rows of a table: some CI systems drop a summary that is too long.
    private static let rows = 200

    var text: String {
        var lines = ["## assay gate: \(GateWords.verdict(report))", ""]
        lines.append("Plan `\(code(report.plan))` beside the baseline `\(code(report.baseline))`.")
        lines += [""] + GateFinding.Decision.allCases.map { "- \(GateWords.word($0)): \(report.count($0))" }
        for remark in report.remarks { lines += ["", "> \(cell(remark))"] }
        lines += table("Exceeded", .exceeded) + table("Undecided", .undecided) + table("Skipped", .skipped)
        return lines.joined(separator: "\n") + "\n"
    }

    private func table(_ title: String, _ decision: GateFinding.Decision) -> [String] {
        let findings = report.findings.filter { $0.decision == decision }
        guard !findings.isEmpty else { return [] }
        var lines = ["", "### \(title)", "", "| case | figure | budget | baseline | here | why |"]
        lines.append("|---|---|---|---:|---:|---|")
        for finding in findings.prefix(Self.rows) {
            let cells = [
                finding.test?.title ?? "", finding.figure?.description ?? finding.budget.key.description,
                finding.budget.text, range(finding.expected), range(finding.found), finding.reason,
            ]
            lines.append("| " + cells.map(cell).joined(separator: " | ") + " |")
        }
        if findings.count > Self.rows { lines += ["", "and \(findings.count - Self.rows) more"] }
        return lines
    }

    private func range(_ range: ObservedRange?) -> String {
        guard let range else { return Figure.none }
        let low = GateNumber.text(range.low)
        return range.low == range.high ? low : "\(low) to \(GateNumber.text(range.high))"
    }

    /// Escapes line ends, bars and markup, since a row is one line and a bar ends a cell.
    private func cell(_ text: String) -> String {
        var cell = ""
        for character in text.prefix(400) {
            switch character {
            case "|", "\\", "`", "*", "_", "[", "]", "<", ">", "#", "~": cell += "\\\(character)"
            case "\n", "\r", "\r\n", "\t": cell += " "
            default: cell.append(character)
            }
        }
        return cell
    }

    private func code(_ text: String) -> String {
        String(text.filter { $0 != "`" && !$0.isNewline })
    }
}
