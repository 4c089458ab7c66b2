import Files
import Harness
import Reporting
import RunRecords
import Statistics

/// The progress messages of a search for a slower revision.
struct BisectText {
    let width: Int

    private func percent(_ ratio: Double) -> String {
        let tenths = Int((ratio * 1_000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    private func ratio(_ value: Double) -> String {
        let thousandths = Int((min(value, 999) * 1_000).rounded())
        let rest = String(thousandths % 1_000)
        return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    private func shortened(_ text: String, _ room: Int) -> String {
        text.count > room ? text.prefix(max(8, room - 1)) + "\u{2026}" : text
    }

    private func steps(_ search: RevisionSearch) -> String {
        search.next == nil ? "" : "; \(search.candidates.count) left, at most \(search.stepsLeft) more to measure"
    }

    func opening(_ record: BisectRecord, _ test: Case) -> String {
        let search = RevisionSearch(count: record.revisions.count)
        let count = record.revisions.count
        let lines = [
            "assay bisect  \(test.scenario) \(test.engine) \(test.parameterText)",
            "\(count == 1 ? "1 revision" : "\(count) revisions"), at most \(search.stepsLeft) to measure between the "
                + "ends; \(record.pairs) pairs, threshold \(percent(record.threshold)), seed \(record.seed)",
            "good  \(shortened(record.good.text, width - 6))", "bad   \(shortened(record.bad.text, width - 6))",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func line(_ measured: BisectStep.Measured) -> String {
        let (later, earlier) = measured.beside == .good ? ("it", "the good end") : ("the bad end", "it")
        guard let comparison = measured.comparison else {
            return "  \(later) beside \(earlier): \(measured.finding.rawValue)"
        }
        var text =
            "  \(later) beside \(earlier): \(ratio(comparison.ratio)) (\(ratio(comparison.low)) .. "
            + "\(ratio(comparison.high))), \(measured.finding.rawValue)"
        if measured.finding == .inconclusive {
            text += "; a difference of \(percent(comparison.smallestVisible)) would have shown"
        }
        return text
    }

    func ends(_ step: BisectStep) -> String {
        var text = "\nthe bad end\n" + step.measured.map(line).joined(separator: "\n") + "\n"
        if !step.reason.isEmpty { text += "  \(step.reason)\n" }
        return text
    }

    /// - Parameter search: with the step's mark in it.
    func step(_ step: BisectStep, _ revision: Revision, _ search: RevisionSearch) -> String {
        var lines = ["", shortened(revision.text, width)] + step.measured.map(line)
        if !step.reason.isEmpty { lines.append("  \(step.reason)") }
        lines.append("  \(step.mark.rawValue)\(steps(search))")
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Ends

    func nothing(_ ends: BisectStep, _ record: BisectRecord) -> String {
        let finding = ends.measured.first?.finding ?? .inconclusive
        let remedy =
            switch finding {
            case .faster: "the bad end is faster: exchange --good and --bad"
            case .same: "both are equal within the threshold"
            case .inconclusive, .slower:
                "the machine was too unsteady to tell: --pairs 80, or a quieter machine, may show it"
            }
        return "no search: the rounds do not show \(record.bad.name) to be slower than \(record.good.name); \(remedy)"
    }

    func found(_ conclusion: RevisionSearch.Conclusion, _ record: BisectRecord, _ steps: [BisectStep]) -> String {
        switch conclusion {
        case .first(let place):
            return "the first slower revision is \(record.revisions[place].text)"
        case .among(let range):
            let list = record.revisions[range].map { revision in
                let isSkipped = steps.contains { $0.commit == revision.commit && $0.mark == .skipped }
                return "  \(shortened(revision.text, width - 14))\(isSkipped ? "  skipped" : "")"
            }
            return "the first slower revision is one of these \(range.count)\n" + list.joined(separator: "\n")
        }
    }

    /// - Parameter first: the first slower revision, if there is exactly one.
    func closing(_ text: String, _ record: BisectRecord, test: Case, directory: String, first: Int?) -> String {
        var lines = ["", "VERDICT  \(text)", "Steps  \(directory)/\(BisectStep.file)   Raw  steps/"]
        if let first {
            let before = first == 0 ? record.good : record.revisions[first - 1]
            let parameters = test.parameters.map { " --param \(ShellWord.quoted("\($0.name)=\($0.value)"))" }.joined()
            let dataset = test.dataset.isEmpty ? "" : " --dataset \(ShellWord.quoted(test.dataset))"
            lines.append(
                "Look again  assay ab --a-ref \(before.shortCommit) --b-ref \(record.revisions[first].shortCommit)"
                    + " --scenario \(test.scenario) --engine \(test.engine)\(dataset)"
                    + (test.size > 0 ? " --size \(test.size)" : "") + parameters)
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
