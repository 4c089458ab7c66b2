import Harness
import RunRecords

/// The inputs and answers of timed batches, to be checked after the measurement.
///
/// An answer is a digest of everything the batch read, which the loop computes in any case, or a count: the check costs
/// no measured time. Inputs are kept until then, since an oracle that reads its rows between two batches would evict
/// those of the engine from the caches.
struct TimedAnswers<Asked, Answer: Equatable> {
    private var batches: [(asked: Asked, answer: Answer)] = []

    mutating func note(_ asked: Asked, _ answer: Answer) { batches.append((asked, answer)) }

    /// One trial for all batches, which names the first wrong one.
    func judge(_ name: String, _ report: CaseReport, expected: (Asked) -> Answer) {
        var wrong: (place: Int, expected: Answer, got: Answer)?
        var wrongCount = 0
        for (place, batch) in batches.enumerated() {
            let right = expected(batch.asked)
            if right == batch.answer { continue }
            wrongCount += 1
            wrong = wrong ?? (place, right, batch.answer)
        }
        let detail = wrong.map { wrong in
            "\(wrongCount) of \(batches.count) timed batches are wrong, the first is number \(wrong.place + 1): "
                + "expected \(wrong.expected), got \(wrong.got)"
        }
        report.add(
            Trial(
                address: FaultAddress(text: name), outcome: detail == nil ? .correct : .silentlyWrong,
                detail: detail ?? ""))
    }
}

/// Counts passes that have the same right answer, and keeps the first wrong one. It costs one comparison per pass over
/// a table.
struct PassAnswers<Answer: Equatable> {
    private var count = 0
    private var wrongCount = 0
    private var firstWrong: (pass: Int, expected: Answer, got: Answer)?

    @inline(__always)
    mutating func note(_ got: Answer, expected: Answer) {
        count += 1
        if got != expected { keep(got, expected) }
    }

    @inline(never)
    private mutating func keep(_ got: Answer, _ expected: Answer) {
        wrongCount += 1
        firstWrong = firstWrong ?? (count, expected, got)
    }

    /// One trial for all passes, which names the first wrong one.
    func judge(_ name: String, _ report: CaseReport) {
        let detail = firstWrong.map { wrong in
            "\(wrongCount) of \(count) timed passes are wrong, the first is number \(wrong.pass): "
                + "expected \(wrong.expected), got \(wrong.got)"
        }
        report.add(
            Trial(
                address: FaultAddress(text: name), outcome: detail == nil ? .correct : .silentlyWrong,
                detail: detail ?? ""))
    }
}
