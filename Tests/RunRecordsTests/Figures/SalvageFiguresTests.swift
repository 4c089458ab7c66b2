import RunRecords
import Testing

@Suite struct SalvageFiguresTests {
    @Test("a line round-trips, and other text is refused")
    func lines() {
        var figures = SalvageFigures(fault: "zero")
        for (number, count) in SalvageFigures.Count.allCases.enumerated() { figures[count] = number * 7 }
        #expect(SalvageFigures(line: figures.line) == figures)
        for line in ["", "zero", "zero 1 2", figures.line + " 3", figures.line.replacing("7", with: "x")] {
            #expect(SalvageFigures(line: line) == nil, "\(line)")
        }
    }

    @Test("a case's samples give its figures, by fault and in order")
    func samples() {
        var result = CaseResult(
            test: Case(
                scenario: "s", family: .corruption, engine: "e", dataset: "", size: 0, parameters: [], seed: .init(1),
                durability: .full), verdict: .pass)
        var first = SalvageFigures(fault: "zero")
        first[.copies] = 3
        first[.rowsMissing] = 40
        var second = SalvageFigures(fault: "bit")
        second[.trueClaims] = 2
        for figures in [first, second] {
            for count in SalvageFigures.Count.allCases {
                result.samples.append(
                    Sample(.salvageCount, Double(figures[count]), statistic: "count", label: figures.label(count)))
            }
        }
        result.samples.append(Sample(.trials, 5))
        #expect(result.salvageFigures.map(\.fault) == ["zero", "bit"])
        #expect(result.salvageFigures[0][.rowsMissing] == 40 && result.salvageFigures[1][.trueClaims] == 2)
    }
}
