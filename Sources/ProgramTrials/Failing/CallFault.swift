/// A fault that strikes a program's own file calls, or the program at one of them.
///
/// The canonical form is `io:KINDS#N,EFFECT[,for-good]`, or `kill:KINDS#N,before` and `kill:KINDS#N,after`, where KINDS
/// is what the preloaded library knows, and N counts its calls to watched files from 0; or `kill:moment#N` for the N-th
/// moment that the seed chose.
package enum CallFault: Hashable, Sendable, CustomStringConvertible {
    package enum Effect: String, Sendable, CaseIterable {
        case inputOutputError = "EIO"
        case noSpace = "ENOSPC"
        case quota = "EDQUOT"
        /// Half of the bytes; for good, the disk is full after it.
        case short
    }

    package enum Side: String, Sendable, CaseIterable { case before, after }

    case fails(kinds: String, number: Int, effect: Effect, isLasting: Bool)
    case kill(kinds: String, number: Int, side: Side)
    case killAtMoment(number: Int)

    /// As the library takes it; nil where it has no part in it.
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

    /// What trials are counted together under: the fault without its number.
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

    /// Reads the canonical form back; nil for anything else.
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

    /// Those that change what is on the disk: the library's `change`.
    package static let changing = Set(allCases).subtracting([.open, .read])
    /// Those that may need room: the library's `space`.
    package static let space = changing.subtracting([.syncDirectory, .unlink])

    /// What EIO is tried at where nobody says it. Who cannot open a file has done nothing yet.
    package static let failing = allCases.filter { $0 != .open }
}
