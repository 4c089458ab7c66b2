/// Names one fault of a case, for people and for `assay replay`: `bit:123456`, `cut:4096`, `kill:op=17`.
///
/// The text is canonical: the same fault has one spelling, and nothing but this text is needed to repeat it.
package struct FaultAddress: Hashable, Sendable, CustomStringConvertible {
    package var text: String

    package init(text: String) {
        self.text = text
    }

    package init(_ fault: String, _ position: Int) {
        text = "\(fault):\(position)"
    }

    package var description: String { text }

    /// The slug before the colon: `bit`, `cut`.
    package var fault: String {
        String(text.prefix { $0 != ":" })
    }

    /// The number after the colon, or nil when the address is not of that form.
    package var position: Int? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return Int(text[text.index(after: colon)...])
    }
}

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
