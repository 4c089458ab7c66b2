/// Words in several styles, broken into lines at spaces.
struct WrappedText {
    private var words: [(text: Substring, style: TextStyle)] = []

    mutating func add(_ text: String, _ style: TextStyle = .plain) {
        words += text.split(separator: " ").map { ($0, style) }
    }

    /// Lines of at most `width` columns. The first begins with `lead`, the others with as many spaces as `hang`. A word
    /// that is longer than a line is broken.
    func lines(width: Int, lead: String = "", leadStyle: TextStyle = .plain, hang: Int, colour: Bool) -> [String] {
        let start = String(repeating: " ", count: hang)
        var lines: [String] = []
        var line = leadStyle.applied(to: lead, colour: colour)
        var length = lead.count
        var isFresh = true
        func next() {
            lines.append(line)
            (line, length, isFresh) = (start, hang, true)
        }
        for (word, style) in words {
            var rest = word
            if !isFresh, length + 1 + rest.count > width { next() }
            while !rest.isEmpty {
                if isFresh, lines.isEmpty, length + rest.count > width, length > hang { next() }
                let room = max(8, width - length - (isFresh ? 0 : 1))
                let piece = rest.prefix(room)
                line += (isFresh ? "" : " ") + style.applied(to: String(piece), colour: colour)
                length += piece.count + (isFresh ? 0 : 1)
                isFresh = false
                rest = rest.dropFirst(piece.count)
                if !rest.isEmpty { next() }
            }
        }
        return lines + [line]
    }

    /// A command in lines with a backslash at their ends, so that a shell reads them as one line. A word is never
    /// broken, even if it is longer than a line.
    static func command(_ command: String, width: Int, indent: Int) -> [String] {
        let start = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in shellWords(command) {
            if !line.isEmpty, line.count + 1 + word.count + 2 > width {
                lines.append(line + " \\")
                line = start + "  " + word
            } else {
                line = line.isEmpty ? start + word : line + " " + word
            }
        }
        return lines + [line]
    }

    /// Splits at the spaces at which a shell splits: not within single quotes or after a backslash.
    private static func shellWords(_ command: String) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        var isEscaped = false
        for character in command {
            if character == " ", !isQuoted, !isEscaped {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            if character == "'", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isQuoted && !isEscaped
            word.append(character)
        }
        return words + (word.isEmpty ? [] : [word])
    }
}

/// A text for a terminal that contains sentences.
protocol WrappingText {
    var width: Int { get }
    var colour: Bool { get }
}

extension WrappingText {
    /// A sentence after a lead, broken into lines.
    func wrapped(_ text: String, lead: String = "", _ style: TextStyle = .plain, hang: Int) -> [String] {
        var words = WrappedText()
        words.add(text)
        return words.lines(width: max(40, width), lead: lead, leadStyle: style, hang: hang, colour: colour)
    }
}
