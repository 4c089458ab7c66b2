extension StringProtocol {
    /// Whether it contains the bytes of `word`. Checked before a regex on every line, which would take a hundred times
    /// as long.
    func has(_ word: StaticString) -> Bool {
        utf8.withContiguousStorageIfAvailable { text in
            let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            var start = 0
            while start + word.count <= text.count {
                if text[start] == word[0], (1..<word.count).allSatisfy({ text[start + $0] == word[$0] }) { return true }
                start += 1
            }
            return false
        } ?? true
    }
}

/// The rules of CONTRIBUTING.md that a text search can enforce. Each returns a file's violations.
enum StyleRules {
    static let longestFile = 400
    static let longestFunction = 60
    static let longestLine = 120

    /// Files that may be longer than `longestFile`, each with its reason.
    static let longFiles: [String: String] = [:]

    /// Functions that may be longer than `longestFunction`, `path: name`, each with its reason.
    static let longFunctions: [String: String] = [:]

    /// Words in a file's name that do not describe its contents.
    static let emptyNames = ["Utils", "Utilities", "Helper", "Manager", "Common", "Misc", "Support"]

    /// Marks of unfinished work; open work is described in CHANGELOG.md or README.md. Written in halves, so that this
    /// file obeys the rule as well.
    static let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]

    /// Their first letters, which few lines contain.
    private static let unfinishedBeginnings: [StaticString] = ["TO", "FIX", "XX", "HA"]

    /// Words for an actor without a name: a sentence says which thread, process or caller acts. In halves, as above.
    static let namelessActors: Set<String> = [
        "who" + "ever", "no" + "body", "some" + "body", "any" + "body", "every" + "body",
    ]

    /// Their last letters, which few lines contain.
    private static let namelessEndings: [StaticString] = ["body", "oever", "BODY", "OEVER"]

    /// Where code may be `public`: the product, and what its inlinable read path needs.
    static let publicRooms = [
        "Sources/Engine/Strata/", "Sources/Engine/StrataStorage/", "Sources/Engine/StoreMigration/", "Tests/Client/",
    ]

    /// The first components of paths of one machine.
    private static let machineFolders: [StaticString] = ["/home", "/Users", "/root", "/work"]

    static func forText(_ file: Checkout.File) -> [Violation] {
        var violations: [Violation] = []
        for name in emptyNames where file.name.split(separator: ".").first?.contains(name) == true {
            violations.append(Violation(path: file.path, rule: "\"\(name)\" in a name says nothing"))
        }
        var isListOfWords = false
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line == PageRules.retiredHeading, file.path == PageRules.glossary { isListOfWords = true }
            if unfinishedBeginnings.contains(where: line.has) {
                let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
                for word in unfinished where words.contains(Substring(word)) {
                    violations.append(Violation(path: file.path, line: index + 1, rule: "a mark of unfinished work"))
                }
            }
            if !isListOfWords, namelessEndings.contains(where: line.has) {
                let words = line.split { !$0.isLetter }
                for word in words where namelessActors.contains(word.lowercased()) {
                    let rule = "\"\(word)\" is no name of an actor: name the thread, the process or the caller"
                    violations.append(Violation(path: file.path, line: index + 1, rule: rule))
                }
            }
            if machineFolders.contains(where: line.has),
                line.contains(#/(^|[\s"'`(=])/(home|Users|root|work)/\w/#)
            {
                violations.append(Violation(path: file.path, line: index + 1, rule: "a path of one machine"))
            }
        }
        return violations
    }

    static func forSwift(_ file: Checkout.File, _ source: SwiftSource) -> [Violation] {
        let isTest = file.path.hasPrefix("Tests/")
        var violations: [Violation] = []
        let lineCount = file.text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        if lineCount > longestFile, longFiles[file.path] == nil {
            violations.append(Violation(path: file.path, rule: "\(lineCount) lines, more than \(longestFile)"))
        }
        let isPattern = /^\s*#?\/.*\/#?$/  // A regex literal cannot be broken.
        for (index, line) in source.lines.enumerated()
        where line.utf8.count > longestLine && line.count > longestLine && !line.contains(isPattern) {
            violations.append(Violation(path: file.path, line: index + 1, rule: "more than \(longestLine) columns"))
        }
        for (index, line) in source.codeLines.enumerated() {
            violations += forLine(line, isTest: isTest, path: file.path, line: index + 1)
            if line.has("@unchecked") || line.has("nonisolated(unsafe)"),
                line.contains(/@unchecked\s+Sendable|nonisolated\(unsafe\)/), !hasReason(source.lines, at: index)
            {
                violations.append(
                    Violation(path: file.path, line: index + 1, rule: "unchecked concurrency without a reason"))
            }
        }
        return violations + overlong(in: source, path: file.path)
    }

    private static func forLine(_ line: Substring, isTest: Bool, path: String, line number: Int) -> [Violation] {
        func violation(_ rule: String) -> Violation { Violation(path: path, line: number, rule: rule) }
        var violations: [Violation] = []
        if line.has("try!") { violations.append(violation("try!")) }
        if line.has(".timeLimit(") {
            violations.append(violation("a limit of a test, whose clock runs while it waits for a thread"))
        }
        if isTest { return violations }
        if line.has("try?"), line.contains(/^\s*(?:_\s*=\s*)?try\?/) {
            violations.append(violation("an error thrown away by try?"))
        }
        if line.has("!"), line.contains(/[\w)\]]!(?![=\w])/) { violations.append(violation("a forced unwrap or cast")) }
        if line.has("public"), line.contains(/\bpublic\b/), !publicRooms.contains(where: path.hasPrefix),
            path != "Package.swift"
        {
            violations.append(violation("public outside the product Strata: write package"))
        }
        return violations
    }

    /// Whether the line, or one of the four above it, has a comment.
    private static func hasReason(_ lines: [Substring], at index: Int) -> Bool {
        lines[max(0, index - 4)...index].contains { $0.contains("//") }
    }

    /// Functions by their braces: from `func`, `init` or `subscript` at the start of a declaration to the brace that
    /// closes it. A protocol requirement has no body and is skipped.
    private static func overlong(in source: SwiftSource, path: String) -> [Violation] {
        let lines = source.codeLines
        let declaration =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z_]+(?:\([a-z]+\))?\s+)*(?:func\s+(\S+?)\s*[(<]|init[?<(]|subscript[(<])/
        var violations: [Violation] = []
        for (index, line) in lines.enumerated() {
            guard line.has("func") || line.has("init") || line.has("subscript"),
                let match = line.firstMatch(of: declaration), let end = bodyEnd(lines, from: index)
            else { continue }
            let name = match.output.1.map(String.init) ?? "init"
            let count = end - index + 1
            if count > longestFunction, Self.longFunctions["\(path): \(name)"] == nil {
                violations.append(
                    Violation(
                        path: path, line: index + 1, rule: "\(name): \(count) lines, more than \(longestFunction)"))
            }
        }
        return violations
    }

    private static func bodyEnd(_ lines: [Substring], from start: Int) -> Int? {
        var parentheses = 0
        var braces = 0
        for index in start..<lines.count {
            if braces == 0, index > start, parentheses == 0,
                lines[index].contains(/^\s*(?:@|func\b|var\b|let\b|init\b|case\b|struct\b|class\b|enum\b|\}|$)/)
            {
                return nil
            }
            for byte in lines[index].utf8 {
                switch byte {
                case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
                case UInt8(ascii: "{") where parentheses == 0 || braces > 0: braces += 1
                case UInt8(ascii: "}") where braces > 0:
                    braces -= 1
                    if braces == 0 { return index }
                default: break
                }
            }
        }
        return nil
    }
}
