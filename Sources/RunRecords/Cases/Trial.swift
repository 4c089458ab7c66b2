/// What one fault did.
package struct Trial: Hashable, Sendable {
    package var address: FaultAddress
    package var outcome: Outcome
    /// One line: the error's text, or what was expected and what came back.
    package var detail: String
    /// The signal that ended the trial, where the outcome is `crashed`.
    package var signal: Int32?

    package init(address: FaultAddress, outcome: Outcome, detail: String = "", signal: Int32? = nil) {
        self.address = address
        self.outcome = outcome
        self.detail = detail
        self.signal = signal
    }
}
