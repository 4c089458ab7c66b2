import RunRecords

/// The result of a run in one sentence: the last line of `assay run`.
struct RunAnswer {
    let digest: RunDigest

    /// Promises first, then unanswered cases, then speed.
    var text: String {
        let counts = digest.allCounts
        var parts = [promises(counts)]
        let open = digest.results.count { $0.verdict == .inconclusive }
        if open > 0 { parts.append("\(Figure.count(open, "case", gap: " ")) without an answer") }
        if !digest.missing.isEmpty { parts.append("\(Figure.count(digest.missing.count, "case", gap: " ")) not run") }
        parts += digest.headlines.prefix(1).map { headline in
            "\(headline.engine) beside the best peer: \(headline.standing(gap: " "))"
        }
        return parts.filter { !$0.isEmpty }.joined(separator: "; ")
    }

    var style: TextStyle {
        let counts = digest.allCounts
        if counts.violations > 0 { return .bad }
        let isOpen = counts.inconclusive + counts.suspected + counts.harnessErrors + digest.missing.count > 0
        return isOpen || counts.cases == 0 ? .doubt : .good
    }

    private func promises(_ counts: VerdictCounts) -> String {
        if counts.cases == 0 { return "no case was run" }
        let failed = counts.harnessErrors + counts.suspected
        let failure =
            "the harness failed, or may have, in \(Figure.count(failed, "case", gap: " ")): "
            + "no engine is judged by them"
        guard counts.violations > 0 else {
            if failed > 0 { return failure }
            let decided = digest.results.filter { $0.verdict != .inconclusive }
            let trials = decided.reduce(0) { $0 + $1.trialCount }
            if decided.isEmpty { return "nothing was decided" }
            return "every promise was kept in "
                + (trials == 0
                    ? "the \(Figure.count(decided.count, "case", gap: " ")) that ran"
                    : "the \(Figure.count(trials, "trial", gap: " ")) that ran")
        }
        var engines: [String] = []
        for result in digest.results where result.verdict.isViolation && !engines.contains(result.test.engine) {
            engines.append(result.test.engine)
        }
        let names = engines.joined(separator: ", ")
        let known = counts.known == 0 ? "" : " (\(counts.known) known before)"
        let cases = Figure.count(counts.violations, "case", gap: " ")
        return "\(names) broke a promise in \(cases)\(known)" + (failed == 0 ? "" : "; " + failure)
    }
}
