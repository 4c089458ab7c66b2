import JSONText

/// A figure of a run that its control does not confirm: no claim is made of it.
package struct DoubtfulFigure: Hashable, Sendable {
    /// The id of its case.
    package var test: String
    package var label: String
    /// The figure as a multiple of the control's.
    package var ratio: Double

    package init(test: String, label: String, ratio: Double) {
        self.test = test
        self.label = label
        self.ratio = ratio
    }

    package var json: JSONValue {
        .object([
            JSONMember("case", .string(test)), JSONMember("label", .string(label)), JSONMember("ratio", .real(ratio)),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(test: try json.string("case"), label: try json.string("label"), ratio: try json.real("ratio"))
    }
}
