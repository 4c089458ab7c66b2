import Commands
import Harness
import Measuring
import Reporting
import RunRecords

/// Progress on standard error: one live line on a terminal, a line per case otherwise.
final class TerminalProgress: RunObserver {
    private let isLive: Bool
    private let start = MonotonicClock.now()
    /// The lines that estimate the rounds, shown after the title of the run.
    private let plan: [String]
    /// When the last measurement began, and how many are running.
    private var begin: UInt64 = 0
    private var going = 0
    /// For each case, the seconds of its passed measurements with their preparation, if they ran alone.
    private(set) var seconds: [Case: [Double]] = [:]

    init(_ plan: [String]) {
        isLive = Output.isLive
        self.plan = plan
    }

    func runBegins(_ header: RunHeader, measurementCount: Int) {
        let budget = header.budgetSeconds.map { ", at most \(Int($0)) s" } ?? ""
        Output.error(
            "assay \(header.assayVersion)  plan \(header.plan)  seed \(header.seed)  "
                + "\(counted(header.cases.count, "case")), \(counted(measurementCount, "measurement"))\(budget)")
        for warning in header.shownWarnings { Output.error("WARNING  \(warning)") }
        for line in plan { Output.error(line) }
    }

    func measurementBegins(_ test: Case, _ turn: Turn, index: Int, count: Int, secondsLeft: Double?) {
        begin = MonotonicClock.now()
        going += 1
        guard isLive else { return }
        var text = "[\(index)/\(count)] \(name(test, turn))"
        let elapsed = Double(MonotonicClock.now() &- start) / 1e9
        // Estimated from the measurements so far, and never more than the rest of the budget.
        if index > 1 {
            let estimate = elapsed / Double(index - 1) * Double(count - index + 1)
            text += "  about \(Int(min(estimate, max(secondsLeft ?? .infinity, 0)).rounded(.up))) s left"
        }
        Output.progress(text)
    }

    func measurementEnds(_ result: CaseResult, index: Int, count: Int) {
        note(result)
        // A case that the machine cannot run is reported once, not in every round.
        let isSkipped = result.message.hasPrefix("skipped: ") && result.turn == Turn()
        let isNews = [Verdict.violation, .harnessError].contains(result.verdict) || isSkipped
        if isLive && !isNews && index < count { return }
        Output.progress("")
        if isLive && !isNews { return }
        let seconds = (Double(result.durationNanoseconds) / 1e8).rounded() / 10
        var text = "[\(index)/\(count)] \(name(result.test, result.turn)): \(result.verdict.shownWord)"
        if let word = result.outcome?.shownWord, word != Outcome.correct.shownWord { text += ", \(word)" }
        if result.durationNanoseconds > 0 { text += ", \(seconds) s" }
        if result.isCut { text += ", cut by the budget" }
        if isNews && !result.message.isEmpty { text += "\n    \(result.message.prefix(300))" }
        Output.error(text)
    }

    /// Measurements that ran beside others, were cut off or failed do not count: their time is not the case's own.
    private func note(_ result: CaseResult) {
        let isAlone = going == 1
        going -= 1
        guard isAlone, result.verdict == .pass, !result.isCut else { return }
        seconds[result.test, default: []].append(Double(MonotonicClock.now() &- begin) / 1e9)
    }

    func lookEnds(_ look: RoundLook) {
        Output.progress("")
        let decided = look.comparisons - look.open
        var text = "after \(look.rounds) rounds \(decided) of \(look.comparisons) comparisons are decided"
        if let next = look.next, look.goingOn > 0 { text += "; \(look.goingOn) go on to \(next) rounds" }
        if !look.withoutTime.isEmpty {
            text += "; no time for " + look.withoutTime.joined(separator: ", ")
        }
        Output.error(text)
    }

    private func name(_ test: Case, _ turn: Turn) -> String {
        var words = [test.scenario, test.engine]
        if !test.dataset.isEmpty { words.append(test.size > 0 ? "\(test.dataset) \(test.size)" : test.dataset) }
        if !test.parameterText.isEmpty { words.append(test.parameterText) }
        if test.durability != .full { words.append(test.durability.rawValue) }
        if turn.round > 0 { words.append("round \(turn.round + 1)") }
        if turn.side == .control { words.append("control") }
        return words.joined(separator: "  ")
    }
}
