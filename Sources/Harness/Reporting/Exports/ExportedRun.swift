import JSONText
import RunRecords
import Seeds

/// A run with a unique name for each of its cases, and its main figures.
struct ExportedRun {
    let run: Run
    /// The names by case id: the title on one line, followed by the id if two cases have the same title.
    private let names: [String: String]

    init(_ run: Run) {
        self.run = run
        let titles = run.results.map { ($0.test.id, Self.title($0.test)) }
        let counts = Dictionary(titles.map { ($0.1, 1) }) { $0 + $1 }
        names = Dictionary(
            titles.map { id, title in (id, counts[title] == 1 ? title : "\(title) (\(id))") }
        ) { first, _ in first }
    }

    private static func title(_ test: Case) -> String {
        test.title.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }

    func name(_ test: Case) -> String { names[test.id] ?? Self.title(test) }

    /// The main figures of the whole run.
    var figures: [(result: CaseResult, sample: Sample)] {
        run.results.flatMap { result in run.lastingFigures(of: result).map { (result, $0) } }
    }

    /// The distributions of the cases whose figures are valid.
    var histograms: [(result: CaseResult, named: NamedHistogram)] {
        guard run.header.measures else { return [] }
        return run.results.filter { CountedCase.objection(to: $0) == nil }.flatMap { result in
            (run.details[result.test.id]?.histograms ?? []).filter { !$0.histogram.isEmpty }.map { (result, $0) }
        }
    }

    // MARK: Formats of benchmark services

    /// The custom format of `benchmark-action/github-action-benchmark`: an array of figures of one direction.
    func githubActionBenchmark(_ better: BetterDirection) -> JSONValue {
        let direction: Metric.Direction = better == .bigger ? .higherIsBetter : .lowerIsBetter
        return .array(
            figures.filter { $0.sample.metric.direction == direction }.map { result, sample in
                var members = [
                    JSONMember("name", .string("\(name(result.test)): \(FigureName(sample).text)")),
                    JSONMember("unit", .string(sample.metric.unit)), JSONMember("value", .real(sample.value)),
                ]
                let spread = Measure.spread(sample, gap: " ")
                if !spread.isEmpty { members.append(JSONMember("range", .string(spread))) }
                let rounds = "\(sample.count) measurements, \(result.engineVersion), case \(result.test.id)"
                members.append(JSONMember("extra", .string(rounds)))
                return .object(members)
            })
    }

    /// Bencher's metric format: measures by benchmark.
    var bencher: JSONValue {
        var order: [String] = []
        var measures: [String: [JSONMember]] = [:]
        for (result, sample) in figures where sample.metric.direction != .neutral {
            let name = Self.shortened(name(result.test), to: 1_024)
            if measures[name] == nil { order.append(name) }
            var members = [JSONMember("value", .real(sample.value))]
            if let low = sample.low { members.append(JSONMember("lower_value", .real(low))) }
            if let high = sample.high { members.append(JSONMember("upper_value", .real(high))) }
            let text = FigureName(sample).text
            var slug = Self.slug(text)
            // Two names that differ only in punctuation have the same slug: the second gets a digest.
            if measures[name, default: []].contains(where: { $0.name == slug }) {
                slug = Self.slug("\(text) \(StableHash.identifier(of: text))")
            }
            measures[name, default: []].append(JSONMember(slug, .object(members)))
        }
        return .object(order.map { JSONMember($0, .object(measures[$0] ?? [])) })
    }

    /// Letters, digits and single hyphens, at most 64 characters. A longer name is cut, and ends with a digest of the
    /// whole name.
    static func slug(_ text: String) -> String {
        let words = text.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return shortened(words.joined(separator: "-"), to: 64)
    }

    /// Cuts a text to a number of bytes, of which the last are a digest of the whole text.
    private static func shortened(_ text: String, to most: Int) -> String {
        guard text.utf8.count > most else { return text }
        var head = text
        while head.utf8.count > most - 13 || head.last == "-" { head.removeLast() }
        return "\(head)-\(StableHash.identifier(of: text))"
    }
}
