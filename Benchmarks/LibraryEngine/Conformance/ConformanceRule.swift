import Harness
import JSONText
import RunRecords

/// A violation of `assay_engine.h` by a library.
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

/// A sentence of the contract, with its test.
struct ConformanceRule: Sendable {
    /// Names it: `abort-leaves-nothing`.
    var name: String
    /// For people.
    var sentence: String
    /// Why the rule does not apply to a library with fewer claims; nil where it applies.
    var reasonToPass: @Sendable (LibraryDescription) -> String?
    /// Throws `RuleBroken`, or the engine's refusal.
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

    /// In the order of the tests: basic rules first.
    static let all = BasicRules.rules + OrderRules.rules + ByteRules.rules + LifeRules.rules + CrowdRules.rules
}

/// The result of a rule.
package struct RuleFinding: Sendable, Hashable {
    package enum Result: String, JSONForm, CaseIterable {
        case ok
        case failed = "FAIL"
        case notClaimed = "not claimed"
        case notTried = "not tried"
    }

    package var rule: String
    package var sentence: String
    package var result: Result
    /// The failure, or why the rule was not tested.
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
