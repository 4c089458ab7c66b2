import Commands

/// A parameter that a scenario understands, and the values that it can take.
package struct ScenarioParameter: Sendable {
    package enum Kind: Sendable, Equatable {
        case integer(ClosedRange<Int>)
        case choice([String])
        case text
    }

    /// What a number is to a case. `assay minimize`, which looks for a smaller case, changes sizes alone.
    package enum Role: String, Sendable, CaseIterable {
        /// How much there is: rows, operations, threads. Less of it is a smaller case of the same kind.
        case size
        /// How much is looked at: faults, disks, states. Less of it finds less, and says nothing of what fails.
        case effort
        /// What is promised or allowed: a bound, a time to wait. Less of it lets anything fail.
        case allowance
        /// Under what it happens: a delay, a share, how far apart things are. Another one is another case.
        case condition
    }

    package var name: String
    package var defaultValue: String
    package var kind: Kind
    /// Of numbers alone.
    package let role: Role?
    /// One line for `assay list`.
    package var summary: String

    /// More than any machine does in a day.
    static let most = 100_000_000

    /// A whole number: from `range`, else from 1, or from 0 where the default is 0. It has a role, which only its
    /// scenario knows.
    package init(
        _ name: String, _ role: Role, default number: Int, range: ClosedRange<Int>? = nil, summary: String
    ) {
        let range = range ?? min(number, 1)...Self.most
        precondition(range.contains(number), "the default of \(name) is outside its own range")
        self.name = name
        self.role = role
        self.summary = summary
        defaultValue = String(number)
        kind = .integer(range)
    }

    /// A choice, or a text where nothing is listed.
    package init(_ name: String, default defaultValue: String, allowed: [String] = [], summary: String) {
        precondition(!allowed.isEmpty || Int(defaultValue) == nil, "\(name) is a number, and has no role")
        self.name = name
        self.defaultValue = defaultValue
        self.summary = summary
        role = nil
        kind = allowed.isEmpty ? .text : .choice(allowed)
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
