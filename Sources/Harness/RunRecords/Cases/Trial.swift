import JSONText

/// The result of one fault.
package struct Trial: Hashable, Sendable {
    package var address: FaultAddress
    package var outcome: Outcome
    /// One line: the error's text, or the expected and the actual value.
    package var detail: String
    /// The signal that ended the trial, if the outcome is `crashed`.
    package var signal: Int32?

    package init(address: FaultAddress, outcome: Outcome, detail: String = "", signal: Int32? = nil) {
        self.address = address
        self.outcome = outcome
        self.detail = detail
        self.signal = signal
    }
}

extension Trial: JSONRecord {
    package static let blank = Trial(address: FaultAddress(text: ""), outcome: .correct)
    package static let fields: [JSONField<Trial>] = [
        .member("address", \.address), .member("outcome", \.outcome), .member("detail", \.detail),
        .member("signal", \.signal),
    ]
}
