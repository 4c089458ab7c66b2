import RunRecords

extension Verdict {
    /// The word by which reports and commands show the verdict: one of five.
    package var shownWord: String { Standing.judged(self).shown.rawValue }
}

extension Outcome {
    /// The word by which reports and commands show the outcome: one of six.
    package var shownWord: String { ShownOutcome(self).rawValue }

    /// `wrong (silently-wrong)`, where exact outcomes are compared; the exact one is left out if it is the same word.
    package var shownWords: String { shownWord == rawValue ? rawValue : "\(shownWord) (\(rawValue))" }
}

extension CauseGroup {
    /// `26 wrong`, or nothing.
    func countWords(gap: String = Figure.gap) -> String {
        guard let outcome else { return cases.count == 1 ? "" : Figure.count(cases.count, "case", gap: gap) }
        return count <= 1 ? outcome.shownWord : "\(Figure.grouped(count, gap: gap)) \(outcome.shownWord)"
    }
}
