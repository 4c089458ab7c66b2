import RunRecords

/// The summary of a run as tables in Markdown, as GitHub, GitLab and others show it.
struct MarkdownReport {
    let digest: RunDigest

    var text: String {
        let header = digest.run.header
        var lines = ["**\(Self.escaped(RunAnswer(digest: digest).text))**", ""]
        lines.append(
            "`\(Self.code(header.command))`, seed \(header.seed), "
                + "\(Figure.count(header.cases.count, "case", gap: " ")), commit \(Self.code(header.commit))")
        for warning in digest.warnings { lines += ["", "> \(Self.escaped(warning))"] }
        let terminal = TerminalReport(digest: digest, width: 4_000, colour: false)
        lines += [""] + verdicts + causes(terminal)
        if let peers = terminal.peerTable { lines += section(TerminalReport.peerQuestion, [peers]) }
        for question in Question.allCases where question != .fast || terminal.peerTable == nil {
            lines += section(question.text, terminal.tables(of: question))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var verdicts: [String] {
        var lines = ["| engine | version | cases | trials | promises broken | without an answer |"]
        lines.append("|---|---|---:|---:|---:|---:|")
        for engine in digest.engines {
            let results = digest.results(of: engine)
            if results.isEmpty { continue }
            let counts = VerdictCounts(results)
            let version = digest.run.header.engines.first { $0.name == engine }?.version ?? ""
            let numbers = [counts.cases, counts.trials, counts.violations, counts.inconclusive].map { "\($0)" }
            lines.append("| " + ([engine, version].map(Self.escaped) + numbers).joined(separator: " | ") + " |")
        }
        return lines
    }

    /// Why the exit status is 2 or 3: a sentence per failure, and a line per reason for having no answer.
    private func causes(_ terminal: TerminalReport) -> [String] {
        let findings = [Verdict.violation, .known].flatMap(digest.findings).map {
            "\(terminal.sentence($0))\($0.isKnown ? "; listed as known" : "")"
        }
        let reasons = digest.unanswered.map(terminal.words)
        var items = Self.first(findings, "more broken promise") + Self.first(reasons, "more reason for no answer")
        if !digest.missing.isEmpty { items.append("\(Figure.count(digest.missing.count, "case", gap: " ")) not run") }
        return (items.isEmpty ? [] : [""]) + items.map { "- \(Self.escaped($0))" }
    }

    private static func first(_ items: [String], _ noun: String) -> [String] {
        let left = items.count - mostItems
        return items.prefix(mostItems) + (left > 0 ? [Figure.count(left, noun, gap: " ")] : [])
    }

    private static let mostItems = 20

    private func section(_ title: String, _ tables: [TextTable]) -> [String] {
        let filled = tables.filter { $0.rows.count > 1 }
        if filled.isEmpty { return [] }
        return ["", "### \(Self.escaped(title))"] + filled.flatMap { [""] + Self.lines($0) }
    }

    /// The first row is the head. An empty first cell gets the text of the cell above it.
    private static func lines(_ table: TextTable) -> [String] {
        let count = table.rows.map(\.count).max() ?? 0
        var lines: [String] = []
        var above = ""
        for (index, row) in table.rows.enumerated() {
            var cells = row.map { escaped($0.text) } + Array(repeating: "", count: count - row.count)
            if index > 0, row.count > 1, cells[0].isEmpty { cells[0] = above }
            above = cells[0]
            lines.append("| " + cells.joined(separator: " | ") + " |")
            if index == 0 {
                let sides = (0..<count).map { $0 < table.leftColumns ? "---" : "---:" }
                lines.append("|" + sides.joined(separator: "|") + "|")
            }
        }
        return lines
    }

    /// Escapes line ends, bars and markup, since a row is one line and a bar ends a cell.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "|", "\\", "`", "*", "_", "[", "]", "<", ">", "#", "~": escaped += "\\\(character)"
            case "\n", "\r", "\r\n", "\t": escaped += " "
            default: escaped.append(character)
            }
        }
        return escaped
    }

    private static func code(_ text: String) -> String { String(text.filter { $0 != "`" && !$0.isNewline }) }
}

extension Reporting {
    /// The summary as Markdown: the answer, a row per engine, and a table per question.
    package static func markdown(_ run: Run) -> String {
        MarkdownReport(digest: RunDigest(run)).text
    }
}
