extension String {
    /// The text up to its first line end: the line of a message that fits into a table.
    var firstLine: String { split(whereSeparator: \.isNewline).first.map(String.init) ?? "" }
}
