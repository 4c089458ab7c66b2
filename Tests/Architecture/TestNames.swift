/// The rules for names of tests. A list of results is read without the code: it has the type of each suite and the
/// sentence of each test, so a test needs a sentence, and one that no other test of its suite has.
enum TestNames {
    static func violations(in files: [(path: String, source: SwiftSource)]) -> [Violation] {
        var violations: [Violation] = []
        /// The sentences of each suite, by target and type: a suite may have extensions in other files.
        var sentences: [String: Set<Substring>] = [:]
        for (path, source) in files where source.code.has("@Test") || source.code.has("@Suite") {
            let code = source.codeLines
            // A line has the same number here: only the text of strings is added.
            let lines = source.withoutComments.split(separator: "\n", omittingEmptySubsequences: false)
            let types = Declarations(source).outer
            for (index, line) in code.enumerated() {
                func report(_ rule: String) {
                    violations.append(Violation(path: path, line: index + 1, rule: rule))
                }
                let line = line.drop { $0 == " " }
                if line.hasPrefix("@Suite"), string(after: "@Suite", in: lines, at: index) != nil {
                    report("a suite with a name beside its type's")
                }
                guard line.hasPrefix("@Test") else { continue }
                // The text of a raw identifier may have quotes, so the code of this line may end after the first mark.
                if code[index...].first(where: { $0.has("func ") })?.has("func `") == true {
                    report("a test with a raw identifier: the sentence goes into @Test")
                }
                guard let sentence = string(after: "@Test", in: lines, at: index), !sentence.isEmpty else {
                    report("a test without a sentence")
                    continue
                }
                if sentence.last == "." { report("a sentence of a test with a full stop") }
                let suite = types.first { $0.lines.contains(index + 1) }?.name ?? path
                if !sentences["\(Checkout.room(of: path)): \(suite)", default: []].insert(sentence).inserted {
                    report("two tests of \(suite) with one sentence: \(sentence)")
                }
            }
        }
        return violations
    }

    /// The string that is the first argument of the attribute at the start of a line, or nil. The string may stand on
    /// the next line.
    private static func string(after attribute: String, in lines: [Substring], at index: Int) -> Substring? {
        var rest = lines[index].drop { $0 == " " }.dropFirst(attribute.count)
        guard rest.first == "(" else { return nil }
        rest = rest.dropFirst()
        if rest.isEmpty, index + 1 < lines.count { rest = lines[index + 1].drop { $0 == " " } }
        guard rest.first == "\"" else { return nil }
        return rest.dropFirst().prefix { $0 != "\"" }
    }
}
