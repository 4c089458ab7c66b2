import Foundation
import RunRecords
import Testing

@testable import Reporting

/// The page of a profile.
@Suite struct FlameGraphTests {
    private static let stacks: FoldedStacks = {
        var stacks = FoldedStacks(unit: "samples")
        stacks.add(["main", "read<Row>(_:)"], cost: 750)
        stacks.add(["main", "write & sync"], cost: 240)
        stacks.add(["main"], cost: 9)
        stacks.add(["never seen"], cost: 0.01)
        return stacks
    }()

    private static let page = Reporting.flameGraph(stacks, title: "commit \"strata\"")

    @Test("the page of a profile loads nothing, escapes names, and has theme, search and keys like the others")
    func document() throws {
        let text = Self.page
        #expect(text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(text.contains("read&lt;Row&gt;") && text.contains("write &amp; sync"))
        #expect(text.contains("commit &quot;strata&quot;") && !text.contains("read<Row>"))
        #expect(!text.contains("src=") && !text.contains("http:") && text.contains("default-src &#39;none&#39;"))
        for part in ["id=\"theme\"", "id=\"search\"", "id=\"flame\"", "ArrowDown", "class=\"skip\""] {
            #expect(text.contains(part), "\(part)")
        }
        for name in ["button", "section", "details", "table", "div", "p"] {
            let opened = text.matches(of: try Regex("<\(name)[ >]")).count
            #expect(opened == text.components(separatedBy: "</\(name)>").count - 1, "\(name)")
        }
        #expect(text == Reporting.flameGraph(Self.stacks, title: "commit \"strata\""), "equal stacks give equal bytes")
    }

    @Test("the page begins with the function of the largest own cost, and has every function in a table")
    func answer() throws {
        let headline = try #require(Self.page.firstMatch(of: /class="headline calm">.*?<\/p>/)).output
        #expect(headline.contains("read&lt;Row&gt;(_:) takes 75\u{A0}% of all samples by itself"), "\(headline)")
        let functions = FlamePage(stacks: Self.stacks, title: "").functions
        #expect(functions.map(\.name) == ["read<Row>(_:)", "write & sync", "main", "never seen"])
        let main = try #require(functions.first { $0.name == "main" })
        #expect(main.own == 9 && main.whole == 999)
        var deep = FoldedStacks(unit: "samples")
        deep.add(["f", "g", "f"], cost: 5)
        deep.add(["f"], cost: 5)
        let again = try #require(FlamePage(stacks: deep, title: "").functions.first { $0.name == "f" })
        #expect(again.own == 10 && again.whole == 10, "a function that calls itself counts once")
        let nothing = Reporting.flameGraph(FoldedStacks(unit: "samples"), title: "t")
        #expect(nothing.contains("The profile has no sample.") && !nothing.contains("id=\"flame\""))
    }

    @Test("a box is as wide as its share, stands below its caller, and names its cost")
    func boxes() {
        let text = Self.page
        #expect(text.contains("title=\"read&lt;Row&gt;(_:): 750 samples, 75"))
        #expect(text.contains("style=\"left:0%;width:75.07%;top:36px\""), "\(text)")
        #expect(text.contains("style=\"left:75.07%;width:24.02%;top:36px\""), "\(text)")
        #expect(!text.contains(">never seen</button>"), "too narrow to be seen")
        // The tab key reaches the drawing in one stop; arrow keys move from box to box.
        let boxes = text.matches(of: /<button type="button" class="fl [^>]*>/).map(\.output)
        #expect(boxes.count == 4 && boxes.count { !$0.contains("tabindex=\"-1\"") } == 1)
    }
}
