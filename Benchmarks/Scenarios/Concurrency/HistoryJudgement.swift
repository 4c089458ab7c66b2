import Harness
import History
import RunRecords

/// Adds the findings of a checker of histories to the report of a case.
enum HistoryJudgement {
    /// Judges a history by the level that the engine promises.
    ///
    /// - Parameters:
    ///   - failures: errors during the transactions, by actor.
    ///   - isAll: whether the case is inconclusive when the history is.
    /// - Returns: the verdict of the checker.
    @discardableResult
    static func judge(
        _ history: History, _ failures: [TransactionFailures], _ context: CaseContext, isAll: Bool = true
    ) throws -> HistoryVerdict {
        report(failures, to: context.report)
        let verdict: HistoryVerdict
        do {
            verdict = try HistoryChecker(history, level: context.engine.isolation ?? .snapshot).check()
        } catch {
            throw HarnessError("the history was recorded wrongly: \(error)")
        }
        report(verdict, to: context.report)
        if let reason = reasonForNothing(verdict) {
            if isAll { context.report.inconclusive(reason) } else { context.report.note(reason) }
        }
        return verdict
    }

    /// An engine may refuse a transaction. It must not report damage where there is none, nor return a value that no
    /// transaction wrote.
    private static func report(_ failures: [TransactionFailures], to report: CaseReport) {
        let refusals = Set(failures.flatMap(\.refusals)).sorted()
        for refusal in refusals.prefix(3) { report.note("refused: \(refusal)") }
        if let damage = failures.compactMap(\.damage).first {
            report.add(Trial(address: FaultAddress(text: "damage"), outcome: .detectedAtRead, detail: damage))
            report.note(damage)
        }
        if let unwritten = failures.compactMap(\.unwritten).first {
            report.add(Trial(address: FaultAddress(text: "text"), outcome: .silentlyWrong, detail: unwritten))
            report.note(unwritten)
        }
    }

    /// Adds a trial per anomaly that the level forbids, with the anomaly's name as its address; without any, a single
    /// correct trial, unless the search was cut.
    ///
    /// Anomalies that the level allows are noted, without a verdict.
    private static func report(_ verdict: HistoryVerdict, to report: CaseReport) {
        let forbidden = verdict.forbidden
        for finding in forbidden {
            let text = WitnessText(finding.witness)
            report.add(
                Trial(
                    address: FaultAddress(text: finding.anomaly.rawValue), outcome: outcome(of: finding.anomaly),
                    detail: text.sentences))
            report.note(text.sentences)
            report.add(
                .witness, Double(finding.witness.transactions.count), count: finding.count,
                label: text.timelineRecord.label)
        }
        let cut = "the search for circles ended before it had looked everywhere"
        if verdict.isCut { if forbidden.isEmpty { report.inconclusive(cut) } else { report.note(cut) } }
        if forbidden.isEmpty && !verdict.isCut {
            report.add(Trial(address: FaultAddress(text: "isolation"), outcome: .correct, detail: ""))
        }
        for finding in verdict.findings where !finding.anomaly.isForbidden(at: verdict.level) {
            report.note(
                "\(finding.anomaly.rawValue), which \(verdict.level.rawValue) allows: \(finding.count) at least; "
                    + finding.witness.reasons.joined(separator: " "))
        }
        report.note(
            "\(verdict.committedCount) of \(verdict.transactionCount) transactions committed, "
                + "\(verdict.unknownCount) of unknown fate, \(verdict.overlapCount) ran beside another, "
                + "\(verdict.foreignReads) reads saw what others wrote; judged as \(verdict.level.rawValue)")
    }

    /// Why a history is inconclusive; nil where it is not.
    private static func reasonForNothing(_ verdict: HistoryVerdict) -> String? {
        if verdict.overlapCount == 0 { return "no two transactions overlapped: nothing was concurrent" }
        if verdict.foreignReads == 0 { return "no read saw what another transaction wrote" }
        return nil
    }

    private static func outcome(of anomaly: Anomaly) -> Outcome {
        anomaly == .lostElement || anomaly == .lostUpdate ? .lostCommit : .silentlyWrong
    }
}
