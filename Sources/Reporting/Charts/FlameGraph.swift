import RunRecords
import Seeds

/// Stacks as a standalone SVG: each function stands below its caller, as wide as its share of the total cost. A tooltip
/// shows the name, cost and share of each box.
enum FlameGraph {
    private static let width = 1_200.0
    private static let rowHeight = 17.0
    /// Narrower boxes are left out.
    private static let narrowest = 0.4
    private static let letterWidth = 6.6

    static func text(_ stacks: FoldedStacks, title: String) -> String {
        var boxes = Markup()
        let depth = draw(stacks.root, x: 0, row: 0, stacks, &boxes)
        let height = Double(depth + 1) * rowHeight + 34
        var svg = Markup()
        svg.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": "0 0 \(Drawing.number(width)) \(Drawing.number(height))",
                "font-family": "monospace", "font-size": "11",
            ]
        ) { drawing in
            drawing.element("title", title)
            drawing.element(
                "style",
                "rect{stroke:#fff;stroke-width:.5} text{pointer-events:none} g:hover rect{stroke:#000}"
                    + " @media (prefers-color-scheme:dark){svg{background:#fff}}")
            drawing.element("text", ["x": "4", "y": "16", "font-size": "13"], title)
            drawing.element("g", ["transform": "translate(0 24)"]) { $0.raw(boxes.text) }
        }
        return svg.text + "\n"
    }

    /// Returns the row of the deepest box.
    private static func draw(
        _ node: FoldedStacks.Node, x: Double, row: Int, _ stacks: FoldedStacks, _ boxes: inout Markup
    ) -> Int {
        guard stacks.root.cost > 0 else { return row }
        let share = node.cost / stacks.root.cost
        let boxWidth = share * width
        guard boxWidth >= narrowest else { return max(0, row - 1) }
        let y = Double(row) * rowHeight
        boxes.element("g") { box in
            box.element(
                "title",
                "\(node.name): \(Figure.grouped(Int(min(node.cost.rounded(), 9e15)))) \(stacks.unit), "
                    + Figure.percent(share))
            box.open(
                "rect",
                [
                    "x": Drawing.number(x), "y": Drawing.number(y), "width": Drawing.number(boxWidth),
                    "height": Drawing.number(rowHeight - 1), "fill": colour(node.name, row),
                ])
            box.close("rect")
            let letters = Int((boxWidth - 6) / letterWidth)
            if letters >= 3 {
                let name = node.name.count <= letters ? node.name : node.name.prefix(letters - 1) + "\u{2026}"
                box.element("text", ["x": Drawing.number(x + 3), "y": Drawing.number(y + 12)], name)
            }
        }
        var (place, deepest) = (x, row)
        // Sorted by name, so that a function has the same place in two drawings.
        for child in node.children.sorted(by: { $0.name < $1.name }) {
            deepest = max(deepest, draw(child, x: place, row: row + 1, stacks, &boxes))
            place += child.cost / stacks.root.cost * width
        }
        return deepest
    }

    /// A warm colour derived from the name, so that equal functions have equal colours.
    private static func colour(_ name: String, _ row: Int) -> String {
        guard row > 0 else { return "#ddd" }
        let hash = StableHash.of(name)
        return "hsl(\(Int(hash % 45) + 8) \(60 + Int(hash >> 8 % 25))% \(66 + Int(hash >> 16 % 12))%)"
    }
}
