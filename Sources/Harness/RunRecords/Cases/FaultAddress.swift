import JSONText

/// The kind of a fault, by the word that its addresses begin with.
package enum FaultKind: String, JSONForm, Sendable, CaseIterable {
    /// One inverted bit.
    case flip = "bit"
    /// A truncated file.
    case cut
    /// A page of zeros.
    case zero
    /// Two swapped pages of a file.
    case swap
    /// A page with its content from an older copy.
    case age
    /// A page that was overwritten with the content of another one.
    case misdirect
    /// A process killed by SIGKILL.
    case kill
    /// A process that is stopped by SIGSTOP and continues later.
    case stop
    /// A power failure of the simulated disk.
    case crash
    /// A file operation that fails.
    case io
    /// A resource limit of the process, enforced by the kernel.
    case limit
    /// A full disk.
    case full
    /// A process that forks.
    case fork
    /// Processes that create one database at the same time.
    case race
    /// A lock file that is changed.
    case tamper
    /// Files that are replaced or deleted under a process.
    case replace
    /// Files that are copied during writes.
    case copy
    case delete
    /// No fault: a query of a case, named by its number.
    case query
    /// Faults of the scenarios that break the harness on purpose.
    case plant, fill
    /// No fault: a check, named by its name.
    case check

    /// Whether the fault changes bytes of closed files, at the position in its address.
    package var damagesFiles: Bool { self == .flip || self == .cut || self == .zero || self == .age || hasTwoPlaces }

    /// Whether the addresses of this kind name two pages: `swap:0,8192`.
    package var hasTwoPlaces: Bool { self == .swap || self == .misdirect }

    /// The first byte that an address of this kind changes, counted over all files.
    /// - Parameter other: the second place, for kinds with two places.
    package func byte(at position: Int, _ other: Int? = nil) -> Int {
        switch self {
        case .flip: position / 8
        // The page at the second place is the one that is overwritten.
        case .misdirect: other ?? position
        case .swap: min(position, other ?? position)
        default: position
        }
    }
}

/// Names one trial of a case, for people and for `assay replay`: a typed fault and its position (`bit:123456`,
/// `cut:4096`, `crash:op=17,state=0x3fa2`), or a check by its name (`rows`, `thread 0`).
///
/// The text is canonical: a fault has only one spelling, and its text is enough to repeat the trial.
package struct FaultAddress: Hashable, Sendable, CustomStringConvertible {
    package var text: String

    package init(text: String) {
        self.text = text
    }

    package init(_ fault: FaultKind, _ position: Int) {
        text = "\(fault.rawValue):\(position)"
    }

    package init(_ fault: FaultKind, _ position: Int, _ other: Int) {
        text = "\(fault.rawValue):\(position),\(other)"
    }

    package var description: String { text }

    /// The kind that the word before the colon names. A text without a colon, or with an unknown word, is the name of a
    /// check.
    package var fault: FaultKind {
        guard let colon = text.firstIndex(of: ":") else { return .check }
        return FaultKind(rawValue: String(text[..<colon])) ?? .check
    }

    /// Whether it names the case as a whole: the process of the case, or its fixture.
    package var isWholeCase: Bool { text == "case" || text == "fixture" }

    /// The fault's word, as the column `fault` of the CSV has it; empty for a check.
    package var faultWord: String { fault == .check ? "" : fault.rawValue }

    /// The number after the colon; nil if the address is not of that form.
    package var position: Int? {
        guard fault != .check, let colon = text.firstIndex(of: ":") else { return nil }
        return Int(text[text.index(after: colon)...])
    }

    /// The numbers in an address of damage: two for a fault with two places, otherwise one. nil for any other address.
    package var places: [Int]? {
        guard fault.damagesFiles, let colon = text.firstIndex(of: ":") else { return nil }
        let parts = text[text.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        return numbers.count == parts.count && numbers.count == (fault.hasTwoPlaces ? 2 : 1) ? numbers : nil
    }
}

extension FaultAddress: JSONForm {
    package var json: JSONValue { .string(text) }
    package init(json: JSONValue) throws(JSONShapeError) { self.init(text: try String(json: json)) }
}
