import Harness
import RunRecords

/// Parses the texts by which a library describes itself.
enum LibraryText {
    /// Why a name cannot be used; nil where it can.
    static func objection(toName name: String) -> String? {
        let isRight =
            (1...32).contains(name.utf8.count) && name.first?.isLowercase == true
            && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        return isRight
            ? nil : "its name is \"\(name.prefix(60))\", and has to be 1 to 32 of a-z, 0-9 and -, a letter first"
    }

    static func claims(_ text: String) throws(LibraryTextError) -> Set<LibraryDescription.Claim> {
        var claims: Set<LibraryDescription.Claim> = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            guard let claim = LibraryDescription.Claim(rawValue: String(word)) else {
                throw LibraryTextError(
                    "capabilities", String(word), known: LibraryDescription.Claim.allCases.map(\.rawValue))
            }
            claims.insert(claim)
        }
        return claims
    }

    static func promises(_ text: String) throws(LibraryTextError) -> [LibraryDescription.Sentence] {
        let known = promiseKinds
        var promises: [LibraryDescription.Sentence] = []
        for line in lines(text) {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
            let words = (parts.first ?? "").split(separator: " ").map(String.init)
            let kind = words.first ?? ""
            guard parts.count == 3, known.contains(kind), !parts[1].isEmpty, !parts[2].isEmpty else {
                throw LibraryTextError("promises", line, known: known.map { "\($0) | SENTENCE | SOURCE" })
            }
            let level = words.count > 1 ? words[1] : ""
            let isLevel = IsolationLevel(rawValue: level) != nil
            guard words.count == (kind == Promise.Kind.isolation.rawValue ? 2 : 1), isLevel || level.isEmpty else {
                let levels = IsolationLevel.allCases.map { "isolation \($0.rawValue) | SENTENCE | SOURCE" }
                throw LibraryTextError("promises", line, known: levels)
            }
            promises.append(
                LibraryDescription.Sentence(kind: kind, level: level, sentence: parts[1], source: parts[2]))
        }
        return promises
    }

    /// Kinds of promises that a key-value engine can make.
    private static let promiseKinds = Promise.Kind.allCases.map(\.rawValue).filter {
        $0 != Promise.Kind.safeDeletedAccess.rawValue && $0 != Promise.Kind.atomicMigration.rawValue
    }

    static func files(_ text: String) throws(LibraryTextError) -> [LibraryDescription.FilePattern] {
        var files: [LibraryDescription.FilePattern] = []
        for line in lines(text) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 2, let role = LibraryDescription.FilePattern.Role(rawValue: words[0]),
                !words[1].contains("/"), !words[1].contains(":")
            else {
                throw LibraryTextError(
                    "files", line, known: LibraryDescription.FilePattern.Role.allCases.map { "\($0.rawValue) PATTERN" })
            }
            files.append(LibraryDescription.FilePattern(role: role, pattern: words[1]))
        }
        return files
    }

    static func settings(_ text: String) throws(LibraryTextError) -> [EngineSetting] {
        var settings: [EngineSetting] = []
        for line in lines(text) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
            guard parts.count == 2, !parts[0].isEmpty, !EngineSetting.ofLibraries.contains(parts[0]),
                !settings.contains(where: { $0.name == parts[0] })
            else {
                throw LibraryTextError("settings", line, known: ["NAME = VALUE, each NAME once, not of Assay's own"])
            }
            settings.append(EngineSetting(parts[0], parts[1]))
        }
        return settings
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map(trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        let start = text.drop(while: isBlank)
        let rest = start.reversed().drop(while: isBlank)
        return String(String(rest).reversed())
    }
}

/// An unknown text.
struct LibraryTextError: Error {
    var member: String
    var given: String
    var known: [String]

    init(_ member: String, _ given: String, known: [String]) {
        self.member = member
        self.given = given
        self.known = known
    }

    var message: String {
        "its \(member) say \"\(given.prefix(100))\", which is none of: \(known.joined(separator: ", "))"
    }
}
