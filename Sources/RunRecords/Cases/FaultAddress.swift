/// What is broken on purpose, by the word that its addresses begin with.
package enum FaultKind: String, Sendable, CaseIterable {
    /// One inverted bit.
    case flip = "bit"
    /// A file that ends too early.
    case cut
    /// A page of zeros.
    case zero
    /// Two pages of a file in each other's places.
    case swap
    /// A page as it was in an older copy.
    case age
    /// A page that was written over another one.
    case misdirect
    /// A process ended by SIGKILL.
    case kill
    /// A process that is stopped.
    case stop
    /// Power that goes, on the simulated disk.
    case crash
    /// An operation of a file that fails.
    case io
    /// A limit of the process, which the kernel keeps.
    case limit
    /// A disk that is full.
    case full
    /// A process that forks.
    case fork
    /// Processes that make one database at once.
    case race
    /// A lock file that is changed.
    case tamper
    /// Files that are replaced or deleted under a process.
    case replace
    /// Files that are copied while they are written to.
    case copy
    case delete
    /// No fault: a question of a case, by its number.
    case query
    /// Of the scenarios that break the harness.
    case plant, fill
    /// No fault: something that was looked at, by its name.
    case check

    /// Those that change bytes of closed files, at a place that the address names.
    package var damagesFiles: Bool { self == .flip || self == .cut || self == .zero || self == .age || hasTwoPlaces }

    /// Those whose addresses name two pages: `swap:0,8192`.
    package var hasTwoPlaces: Bool { self == .swap || self == .misdirect }

    /// The first byte of all files together that an address of this kind changes.
    /// - Parameter other: of those with two places the second one.
    package func byte(at position: Int, _ other: Int? = nil) -> Int {
        switch self {
        case .flip: position / 8
        // What was written over stands there.
        case .misdirect: other ?? position
        case .swap: min(position, other ?? position)
        default: position
        }
    }
}

/// Names one trial of a case, for people and for `assay replay`: a typed fault and its place (`bit:123456`,
/// `cut:4096`, `crash:op=17,state=0x3fa2`), or a check by its name (`rows`, `thread 0`).
///
/// The text is canonical: the same fault has one spelling, and nothing but this text is needed to repeat it.
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

    /// What stands before the colon decides; a text without one, or with another word there, is a check's name.
    package var fault: FaultKind {
        guard let colon = text.firstIndex(of: ":") else { return .check }
        return FaultKind(rawValue: String(text[..<colon])) ?? .check
    }

    /// Whether it stands for a case as a whole: for its process, or for its fixture.
    package var isWholeCase: Bool { text == "case" || text == "fixture" }

    /// The fault's word, as the column `fault` of the CSV has it; empty for a check.
    package var faultWord: String { fault == .check ? "" : fault.rawValue }

    /// The number after the colon, or nil when the address is not of that form.
    package var position: Int? {
        guard fault != .check, let colon = text.firstIndex(of: ":") else { return nil }
        return Int(text[text.index(after: colon)...])
    }

    /// The numbers of an address of damage: two where the fault has two places, else one; nil for anything else.
    package var places: [Int]? {
        guard fault.damagesFiles, let colon = text.firstIndex(of: ":") else { return nil }
        let parts = text[text.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        return numbers.count == parts.count && numbers.count == (fault.hasTwoPlaces ? 2 : 1) ? numbers : nil
    }
}
