import Harness
import RunRecords
import Seeds

/// Texts of several scripts and of both planes of Unicode that have letters in two cases, with and without case
/// folding; patterns; texts that differ only after a long prefix, some only in their last byte.
///
/// A violation: a query whose rows differ from the naive answer.
struct QueryText: Scenario {
    let slug = "query-text"
    let family = Family.queries
    let question = "Is text found by its parts, in any script, case and length?"
    let requires: Set<Capability> = [.probes]
    let parameters =
        ProbeTrials.parameters + [
            ScenarioParameter(
                "marks", default: "some", allowed: ["some", "none"],
                summary: "none: no letter with a combining mark, so that patterns by scalar and by character agree")
        ]

    /// One grapheme cluster of two scalars.
    private static let marked = "e\u{301}"
    /// Letters in both cases, characters of four bytes, characters that fold to two, and one in two normal forms.
    private static let letters = [
        "a", "A", "z", "0", " ", "*", "?", "[", "]", "'", "\"", "\\", "%", "_", "ä", "Ä", "ß", "ẞ", "S", "ς", "σ", "Σ",
        "я", "Я", "é", marked, "\u{1F600}", "\u{10428}", "\u{10400}", "中", "İ", "i", "ﬁ",
    ]
    private static let prefix = String(repeating: "a long beginning that many texts share ", count: 7)

    func run(_ context: CaseContext) throws {
        var random = context.random("rows")
        let count = Int64(try context.integer("rows"))
        let letters = try context.text("marks") == "some" ? Self.letters : Self.letters.filter { $0 != Self.marked }
        let rows = (0..<count).map { id in
            // The first rows have the texts of the boundaries, so that every table contains both texts of each pair.
            let edge = id < ProbeValues.texts.count ? ProbeValues.texts[Int(id)] : nil
            return ProbeRow(id: id, text: edge ?? (random.below(12) == 0 ? nil : Self.text(&random, 0...8, letters)))
        }
        var trials = try ProbeTrials(context, rows)
        var choice = context.random("questions")
        for query in ProbeValues.textQuestions { try trials.ask(query) }
        var queries: [ProbeQuery] = []
        for number in 0..<(try context.integer("queries")) / 2 {
            let (kind, condition) = Self.question(&choice, rows, letters, folded: number % 3 == 0)
            queries += ProbeValues.twins(kind, condition)
        }
        for query in queries { try trials.ask(query) }
        try trials.compareRows("texts")
        try trials.measure(queries)
    }

    private static func text(
        _ random: inout RandomStream, _ lengths: ClosedRange<Int>, _ letters: [String]
    ) -> String {
        var text = random.below(5) == 0 ? prefix : ""
        for _ in 0..<(lengths.lowerBound + random.below(lengths.count)) { text += letters[random.below(letters.count)] }
        return text
    }

    private static func question(
        _ random: inout RandomStream, _ rows: [ProbeRow], _ letters: [String], folded: Bool
    ) -> (String, ProbeCondition) {
        let test = ProbeTextTest.allCases[random.below(ProbeTextTest.allCases.count)]
        let kind = "\(test)\(folded ? ", folded" : "")"
        // A stored text, a part of one, or a text of no row.
        let scalars = Array((rows[random.below(rows.count)].text ?? "x").unicodeScalars)
        let whole = String(String.UnicodeScalarView(scalars))
        func part(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }
        let size = scalars.count
        var text = text(&random, 1...2, letters)
        if random.below(4) > 0, size > 0 {
            let start = random.below(size)
            switch test {
            case .equal: text = whole
            case .contains: text = part(start..<min(size, start + 1 + random.below(4)))
            case .begins: text = part(0..<(start + 1))
            case .ends: text = part(start..<size)
            case .like: text = pattern(&random, scalars)
            }
        } else if test == .like {
            text += "*"
        }
        return (kind, .text(.text, test, text, isFolded: folded))
    }

    /// The text with some characters replaced. Folded patterns match whole characters, so none is split here.
    private static func pattern(_ random: inout RandomStream, _ scalars: [Unicode.Scalar]) -> String {
        var pattern = String.UnicodeScalarView()
        var (place, stars) = (0, 0)
        while place < scalars.count {
            switch random.below(6) {
            case 0: pattern.append("?")
            // Few stars: matching may take exponential time in their number.
            case 1 where stars < 2:
                pattern.append("*")
                stars += 1
                place += random.below(8)
                // An accent after a star would change the character that it belongs to.
                while place + 1 < scalars.count, scalars[place + 1].value == 0x301 { place += 1 }
            // A wildcard in the text would need an escape.
            default: pattern.append(scalars[place] == "\\" ? "?" : scalars[place])
            }
            place += 1
        }
        return String(pattern) + "*"
    }
}
