import Commands

/// A parameter of a scenario, and its possible values.
package struct ScenarioParameter: Sendable {
    package enum Kind: Sendable, Equatable {
        case integer(ClosedRange<Int>)
        case choice([String])
        case text
    }

    /// What a number in a case means. `assay minimize`, which searches for a smaller case that fails, changes only
    /// sizes.
    package enum Role: String, Sendable, CaseIterable {
        /// An amount: rows, operations, threads. A smaller value makes a smaller case of the same kind.
        case size
        /// How thorough the search is: faults, disks, states. With a smaller value it finds fewer failures, but no
        /// others.
        case effort
        /// What is promised or allowed: a bound, a time to wait. A smaller value makes any engine fail.
        case allowance
        /// The circumstances: a delay, a share, a distance. Another value makes another case.
        case condition
    }

    package var name: String
    package var defaultValue: String
    package var kind: Kind
    /// Only numbers have a role.
    package let role: Role?
    /// One line for `assay list`.
    package var summary: String

    /// The upper limit of a number without a range: more than any machine does in a day.
    static let most = 100_000_000

    /// A whole number: in `range`, or else from 1 on, or from 0 on if the default is 0.
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

    /// A choice from `allowed`, or any text if that is empty.
    package init(_ name: String, default defaultValue: String, allowed: [String] = [], summary: String) {
        precondition(!allowed.isEmpty || Int(defaultValue) == nil, "\(name) is a number, and has no role")
        self.name = name
        self.defaultValue = defaultValue
        self.summary = summary
        role = nil
        kind = allowed.isEmpty ? .text : .choice(allowed)
    }

    /// The possible values; empty for a number or a text.
    package var allowed: [String] {
        if case .choice(let values) = kind { values } else { [] }
    }

    /// For people: `1 to 64`, `clean, log`; empty if any text is possible.
    package var rangeText: String {
        switch kind {
        case .integer(let range):
            range.upperBound == Self.most
                ? "a whole number from \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        case .choice(let values): values.joined(separator: ", ")
        case .text: ""
        }
    }

    /// The one spelling of a value that cases use. Throws: `ParameterError`.
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

/// A value that a parameter cannot have; the message lists the possible ones.
package struct ParameterError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
