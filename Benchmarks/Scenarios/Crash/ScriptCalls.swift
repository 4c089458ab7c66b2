import CaseFiles
import ProgramTrials

/// The file calls of a script.
struct ScriptCalls: CallCounting {
    /// Kinds of calls that no fault can be injected into.
    static let unstruckKinds = ["unseen", "maps", "streams"]

    var counts: [String: Int] = [:]

    func need(_ kind: ScriptNeeds.Kind) -> Int { counts[kind.rawValue] ?? 0 }

    func count(_ kind: CallKind) -> Int { counts[kind.rawValue] ?? 0 }

    /// Whether calls by name were seen. A script opens the files of its database: with other calls and without an open,
    /// the names that the engine uses are not watched, and no fault would meet them.
    var hasNames: Bool { count(CallKind.allCases) == 0 || count([.create, .open]) > 0 }

    /// For a report: the calls with faults, and those that can have none.
    var words: String {
        let struck = CallKind.allCases.filter { count($0) > 0 }.map { "\(count($0)) \($0.rawValue)" }
        var words = "\(count(CallKind.allCases)) file calls in a script: \(struck.joined(separator: ", "))"
        let missing = [
            ("unseen", "system calls by number"), ("maps", "shared writable maps, whose stores are no calls"),
            ("streams", "streams of the C library that write"),
        ].compactMap { kind, text in counts[kind].flatMap { $0 > 0 ? "\($0) \(text)" : nil } }
        if !missing.isEmpty { words += "; NOT STRUCK: \(missing.joined(separator: ", "))" }
        return words
    }
}
