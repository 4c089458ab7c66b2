extension String {
    /// The words in lines of at most `width` columns, unless one word is longer. All lines after the first are
    /// indented.
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
