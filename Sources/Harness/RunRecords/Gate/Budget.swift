import JSONText

/// The limit of a counter budget, as a plan writes it.
package enum BudgetLimit: Sendable, Hashable {
    /// `==`: exactly the baseline's value.
    case same
    /// `==1`: this number, in every measurement.
    case exactly(Double)
    /// `<=4`: no more than this number, in any measurement.
    case atMost(Double)
    /// `+2`: no more than this above the baseline.
    case moreBy(Double)
    /// `+0.5%`: no more than this share above the baseline; stored as 0.005.
    case moreByShare(Double)
    /// `any`: no limit, also not that of a wider budget that covers the figure.
    case any

    package static let forms = "\"==\", \"==1\", \"<=4\", \"+2\", \"+0.5%\" or \"any\""

    /// nil if the text is not a limit.
    package init?(_ text: String) {
        let text = text.filter { $0 != " " }
        func number(_ digits: some StringProtocol) -> Double? {
            // Only digits and a point: no sign, no exponent and no named number, as a person writes a count.
            guard digits.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }) else { return nil }
            return Double(digits)
        }
        if text == "==" {
            self = .same
        } else if text == "any" {
            self = .any
        } else if text.hasPrefix("=="), let value = number(text.dropFirst(2)) {
            self = .exactly(value)
        } else if text.hasPrefix("<="), let value = number(text.dropFirst(2)) {
            self = .atMost(value)
        } else if text.hasPrefix("+"), text.hasSuffix("%"), let value = number(text.dropFirst().dropLast()) {
            self = .moreByShare(value / 100)
        } else if text.hasPrefix("+"), let value = number(text.dropFirst()) {
            self = .moreBy(value)
        } else {
            return nil
        }
    }

    /// Whether the limit does not depend on a baseline.
    package var isAbsolute: Bool {
        switch self {
        case .exactly, .atMost: true
        case .same, .moreBy, .moreByShare, .any: false
        }
    }
}

/// The figures that a budget covers: `METRIC`, `SCENARIO.METRIC`, `ENGINE.METRIC` or `SCENARIO.ENGINE.METRIC`.
package struct BudgetKey: Sendable, Hashable, CustomStringConvertible {
    package let scenario: String?
    package let engine: String?
    /// A single metric (`syncs_per_commit`), or a counter (`syncs`) with all its metrics.
    package let metric: String

    package init(scenario: String? = nil, engine: String? = nil, metric: String) {
        (self.scenario, self.engine, self.metric) = (scenario, engine, metric)
    }

    package var description: String {
        [scenario, engine, metric].compactMap { $0 }.joined(separator: ".")
    }

    package func covers(_ test: Case, _ name: CountedName) -> Bool {
        isAbout(test) && (metric == name.metric || metric == name.counter.rawValue)
    }

    package func isAbout(_ test: Case) -> Bool {
        (scenario == nil || scenario == test.scenario) && (engine == nil || engine == test.engine)
    }

    /// If several keys cover a figure, the narrowest one applies: a key with a scenario is narrower than one with an
    /// engine alone, which is narrower than one with neither; then a metric is narrower than its counter.
    fileprivate var narrowness: Int {
        (scenario == nil ? 0 : 4) + (engine == nil ? 0 : 2) + (Counter(rawValue: metric) == nil ? 1 : 0)
    }
}

/// One counter budget: a member of a plan's `budgets`.
package struct Budget: Sendable, Hashable {
    package let key: BudgetKey
    package let limit: BudgetLimit
    /// The limit as the plan writes it.
    package let text: String

    package init(_ key: BudgetKey, limit: BudgetLimit, text: String) {
        (self.key, self.limit, self.text) = (key, limit, text)
    }

    /// nil if the text is not a limit.
    package init?(_ key: BudgetKey, _ text: String) {
        guard let limit = BudgetLimit(text) else { return nil }
        self.init(key, limit: limit, text: text)
    }

}

extension Budget: JSONForm {
    package var json: JSONValue {
        let names = [("scenario", key.scenario), ("engine", key.engine), ("metric", key.metric), ("limit", text)]
        return .members(names.compactMap { name, text in text.map { (name, .string($0)) } })
    }

    package init(json value: JSONValue) throws(JSONShapeError) {
        let json = try JSONObjectReader(value, path: "")
        let key = BudgetKey(
            scenario: json.has("scenario") ? try json.string("scenario") : nil,
            engine: json.has("engine") ? try json.string("engine") : nil, metric: try json.string("metric"))
        guard let budget = Budget(key, try json.string("limit")) else {
            throw JSONShapeError(path: ".limit", expected: BudgetLimit.forms)
        }
        self = budget
    }
}

extension [Budget] {
    /// The budget that applies to a figure; nil if no budget covers it.
    package func budget(for test: Case, _ name: CountedName) -> Budget? {
        filter { $0.key.covers(test, name) }.max { $0.key.narrowness < $1.key.narrowness }
    }
}
