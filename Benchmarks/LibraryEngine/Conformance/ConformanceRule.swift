import Harness
import RunRecords

/// What a library does that `assay_engine.h` forbids.
struct RuleBroken: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Why a rule could not be tried here.
struct RuleUntried: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A sentence of the contract, and what tries it.
struct ConformanceRule: Sendable {
    /// Names it: `abort-leaves-nothing`.
    var name: String
    /// For people.
    var sentence: String
    /// Why it does not hold for a library that claims less; nil where it holds.
    var reasonToPass: @Sendable (LibraryDescription) -> String?
    /// Throws `RuleBroken`, or what the engine refused.
    var trial: @Sendable (ConformanceSubject) throws -> Void

    init(
        _ name: String, _ sentence: String,
        unless reasonToPass: @escaping @Sendable (LibraryDescription) -> String? = { _ in nil },
        _ trial: @escaping @Sendable (ConformanceSubject) throws -> Void
    ) {
        self.name = name
        self.sentence = sentence
        self.reasonToPass = reasonToPass
        self.trial = trial
    }

    init(
        _ name: String, _ sentence: String, claim: LibraryDescription.Claim,
        _ trial: @escaping @Sendable (ConformanceSubject) throws -> Void
    ) {
        self.init(
            name, sentence,
            unless: { $0.claims.contains(claim) ? nil : "\(claim.rawValue) is not among its capabilities" }, trial)
    }

    /// In the order in which they are tried: what others stand on comes first.
    static let all = BasicRules.rules + OrderRules.rules + ByteRules.rules + LifeRules.rules + CrowdRules.rules
}

/// What came of a rule.
package struct RuleFinding: Sendable, Hashable {
    package enum Result: String, Sendable, CaseIterable {
        case ok
        case failed = "FAIL"
        case notClaimed = "not claimed"
        case notTried = "not tried"
    }

    package var rule: String
    package var sentence: String
    package var result: Result
    /// What happened, or why it was not tried.
    package var detail: String

    package init(rule: String, sentence: String, result: Result, detail: String) {
        self.rule = rule
        self.sentence = sentence
        self.result = result
        self.detail = detail
    }
}

func expect<Value: Equatable>(_ got: Value, _ wanted: Value, _ what: String) throws {
    guard got != wanted else { return }
    throw RuleBroken("\(what): it is \(text(got)), and has to be \(text(wanted))")
}

private func text<Value>(_ value: Value) -> String {
    if let value = value as? String? { return value.map { "\"\($0.prefix(60))\"" } ?? "not there" }
    if let bytes = value as? [UInt8]? { return bytes.map { "the bytes \(OrderRules.hex([$0]))" } ?? "not there" }
    return "\(value)"
}
