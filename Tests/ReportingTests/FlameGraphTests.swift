import Foundation
import RunRecords
import Testing

@testable import Reporting

@Suite("Flame graph")
struct FlameGraphTests {
    private func graph() -> String {
        var stacks = FoldedStacks(unit: "samples")
        stacks.add(["main", "read<Row>(_:)"], cost: 750)
        stacks.add(["main", "write & sync"], cost: 240)
        stacks.add(["main"], cost: 9)
        stacks.add(["never seen"], cost: 0.01)
        return Reporting.flameGraph(stacks, title: "commit \"strata\"")
    }

    @Test("it is a self-contained document, with escaped names")
    func document() throws {
        let text = graph()
        #expect(text.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\""))
        #expect(text.contains("read&lt;Row&gt;") && text.contains("write &amp; sync"))
        #expect(!text.contains("<script") && !text.contains("href"))
        #expect(text.count { $0 == "<" } > 10)
        for name in ["svg", "g", "rect", "title", "text"] {
            #expect(text.components(separatedBy: "<\(name)").count == text.components(separatedBy: "</\(name)>").count)
        }
        #expect(text == graph(), "equal stacks give equal bytes")
    }

    @Test("a box is as wide as its share, stands below its caller, and names its cost")
    func boxes() {
        let text = graph()
        #expect(text.contains("read&lt;Row&gt;(_:): 750 samples, 75"))
        #expect(text.contains("x=\"0\" y=\"34\" width=\"900"), "\(text)")
        #expect(text.contains("x=\"900.9\" y=\"34\" width=\"288"), "\(text)")
        #expect(!text.contains("never seen"), "too narrow to be seen")
    }
}
