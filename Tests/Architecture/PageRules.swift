import Foundation

/// The rules of docs/glossary.md and CONTRIBUTING.md for documents.
enum PageRules {
    /// Where the glossary lists the words that documents do not use.
    static let glossary = "docs/glossary.md"
    static let retiredHeading = "## Words that are not used"

    static var pages: [Checkout.File] { Checkout.files.filter { $0.path.hasSuffix(".md") } }

    /// What is wrong with the beginning of a page: after its heading there has to be a paragraph with a sentence in it,
    /// so that a reader knows what the page is for before a list, a table or code comes.
    static func beginning(of file: Checkout.File) -> Violation? {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let heading = lines.firstIndex(where: { !$0.isEmpty }), lines[heading].hasPrefix("# ") else {
            return Violation(path: file.path, line: 1, rule: "no heading before anything else")
        }
        guard let start = lines[(heading + 1)...].firstIndex(where: { !$0.isEmpty }) else {
            return Violation(path: file.path, line: heading + 1, rule: "nothing after the heading")
        }
        let paragraph = lines[start...].prefix { !$0.isEmpty }.joined(separator: " ")
        let isProse = !paragraph.contains(/^\s*(?:#|\||```|>|<|[-*+]\s|\d+\.\s|Date:|\*\*Status\*\*)/)
        // "sentence." or "sentence:" with five words and more before its end.
        guard isProse, paragraph.contains(/^(?:\S+\s+){4,}.*[.?:)](?:\s|$)/) else {
            return Violation(
                path: file.path, line: start + 1,
                rule: "the first line after the heading is no sentence that says what the page is for")
        }
        return nil
    }

    /// The words that the glossary retired, in the order of its table.
    static func retiredWords(glossary text: String) -> [String] {
        guard let section = text.range(of: retiredHeading) else { return [] }
        return text[section.upperBound...].matches(of: /(?m)^\| (\w[\w ]*) \| (?!but)/).map { String($0.output.1) }
    }

    /// Where a page uses one of `words`. Code, in blocks and in lines, is skipped: a name may outlive a word.
    static func uses(of words: [String], in file: Checkout.File) -> [Violation] {
        var violations: [Violation] = []
        var isCode = false
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if file.path == glossary, line == retiredHeading { break }
            if line.drop(while: \.isWhitespace).hasPrefix("```") { isCode.toggle() }
            if isCode { continue }
            let text = line.replacing(/`[^`]*`/, with: "").lowercased()
            let prose = " \(text.split { !$0.isLetter }.joined(separator: " ")) "
            for word in words where prose.contains(" \(word) ") {
                violations.append(
                    Violation(path: file.path, line: index + 1, rule: "\"\(word)\" is a word that \(glossary) retired"))
            }
        }
        return violations
    }

    /// The part of Sources in which the stair of docs/architecture.md has each room: the word before the number of the
    /// room's step, `| **Ground 1** | `A`, `B` | .. |`. A row without a step belongs to the step above it.
    static func partsOfRooms(in text: String) -> [String: String] {
        var parts: [String: String] = [:]
        var part = ""
        for line in text.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            if let step = line.firstMatch(of: /^\| \*\*(\w+) \d+\*\* \|/) { part = String(step.output.1) }
            guard !part.isEmpty, cells.count > 2 else { continue }
            for room in cells[2].matches(of: /`(\w+)`/) { parts[String(room.output.1)] = part }
        }
        return parts
    }

    /// The floors that a page describes for a room: the rows of the tables with the head "floor" for which the room is
    /// the last one that the page names before.
    /// - Returns: the name in each row's first cell, of which one may list several, with the text of the second.
    static func floors(of room: String, in text: String) -> [(name: String, says: String)] {
        var named = ""
        var isTable = false
        var found: [(name: String, says: String)] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            isTable = line.hasPrefix("| floor |") || isTable && line.hasPrefix("|")
            if !isTable, let path = line.matches(of: /`((?:Sources\/\w+|Benchmarks)\/\w+)`/).last {
                named = "\(path.output.1)/"
            }
            guard isTable, named == room, !line.hasPrefix("| floor |"), !line.hasPrefix("|---") else { continue }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 2 else { continue }
            found += cells[0].split(separator: ",").map { ($0.trimmingCharacters(in: .whitespaces), cells[1]) }
        }
        return found
    }
}
