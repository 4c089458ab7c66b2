import RunRecords

/// Sums up a run in one sentence, the last line that `assay run` prints. It has the words with which the page begins.
struct RunAnswer {
    private let answer: PageAnswer

    init(digest: RunDigest) {
        answer = PageAnswer(digest: digest, gap: " ")
    }

    /// Promises first, then cases without an answer, then speed.
    var text: String {
        let parts =
            [answer.promises, answer.promiseCounts, answer.unprotected, answer.failure, answer.open]
            + answer.standings.prefix(1)
        return parts.filter { !$0.isEmpty }.joined(separator: "; ")
    }

    var style: TextStyle {
        switch answer.tone {
        case .bad: .bad
        case .doubt: .doubt
        case .good: .good
        }
    }
}
