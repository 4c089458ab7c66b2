/// The top-level types, functions and constants of Swift files, found by the form of lines: `swift format` starts a
/// top-level declaration in the first column and ends it with a brace there. Each `#if` around it moves both by four
/// columns.
struct Declarations {
    enum Kind { case type, extensionOfType, value }

    /// A top-level declaration, or an extension of a type.
    struct Outer {
        let name: String
        let kind: Kind
        /// Private to its file.
        let isPrivate: Bool
        /// From its first line to the brace that closes it, 1-based; the attributes and comments above do not count.
        let lines: ClosedRange<Int>
    }

    var outer: [Outer] = []
    /// Nested types, each with the outer type's name.
    var nested: [(name: String, outer: String)] = []
    /// Identifiers without a preceding dot, each with its first line.
    var identifiers: [Substring: Int] = [:]

    init(_ source: SwiftSource) {
        var open: (head: Head, first: Int)?
        /// How many `#if` the line is in; those inside a declaration do not count.
        var conditions = 0
        for (index, whole) in source.codeLines.enumerated() {
            let number = index + 1
            collectIdentifiers(whole, number)
            let indentation = String(repeating: " ", count: 4 * conditions)
            let line = whole.hasPrefix(indentation) ? whole.dropFirst(indentation.count) : whole
            if let current = open {
                if let inner = Self.declaration(line.drop { $0 == " " }), inner.kind == .type {
                    nested.append((inner.name, current.head.name))
                }
                if line.first == "}" {
                    add(current.head, current.first...number)
                    open = nil
                }
            } else if whole.drop(while: { $0 == " " }).hasPrefix("#if") {
                conditions += 1
            } else if whole.drop(while: { $0 == " " }).hasPrefix("#endif") {
                conditions -= 1
            } else if let found = Self.declaration(line) {
                if Self.isOpen(line) { open = (found, number) } else { add(found, number...number) }
            }
        }
    }

    private mutating func add(_ head: Head, _ lines: ClosedRange<Int>) {
        outer.append(Outer(name: head.name, kind: head.kind, isPrivate: head.isPrivate, lines: lines))
    }

    /// Whether the declaration continues after this line: its braces or parentheses are open, or its brace comes later.
    private static func isOpen(_ line: Substring) -> Bool {
        var depth = 0
        var hasBody = false
        for character in line {
            if "{([".contains(character) { depth += 1 }
            if "})]".contains(character) { depth -= 1 }
            hasBody = hasBody || character == "{"
        }
        if depth > 0 { return true }
        return !hasBody && !line.contains("=") && !line.contains(": ")
    }

    private struct Head {
        let name: String
        let kind: Kind
        let isPrivate: Bool
    }

    private static let types: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    private static let others: Set<Substring> = ["extension", "func", "let", "var"]

    /// Parses the head of a declaration: attributes and access, the kind, a name.
    private static func declaration(_ line: Substring) -> Head? {
        guard let first = line.first, first.isLetter || first == "@" else { return nil }
        let words = line.split(maxSplits: 12) { $0 == " " }
        var isPrivate = false
        for (index, word) in words.enumerated() {
            if types.contains(word) || others.contains(word) {
                guard index + 1 < words.count, word != "class" || !["func", "var"].contains(words[index + 1]) else {
                    return nil
                }
                let name = words[index + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
                if name.isEmpty { return nil }
                let kind: Kind = types.contains(word) ? .type : word == "extension" ? .extensionOfType : .value
                return Head(name: String(name), kind: kind, isPrivate: isPrivate)
            }
            if word == "private" || word == "fileprivate" { isPrivate = true }
            if !word.allSatisfy({ $0.isLetter || $0.isNumber || "@()_:".contains($0) }) { return nil }
        }
        return nil
    }

    private mutating func collectIdentifiers(_ line: Substring, _ number: Int) {
        var index = line.startIndex
        var before: Character = " "
        while index < line.endIndex {
            let character = line[index]
            if character.isLetter || character == "_" {
                let end = line[index...].firstIndex { !($0.isLetter || $0.isNumber || $0 == "_") } ?? line.endIndex
                if before != ".", identifiers[line[index..<end]] == nil { identifiers[line[index..<end]] = number }
                before = "a"
                index = end
            } else {
                before = character
                index = line.index(after: index)
            }
        }
    }
}
