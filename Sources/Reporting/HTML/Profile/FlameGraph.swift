import RunRecords
import Seeds

/// Stacks as a drawing: a function stands below its caller, as wide as its part of all costs. Each box is a stop of
/// the keyboard, says its name, its cost and its share, and fills the width when it is chosen (`FlameScript`).
///
/// Places across are in hundredths of the width, so that the drawing takes whatever width there is.
struct FlameGraph {
    let stacks: FoldedStacks

    private static let rowHeight = 18
    /// Of all costs; narrower boxes are narrower than a pixel.
    private static let narrowest = 1.0 / 3_000
    /// As many colours has `ColourStyle.flames`.
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

    /// Returns the row of the deepest box.
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
        // The order of names: a function has the same place in two drawings.
        for child in node.children.sorted(by: { $0.name < $1.name }) {
            deepest = max(deepest, box(child, at: place, row: row + 1, &boxes))
            place += child.cost / stacks.root.cost
        }
        return deepest
    }

    /// Fine enough to be enlarged a thousand times.
    private static func fraction(_ value: Double) -> String {
        let digits = String(Int((value * 1e8).rounded()))
        return digits.count > 8 ? "1" : "0." + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Warm, by the name alone: equal functions have equal colours, and colours mean nothing else.
    private static func colour(_ name: String, _ row: Int) -> String {
        row == 0 ? "all" : "fl\(StableHash.of(name) % colours)"
    }
}
