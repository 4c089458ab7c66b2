import RunRecords
import Statistics

/// Sums up a run: the question that it answers, the answer, and the quality of the answer. The page begins with
/// these words, and the terminal ends with them.
struct PageAnswer {
    /// How good the answer is. Each level has a sign, and the sentence says the same, so that colour is never the only
    /// mark.
    enum Tone: String {
        /// An engine broke a promise, known or not.
        case bad
        /// No promise was broken, and a question of the plan has no answer.
        case doubt
        case good

        var symbol: String {
            switch self {
            case .bad: "\u{2717}"
            case .doubt: "!"
            case .good: "\u{2713}"
            }
        }
    }

    /// The main question of a run.
    enum Subject {
        case speed, growth
        case question(Question)
    }

    let digest: RunDigest
    /// The space between a number and its noun; a terminal gets a plain space.
    var gap = Figure.gap

    var tone: Tone {
        if digest.results.contains(where: \.verdict.isViolation) { return .bad }
        return digest.results.isEmpty || digest.unansweredCount > 0 ? .doubt : .good
    }

    /// Growth, if most figures were measured over size; speed, if engines were measured in rounds; otherwise the
    /// question that most cases answer.
    var subject: Subject {
        let measured = Set(digest.headlines.flatMap { $0.lines.map(\.figures.subject.scenario) })
        let scaled = Set(digest.scaleFigures.map(\.subject.scenario))
        if !scaled.isEmpty, scaled.count * 2 > measured.count { return .growth }
        if !measured.isEmpty { return .speed }
        let counts = Question.allCases.map { question in
            (question, digest.results(for: question).count + digest.missingCount(of: question))
        }
        // Of questions with equally many cases, the first.
        let most = counts.reduce(counts[0]) { $1.1 > $0.1 ? $1 : $0 }
        return .question(most.0)
    }

    /// The subject, if it is one of the questions that a plan asks; nil for speed in rounds and for growth.
    var planQuestion: Question? {
        if case .question(let question) = subject { question } else { nil }
    }

    /// The question of the plan; without one, that of the subject.
    var question: String {
        let planned = digest.run.header.question
        if !planned.isEmpty { return planned }
        switch subject {
        case .speed:
            let name = digest.headlines.first.map { EngineName.words(String($0.engine.prefix { $0 != "-" })) } ?? ""
            return "How fast is \(name) beside \(EngineName.list(digest.leadingPeers))?"
        case .growth: return "How does it grow with the size?"
        case .question(let question): return question.text
        }
    }

    // MARK: Promises

    /// `Every promise was kept in the 4 212 trials that ran`, or which engines broke one.
    var promises: String {
        if digest.results.isEmpty { return "No case was run" }
        let counts = digest.allCounts
        if counts.violations > 0 {
            func broken(_ verdict: Verdict) -> [String] {
                digest.engines.filter { digest.results(of: $0).contains { $0.verdict == verdict } }
            }
            let (new, known) = (broken(.violation), broken(.known))
            if known.isEmpty { return "\(EngineName.list(new)) broke a promise" }
            let listed = "\(EngineName.list(known)) broke a promise in a way that is listed as known"
            return new.isEmpty ? listed : "\(EngineName.list(new)) broke a promise; \(listed)"
        }
        let ran = digest.results.filter { Self.isConcluded($0) }
        if ran.isEmpty {
            return digest.results.contains(where: RunDigest.isUnanswered)
                ? "No case came to a conclusion" : "No engine could run a case"
        }
        let trials = ran.reduce(0) { $0 + $1.trialCount }
        let scope = trials > 0 ? count(trials, "trial") : count(ran.count, "case")
        return "Every promise was kept in the \(scope) that ran"
    }

    /// Whether a case shows if the engine keeps its promises: it ran, and has an answer.
    static func isConcluded(_ result: CaseResult) -> Bool {
        let shown = Standing.judged(result.verdict).shown
        return shown != .unanswered && shown != .skipped
    }

