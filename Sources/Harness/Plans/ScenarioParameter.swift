import Commands

/// A parameter that a scenario understands, and the values that it can take.
package struct ScenarioParameter: Sendable {
    package enum Kind: Sendable, Equatable {
        case integer(ClosedRange<Int>)
        case choice([String])
        case text
    }

    package var name: String
    package var defaultValue: String
    package var kind: Kind
    /// One line for `assay list`.
    package var summary: String

    /// More than any machine does in a day.
    static let most = 100_000_000

    /// A default that is a whole number makes a whole number of it: from `range`, else from 1, or from 0 where the
    /// default is 0.
    package init(
        _ name: String, default defaultValue: String, allowed: [String] = [], range: ClosedRange<Int>? = nil,
        summary: String
    ) {
        self.name = name
        self.defaultValue = defaultValue
        self.summary = summary
        if !allowed.isEmpty {
            kind = .choice(allowed)
        } else if let number = Int(defaultValue) {
            let range = range ?? min(number, 1)...Self.most
            precondition(range.contains(number), "the default of \(name) is outside its own range")
            kind = .integer(range)
        } else {
            kind = .text
        }
    }

    /// The values to choose from; empty for a number or a text.
    package var allowed: [String] {
        if case .choice(let values) = kind { values } else { [] }
    }

    /// For people: `1 to 64`, `clean, log`; empty where anything goes.
    package var rangeText: String {
        switch kind {
        case .integer(let range):
            range.upperBound == Self.most
                ? "a whole number from \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        case .choice(let values): values.joined(separator: ", ")
        case .text: ""
        }
    }

    /// The one spelling of a value that was given. Throws: `ParameterError`.
    package func canonical(_ value: String) throws(ParameterError) -> String {
        switch kind {
        case .text: return value
        case .choice(let values):
            guard values.contains(value) else {
                throw ParameterError(NearestName.complaint("value of \(name):", value, among: values))
            }
            return value
        case .integer(let range):
            guard let number = Int(value), range.contains(number) else {
                throw ParameterError("\(name) needs \(rangeText), not \(value)")
            }
            return String(number)
        }
    }
}

/// A value that a parameter cannot take; says which it can.
package struct ParameterError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
