import JSONText

/// A figure of a run that its control does not confirm: reports make no claim of it.
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
}

extension DoubtfulFigure: JSONRecord {
    package static let blank = DoubtfulFigure(test: "", label: "", ratio: 1)
    package static let fields: [JSONField<DoubtfulFigure>] = [
        .member("case", \.test), .member("label", \.label), .member("ratio", \.ratio),
    ]
}
