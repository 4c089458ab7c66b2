import Measuring
import Testing

@testable import RunRecords

/// The rounds of a plan last as long as its budget, so the last round may be cut.
@Suite struct CutRoundTests {
    private func round(_ number: Int, _ side: Turn.Side = .measured, _ change: (inout CaseResult) -> Void = { _ in })
        -> CaseResult
    {
        var result = CaseResult(test: RunDirectoryTests.result(1).0.test, verdict: .pass)
        result.turn = Turn(round: number, side: side)
        result.samples = [Sample(.rowsPerSecond, Double(number), statistic: "median", count: 1)]
        change(&result)
        return result
    }

    private func cut(_ number: Int, _ side: Turn.Side = .measured) -> CaseResult {
        round(number, side) {
            $0.isCut = true
            $0.verdict = .inconclusive
            $0.samples[0].value = 1_000
        }
    }

    @Test("six complete rounds decide a case, whatever was cut after them")
    func enough() throws {
        let merged = try #require(CaseResult.merged((1...6).map { round($0) } + [cut(7), cut(8)]))
        #expect(merged.verdict == .pass && !merged.isCut)
        #expect(merged.samples.map(\.value) == [3.5])
    }

    @Test("five complete rounds decide no case, and neither does a side with five")
    func tooFew() throws {
        #expect(CaseResult.merged((1...5).map { round($0) } + [cut(6)])?.verdict == .inconclusive)
        let controls = (1...5).map { round($0, .control) } + [cut(6, .control)]
        #expect(CaseResult.merged((1...6).map { round($0) } + controls)?.verdict == .inconclusive)
    }

    @Test("a violation in a cut round counts")
    func violation() throws {
        let broken = round(7) {
            $0.isCut = true
            $0.verdict = .violation
        }
        #expect(CaseResult.merged((1...6).map { round($0) } + [broken])?.verdict == .violation)
    }
}
