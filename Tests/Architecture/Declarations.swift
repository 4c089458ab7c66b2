/// Finds the top-level types, functions and constants of a Swift file, and the members of types, by the indentation of
/// lines: `swift format` starts a top-level declaration in the first column, ends it with a brace there, and indents
/// each level by four spaces. It also indents the lines inside each `#if` by four spaces.
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

    /// A member of a top-level type, of a type nested in it, or of an extension. The parser omits initializers and
    /// subscripts, because their callers write no name that a search could find.
    struct Member {
        let name: String
        /// The top-level type that contains the member, or the type that the extension extends.
        let outer: String
        /// Whether an extension declares it as a member of the extended type itself, not of a type nested there.
        let isAdded: Bool
        let isPrivate: Bool
    }

    var outer: [Outer] = []
    /// Nested types, each with the outer type's name.
    var nested: [(name: String, outer: String)] = []
    /// Identifiers without a preceding dot, each with its first line.
    var identifiers: [Substring: Int] = [:]
    var members: [Member] = []
    /// Identifiers after a dot, each with its first line.
    var memberUses: [Substring: Int] = [:]
    /// Names that the file declares, local ones included, and each name before a colon: parameters, argument labels.
    private(set) var allNames: Set<String> = []

    init(_ source: SwiftSource) {
        var open: (head: Head, first: Int)?
        /// The number of `#if` blocks around the line. The loop counts no block inside a declaration.
        var conditions = 0
        var isInNested = false
        for (index, whole) in source.codeLines.enumerated() {
            let number = index + 1
            collectIdentifiers(whole, number)
            let indentation = String(repeating: " ", count: 4 * conditions)
            let line = whole.hasPrefix(indentation) ? whole.dropFirst(indentation.count) : whole
            if let current = open {
                let indent = line.prefix { $0 == " " }.count
                let inner = Self.declaration(line.dropFirst(indent))
                if let inner, inner.kind == .type { nested.append((inner.name, current.head.name)) }
                if let inner { allNames.insert(inner.name) }
                if indent == 4 || indent == 8 && isInNested {
                    let names = inner.map { [$0.name] } ?? Self.cases(line.dropFirst(indent))
                    let isAdded = indent == 4 && current.head.kind == .extensionOfType
                    members += names.map { name in
                        Member(
                            name: name, outer: current.head.name, isAdded: isAdded,
                            isPrivate: inner?.isPrivate == true || current.head.isPrivate)
                    }
                }
                if indent == 4 {
                    isInNested =
                        line.dropFirst(4).first != "}" && inner?.kind == .type && Self.isOpen(line)
                        || isInNested && line.dropFirst(4).first != "}" && inner == nil
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
        allNames.insert(head.name)
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

    /// The names that one `case` line of an enumeration declares.
    private static func cases(_ line: Substring) -> [String] {
        let line = line.hasPrefix("indirect ") ? line.dropFirst(9) : line
        guard line.hasPrefix("case "), !line.hasSuffix(":") else { return [] }
        var depth = 0
        var list = ""
        for character in line.dropFirst(5) {
            if character == "(" { depth += 1 }
            if depth == 0 { list.append(character) }
            if character == ")" { depth -= 1 }
        }
        return list.split(separator: ",").map { name in
            String(name.drop { $0 == " " }.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        }
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
        var isRange = false
        while index < line.endIndex {
            let character = line[index]
            if character.isLetter || character == "_" {
                let end = line[index...].firstIndex { !($0.isLetter || $0.isNumber || $0 == "_") } ?? line.endIndex
                let name = line[index..<end]
                if end < line.endIndex, line[end] == ":" { allNames.insert(String(name)) }
                if before != "." || isRange {
                    if identifiers[name] == nil { identifiers[name] = number }
                } else if memberUses[name] == nil {
                    memberUses[name] = number
                }
                before = "a"
                index = end
            } else {
                isRange = character == "." && before == "."
                before = character
                index = line.index(after: index)
            }
        }
    }
}