    /// `8 cases ended badly where the engine promises nothing (SQLite 3, LMDB 5)`; empty if there are none.
    var unprotected: String {
        let counts = digest.engines.map { engine in
            (engine, digest.results(of: engine).count { $0.verdict == .unpromised })
        }.filter { $0.1 > 0 }
        if counts.isEmpty { return "" }
        let names = counts.map { "\(EngineName.words($0)) \(Figure.grouped($1, gap: gap))" }.joined(separator: ", ")
        let cases = count(counts.reduce(0) { $0 + $1.1 }, "case")
        return "\(cases) ended badly where the engine promises nothing (\(names))"
    }

    /// `13 violations (of safety): 3 new, 10 listed as known`. Only new ones count for the exit status.
    var promiseCounts: String {
        let counts = digest.allCounts
        if counts.violations == 0 { return "" }
        let new = counts.violations - counts.known
        return "\(count(counts.violations, "violation")) (\(counts.kindWords(gap: gap))): "
            + "\(Figure.grouped(new, gap: gap)) new, \(Figure.grouped(counts.known, gap: gap)) listed as known"
    }

    /// `the harness failed, or may have, in 2 cases: no engine is judged by them`; empty if it did not.
    var failure: String {
        let counts = digest.allCounts
        let failed = counts.harnessErrors + counts.suspected
        return failed == 0
            ? "" : "the harness failed, or may have, in \(count(failed, "case")): no engine is judged by them"
    }

    /// `67 of 235 cases have no answer`; empty if all have one.
    var open: String {
        let open = digest.unansweredCount
        if open == 0 { return "" }
        let all = digest.results.count + digest.missing.count
        return "\(Figure.grouped(open, gap: gap)) of \(count(all, "case")) \(open == 1 ? "has" : "have") no answer"
    }

    private func count(_ number: Int, _ noun: String) -> String { Figure.count(number, noun, gap: gap) }

    // MARK: Figures

    /// `Strata storage, speed: ahead of the best peer in 8 of 40 figures, behind in 23`: speed first, bytes apart.
    var standings: [String] {
        stands.map { "\(EngineName.words($0.figures.engine)), \($0.what): \($0.figures.sentence(gap: gap))" }
    }

    /// The decisions of the rounds for each engine that the run is about. Speed is apart from bytes and other costs,
    /// which answer another question.
    var stands: [(figures: HeadlineFigures, what: String)] {
        let headlines = digest.headlines
        let stands = headlines.map { ($0.times, "speed") } + headlines.map { ($0.costs, "bytes and other costs") }
        return stands.filter { !$0.0.lines.isEmpty }
    }
}

extension RunDigest {
    /// The libraries of the peers of the headline's engine.
    var leadingPeers: [String] { Self.unique(sides.peers.map { String($0.prefix { $0 != "-" }) }) }
}

extension HeadlineFigures {
    /// Only the figures of speed, since bytes and other costs answer another question.
    var times: HeadlineFigures {
        HeadlineFigures(
            engine: engine, lines: lines.filter(\.figures.measure.kind.isTime),
            once: once.filter(\.figures.measure.kind.isTime), doubtfulCount: doubtfulCount,
            withheldCount: withheldCount)
    }

    /// The figures of bytes and other costs. They are never doubtful or withheld: only claims of speed are. Counts of
    /// outcomes, which no round repeats, are not among them.
    var costs: HeadlineFigures {
        HeadlineFigures(
            engine: engine, lines: lines.filter { !$0.figures.measure.kind.isTime },
            once: [], doubtfulCount: 0, withheldCount: 0)
    }

    /// `ahead of the best peer in 8 of 40 figures, behind in 23, the same in 2, open in 7`; the last two are left out
    /// if they are 0.
    func sentence(gap: String = Figure.gap) -> String {
        func words(_ decision: Decision) -> String { Figure.grouped(count(decision), gap: gap) }
        let rest = [("the same", Decision.same), ("open", .open)].filter { count($0.1) > 0 }
        return "ahead of the best peer in \(words(.ahead)) of \(Figure.count(lines.count, "figure", gap: gap)), behind "
            + "in \(words(.behind))" + rest.map { ", \($0.0) in \(words($0.1))" }.joined()
    }

    /// The best and the worst figures, at most `most` of each, ordered by ratio; all, if few more are left.
    func ends(_ most: Int) -> [Line] {
        lines.count <= 2 * most + 4 ? lines : Array(lines.prefix(most) + lines.suffix(most))
    }
}
