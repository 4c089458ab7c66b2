/// A file in the format of dpkg and Debian's package indexes: paragraphs of `Field: value` lines.
///
/// A line that begins with a blank continues the field above it. A blank line ends a paragraph. Fields keep their line
/// numbers, for error messages.
struct ControlFile {
    struct Field {
        var value: String
        /// 1-based.
        var line: Int
    }

    struct Paragraph {
        /// 1-based, of its first line.
        var line: Int
        /// By name in lower case: field names ignore case.
        var fields: [String: Field] = [:]
        /// The first syntax error in it.
        var problem: String?

        subscript(name: String) -> String? { fields[name]?.value }
    }

    private(set) var paragraphs: [Paragraph] = []
    private var current: Paragraph?
    private var lastField: String?

    /// Complexity: O(bytes).
    init(_ bytes: [UInt8]) {
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            read(line.last == UInt8(ascii: "\r") ? line.dropLast() : line, number: index + 1)
        }
        endParagraph()
    }

    private mutating func endParagraph() {
        if let current { paragraphs.append(current) }
        current = nil
        lastField = nil
    }

    private mutating func read(_ line: ArraySlice<UInt8>, number: Int) {
        guard line.contains(where: { !Self.isBlank($0) }) else {
            endParagraph()
            return
        }
        var paragraph = current ?? Paragraph(line: number)
        defer { current = paragraph }
        guard let text = String(validating: line, as: UTF8.self) else {
            paragraph.note("line \(number): not UTF-8")
            return
        }
        if Self.isBlank(line[line.startIndex]) {
            guard let lastField else {
                paragraph.note("line \(number): continues no field")
                return
            }
            // In a continuation, a single dot stands for an empty line.
            let content = Self.trimmed(Substring(text))
            paragraph.fields[lastField]?.value += "\n" + (content == "." ? "" : content)
            return
        }
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            paragraph.note("line \(number): no field name")
            lastField = nil
            return
        }
        let name = text[..<colon].lowercased()
        if paragraph.fields[name] != nil { paragraph.note("line \(number): field \(text[..<colon]) stands twice") }
        paragraph.fields[name] = Field(value: Self.trimmed(text[text.index(after: colon)...]), line: number)
        lastField = name
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8[...]
        while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(bytes) ?? ""
    }
}

extension ControlFile.Paragraph {
    fileprivate mutating func note(_ text: String) {
        if problem == nil { problem = text }
    }
}
