import RunRecords

extension Reporting {
    /// The times and rates that a case had in a run and has in a repetition, a line each: `commits/s: recorded 1 180,
    /// now 1 150`. At most `most` lines, in the order of the run; none for figures that only one of them has.
    /// Complexity: the product of the numbers of samples.
    package static func figures(recorded: CaseResult, now: CaseResult, most: Int = 12) -> [String] {
        let lines = recorded.samples.compactMap { sample -> String? in
            let measure = Measure(sample)
            guard measure.kind.isTime, !measure.isLimit, !recorded.repeats(sample),
                let repeated = now.samples.first(where: { Measure($0) == measure })
            else { return nil }
            func text(_ value: Double) -> String { measure.text(value, gap: " ") }
            return "\(measure.words): recorded \(text(sample.value)), now \(text(repeated.value))"
        }
        return Array(lines.prefix(most))
    }
}
