extension String {
    /// The words on as many lines as it takes, none longer than `width` where a word allows it; behind the first they
    /// are indented.
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
