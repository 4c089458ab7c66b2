extension String {
    /// Breaks the text at spaces into lines of at most `width` columns; a longer word has a line of its own. All lines
    /// after the first are indented by `indent` spaces.
    package func wrapped(to width: Int, indent: Int = 0) -> [String] {
        let start = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        var isBegun = false
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            if isBegun, line.count + 1 + word.count > width {
                lines.append(line)
                line = start + word
            } else {
                line += (isBegun ? " " : "") + word
            }
            isBegun = true
        }
        return lines + [line]
    }
}
