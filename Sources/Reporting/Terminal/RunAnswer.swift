import RunRecords

/// What a run came to, in one sentence: the last line that `assay run` prints. Its words are those that the page begins
/// with.
struct RunAnswer {
    private let answer: PageAnswer

    init(digest: RunDigest) {
        answer = PageAnswer(digest: digest, gap: " ")
    }

    /// Promises first, then unanswered cases, then speed.
    var text: String {
        let parts = [answer.promises, answer.promiseCounts, answer.failure, answer.open] + answer.standings.prefix(1)
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
