import RunRecords
import Testing

@testable import Reporting

@Suite struct HistoryTimelineTests {
    private static let witness = WitnessTimeline(
        title: "lost-update: one of two changes is lost", reasons: "T1 read 0 < 1.",
        rows: [
            .init(name: "T1 a0 done", start: 0, end: 2, operations: "read k1 = 0, write k1 = 1"),
            .init(name: "T2 a1 unknown", start: 1, end: nil, operations: "read k1 = 0, write k1 = 2"),
        ])

    @Test("a bar per transaction from its start, with its operations below")
    func drawing() {
        let svg = Markup.build { HistoryTimeline(witness: Self.witness).draw(&$0) }
        #expect(svg.hasPrefix("<svg"))
        for row in Self.witness.rows {
            #expect(svg.contains(">\(row.name)<"))
            #expect(svg.contains(">\(row.operations)<"))
        }
        #expect(svg.contains("T1 read 0 &lt; 1."), "what it says is escaped")
        // Starts at positions 0 and 1 of 2: the second is in the middle of the drawing.
        #expect(svg.contains("M92 16L696 16"))
        #expect(svg.contains("M394 56L696 56"))
    }

    @Test("an unknown end is drawn as an arrow")
    func openEnd() {
        let svg = Markup.build { HistoryTimeline(witness: Self.witness).draw(&$0) }
        #expect(svg.contains("M691 52L696 56L691 60"))
        #expect(svg.contains("M696 12L696 20"))
    }

    @Test("a witness is read back from the samples of a case")
    func fromResult() {
        let sample = Sample(.witness, 2, label: Self.witness.label)
        #expect(WitnessTimeline(label: sample.label) == Self.witness)
    }
}
