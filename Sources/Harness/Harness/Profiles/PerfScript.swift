import RunRecords

/// Reads what `perf script -F comm,ip,sym` prints: a block of lines per sample, its frames from the innermost to the
/// outermost.
enum PerfScript {
    static func stacks(_ text: String) -> FoldedStacks {
        var stacks = FoldedStacks(unit: "samples")
        var command = ""
        var frames: [String] = []
        func flush() {
            if !frames.isEmpty { stacks.add([command] + frames.reversed(), cost: 1) }
            frames = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ").map { $0.filter { $0 != "\t" } }.filter { !$0.isEmpty }
            if words.isEmpty {
                flush()
            } else if line.first == " " || line.first == "\t" {
                frames.append(words.dropFirst().joined(separator: " "))
            } else {
                flush()
                command = words.joined(separator: " ")
            }
        }
        flush()
        return stacks
    }
}
