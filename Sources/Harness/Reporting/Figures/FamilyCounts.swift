import RunRecords

/// Counts of verdicts, of one family of cases or of all.
struct VerdictCounts: Equatable {
    var cases = 0
    var trials = 0
    /// Violations by what they cost, the known ones included.
    var safety = 0
    var progress = 0
    var suspected = 0
    var harnessErrors = 0
    var inconclusive = 0
    /// Cases that the budget ended early, with any verdict.
    var cut = 0
    var unpromised = 0
    /// The known violations among `violations`.
    var known = 0
    var passed = 0

    var violations: Int { safety + progress }

    init(_ results: [CaseResult]) {
        cases = results.count
        for result in results {
            trials += result.trialCount
            if result.isCut { cut += 1 }
            switch result.verdict {
            case .violation, .known:
                if result.brokenConcern == .safety { safety += 1 } else { progress += 1 }
                if result.verdict == .known { known += 1 }
            case .suspectedHarness: suspected += 1
            case .harnessError: harnessErrors += 1
            case .inconclusive: inconclusive += 1
            case .unpromised: unpromised += 1
            case .pass: passed += 1
            case .notApplicable, .notBuilt: break
            }
        }
    }

    /// `2 of safety, 1 of progress, 1 known`: the two kinds are never added up.
    func concernWords(gap: String = Figure.gap) -> String {
        kindWords(gap: gap) + (known == 0 ? "" : ", \(Figure.grouped(known, gap: gap)) known")
    }

    /// `2 of safety, 1 of progress`, without the known ones.
    func kindWords(gap: String = Figure.gap) -> String {
        if progress == 0 { return "of safety" }
        if safety == 0 { return "of progress" }
        return "\(Figure.grouped(safety, gap: gap)) of safety, \(Figure.grouped(progress, gap: gap)) of progress"
    }

    /// Why the run decides less than planned, with counts; empty if it decides everything.
    func openWords(gap: String = Figure.gap) -> String {
        let parts = [
            suspected == 0 ? "" : "\(Figure.count(suspected, "case", gap: gap)) in which the harness is suspected",
            harnessErrors == 0 ? "" : "\(Figure.count(harnessErrors, "harness error", gap: gap))",
            cut == 0 ? "" : "\(Figure.count(cut, "case", gap: gap)) cut by the budget",
            inconclusive == 0 ? "" : "\(Figure.count(inconclusive, "case", gap: gap)) inconclusive",
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension RunDigest {
    /// All families together.
    var allCounts: VerdictCounts { VerdictCounts(results) }

    /// Each family with cases in the run.
    var familyCounts: [(family: Family, counts: VerdictCounts)] {
        Family.allCases.compactMap { family in
            let own = results.filter { $0.test.family == family }
            return own.isEmpty ? nil : (family, VerdictCounts(own))
        }
    }

    /// The violations of an engine in other families than these, `growth 2, workload 1`; may be empty.
    func violationsElsewhere(_ engine: String, than families: [Family]) -> String {
        familyCounts.compactMap { family, _ -> String? in
            if families.contains(family) { return nil }
            let count = results(of: engine).count { $0.test.family == family && $0.verdict.isViolation }
            return count == 0 ? nil : "\(family.rawValue) \(count)"
        }.joined(separator: ", ")
    }
}
