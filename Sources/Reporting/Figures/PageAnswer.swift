import RunRecords
import Statistics

/// The result of a run: its main question, the answer, and how good the answer is.
struct PageAnswer {
    /// Each level has a sign, and the sentence says the same, so that colour is never the only mark.
    enum Tone: String {
        /// Any engine broke a promise, known or not.
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

    var tone: Tone {
        if digest.results.contains(where: \.verdict.isViolation) { return .bad }
        return digest.results.isEmpty || digest.unansweredCount > 0 ? .doubt : .good
    }

    /// Growth if most figures were measured over size; speed if engines were measured in rounds; else the question that
    /// most cases answer.
    var subject: Subject {
        let measured = Set(digest.headlines.flatMap { $0.lines.map(\.figures.subject.scenario) })
        let scaled = Set(digest.scaleFigures.map(\.subject.scenario))
        if !scaled.isEmpty, scaled.count * 2 > measured.count { return .growth }
        if !measured.isEmpty { return .speed }
        let counts = Question.allCases.map { question in (question, digest.results(for: question).count) }
        // The first of equals.
        let most = counts.reduce(counts[0]) { $1.1 > $0.1 ? $1 : $0 }
        return .question(most.0)
    }

    var question: String {
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
        let counts = digest.allCounts
        if digest.results.isEmpty { return "No case was run" }
        guard counts.violations > 0 else {
            let answered = digest.results.filter { Standing.judged($0.verdict).shown != .unanswered }
            let trials = answered.reduce(0) { $0 + $1.trialCount }
            if trials == 0 { return "No case came to a conclusion" }
            let unprotected = counts.unpromised
            return "Every promise was kept in the \(Figure.count(trials, "trial")) that ran"
                + (unprotected == 0
                    ? "" : "; in \(Figure.count(unprotected, "case")) data was damaged that no promise protects")
        }
        let broken = digest.engines.filter { engine in
            digest.results(of: engine).contains(where: \.verdict.isViolation)
        }
        return "\(EngineName.list(broken)) broke a promise"
    }

    /// `13 violations (of safety): 3 new, 10 listed as known`: only new ones count for the exit status.
    var promiseCounts: String {
        let counts = digest.allCounts
        if counts.violations == 0 { return "" }
        let new = counts.violations - counts.known
        return "\(Figure.count(counts.violations, "violation")) (\(counts.kindWords())): \(Figure.grouped(new)) new, "
            + "\(Figure.grouped(counts.known)) listed as known"
    }

    /// `67 of 235 cases have no answer`; empty if all have one.
    var open: String {
        let count = digest.unansweredCount
        if count == 0 { return "" }
        let all = digest.results.count + digest.missing.count
        return "\(Figure.grouped(count)) of \(Figure.count(all, "case")) \(count == 1 ? "has" : "have") no answer"
    }
}

extension RunDigest {
    /// The libraries that the headline's engine is compared with, without their tunings.
    var leadingPeers: [String] { Self.unique(sides.peers.map { String($0.prefix { $0 != "-" }) }) }
}

extension HeadlineFigures {
    /// Only the figures of speed, since bytes and other costs answer another question.
    var times: HeadlineFigures {
        HeadlineFigures(
            engine: engine, lines: lines.filter(\.figures.measure.kind.isTime), doubtfulCount: doubtfulCount,
            withheldCount: withheldCount)
    }

    /// Only claims of speed are withheld or doubtful.
    var costs: HeadlineFigures {
        HeadlineFigures(
            engine: engine, lines: lines.filter { !$0.figures.measure.kind.isTime }, doubtfulCount: 0,
            withheldCount: 0)
    }

    /// `ahead of the best peer in 8 of 40 figures, behind in 23, the same in 2, open in 7`; of the last two only those
    /// that occur.
    var sentence: String {
        let all = Figure.count(lines.count, "figure")
        let rest = [("the same", count(.same)), ("open", count(.open))].filter { $0.1 > 0 }
        return "ahead of the best peer in \(Figure.grouped(count(.ahead))) of \(all), behind in "
            + Figure.grouped(count(.behind)) + rest.map { ", \($0.0) in \(Figure.grouped($0.1))" }.joined()
    }

    /// The best and the worst, at most `count` of each, ordered by ratio.
    func ends(_ most: Int) -> [Line] {
        lines.count <= 2 * most ? lines : Array(lines.prefix(most) + lines.suffix(most))
    }
}
