import RunRecords
import Seeds

/// Stacks as a drawing: a function is below its caller, and as wide as its share of all costs. Each box can be reached
/// by the keyboard, has its name, cost and share as a tooltip, and fills the width when it is chosen (`FlameScript`).
///
/// Horizontal places are in percent of the width, so that the drawing fills whatever width there is.
struct FlameGraph {
    let stacks: FoldedStacks

    private static let rowHeight = 18
    /// The least share of all costs that gets a box: a box with less is narrower than a pixel.
    private static let narrowest = 1.0 / 3_000
    /// The number of colours in `ColourStyle.flames`.
    private static let colours = UInt64(ColourStyle.flames.count)

    func draw(_ markup: inout Markup) {
        guard stacks.root.cost > 0 else { return }
        var boxes = Markup()
        let deepest = box(stacks.root, at: 0, row: 0, &boxes)
        markup.element(
            "div",
            [
                "class": "flame", "id": "flame", "role": "group", "aria-label": "Functions, from the outermost inwards",
                "style": "height:\((deepest + 1) * Self.rowHeight)px",
            ]
        ) { $0.raw(boxes.text) }
    }

    /// Draws a box and those of its callees. Returns the row of the deepest box.
    private func box(_ node: FoldedStacks.Node, at left: Double, row: Int, _ boxes: inout Markup) -> Int {
        let share = node.cost / stacks.root.cost
        guard share >= Self.narrowest else { return max(0, row - 1) }
        let words = "\(node.name): \(FlamePage.cost(node.cost, stacks.unit)), \(Figure.percent(share))"
        boxes.element(
            "button",
            [
                "type": "button", "class": "fl \(Self.colour(node.name, row))", "title": words,
                "tabindex": row == 0 ? nil : "-1",
                "style": "left:\(Drawing.share(left * 100));width:\(Drawing.share(share * 100));"
                    + "top:\(row * Self.rowHeight)px",
                "data-x": Self.fraction(left), "data-w": Self.fraction(share), "data-r": String(row),
            ], node.name)
        var (place, deepest) = (left, row)
        // Ordered by name, so that a function has the same place in two drawings.
        for child in node.children.sorted(by: { $0.name < $1.name }) {
            deepest = max(deepest, box(child, at: place, row: row + 1, &boxes))
            place += child.cost / stacks.root.cost
        }
        return deepest
    }

    /// Fine enough for a box to be enlarged a thousand times.
    private static func fraction(_ value: Double) -> String {
        let digits = String(Int((value * 1e8).rounded()))
        return digits.count > 8 ? "1" : "0." + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// A warm colour that follows from the name alone: equal functions have equal colours, which mean nothing else.
    private static func colour(_ name: String, _ row: Int) -> String {
        row == 0 ? "all" : "fl\(StableHash.of(name) % colours)"
    }
}
