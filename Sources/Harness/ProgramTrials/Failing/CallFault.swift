/// A fault that makes a program's file call fail, or kills the program at one.
///
/// The canonical form is `io:KINDS#N,EFFECT[,for-good]`, or `kill:KINDS#N,before` and `kill:KINDS#N,after`. KINDS are
/// those of the preloaded library, and N counts its calls to watched files from 0. `kill:moment#N` is the N-th moment
/// chosen by the seed.
package enum CallFault: Hashable, Sendable, CustomStringConvertible {
    package enum Effect: String, Sendable, CaseIterable {
        case inputOutputError = "EIO"
        case noSpace = "ENOSPC"
        case quota = "EDQUOT"
        /// A read or write transfers half of its bytes. If the fault is for good, later calls of its kinds fail with
        /// ENOSPC.
        case short
    }

    package enum Side: String, Sendable, CaseIterable { case before, after }

    case fails(kinds: String, number: Int, effect: Effect, isLasting: Bool)
    case kill(kinds: String, number: Int, side: Side)
    case killAtMoment(number: Int)

    /// In the library's syntax; nil if the library does not implement the fault.
    package var words: String? {
        switch self {
        case .fails(let kinds, let number, let effect, let isLasting):
            "\(kinds)#\(number),\(effect.rawValue)\(isLasting ? ",for-good" : "")"
        case .kill(let kinds, let number, let side): "\(kinds)#\(number),kill-\(side.rawValue)"
        case .killAtMoment: nil
        }
    }

    package var isKill: Bool {
        if case .fails = self { return false }
        return true
    }

    /// The key by which a report counts trials together: the fault without its number.
    package var group: String {
        switch self {
        case .fails(let kinds, _, let effect, let isLasting):
            "\(kinds) \(effect.rawValue)\(isLasting ? " for good" : "")"
        case .kill(_, _, let side): "killed \(side.rawValue) a call"
        case .killAtMoment: "killed at a moment"
        }
    }

    package var description: String {
        switch self {
        case .fails: "io:\(words ?? "")"
        case .kill(let kinds, let number, let side): "kill:\(kinds)#\(number),\(side.rawValue)"
        case .killAtMoment(let number): "kill:moment#\(number)"
        }
    }

    /// Parses the canonical form; nil for anything else.
    package init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), let hash = text.firstIndex(of: "#"), colon < hash else {
            return nil
        }
        let kinds = String(text[text.index(after: colon)..<hash])
        let rest = text[text.index(after: hash)...].split(separator: ",", omittingEmptySubsequences: false)
        guard let first = rest.first, let number = Int(first), number >= 0 else { return nil }
        let isKnown = kinds.split(separator: "+", omittingEmptySubsequences: false).allSatisfy {
            CallKind(rawValue: String($0)) != nil || CallKind.sets.contains(String($0))
        }
        switch (text[..<colon], rest.count) {
        case ("kill", 1) where kinds == "moment": self = .killAtMoment(number: number)
        case ("kill", 2) where isKnown:
            guard let side = Side(rawValue: String(rest[1])) else { return nil }
            self = .kill(kinds: kinds, number: number, side: side)
        case ("io", 2...3) where isKnown:
            guard let effect = Effect(rawValue: String(rest[1])), rest.count == 2 || rest[2] == "for-good" else {
                return nil
            }
            self = .fails(kinds: kinds, number: number, effect: effect, isLasting: rest.count == 3)
        default: return nil
        }
        guard description == text else { return nil }
    }
}

/// The kinds of calls that the preloaded library can strike, in the order of its counts.
package enum CallKind: String, Sendable, CaseIterable {
    case write, sync
    case syncDirectory = "sync-directory"
    case truncate, allocate, create, open, rename, link, unlink, read

    /// Names of several kinds.
    static let sets: Set<String> = ["change", "space"]

    /// Calls that change the disk: the library's `change`.
    package static let changing = Set(allCases).subtracting([.open, .read])
    /// Calls that may need space: the library's `space`.
    package static let space = changing.subtracting([.syncDirectory, .unlink])

    /// Default calls to fail with EIO. Not `open`: a program that fails to open its file has changed no byte.
    package static let failing = allCases.filter { $0 != .open }
}
