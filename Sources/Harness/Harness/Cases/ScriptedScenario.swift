import RunRecords

/// A scenario whose operations are drawn from the seed, or listed one by one in its parameter `history`. A failing case
/// becomes a case file that lists them, and is minimized by removing some.
///
/// Every subset of a script is a valid script: an operation that does not find what it needs does nothing.
package protocol ScriptedScenario: Scenario {
    /// The operations of a case, as text for its parameter `history`: those in the parameter, or else those drawn from
    /// the seed.
    func script(of test: Case) throws -> String

    /// A shorter form of the case for a search that minimizes it: it checks the result a few times instead of after
    /// every step.
    func briefly(_ test: Case) -> Case

    /// Describes an operation, such as `op-3:rename:5:17` of `history`, for a reader of a case file. Nil if the
    /// operation's action and numbers suffice.
    func words(of operation: String) -> String?
}

extension ScriptedScenario {
    package func briefly(_ test: Case) -> Case { test }
    /// Why the text of the operations is invalid.
    package func objection(to test: Case) -> String? {
        do {
            _ = try script(of: test)
            return nil
        } catch { return "\(error)" }
    }

    package func words(of operation: String) -> String? { nil }

    /// The parameter `history`. If its value is empty, the operations are drawn from the seed.
    package static var historyParameter: ScenarioParameter {
        ScenarioParameter("history", default: "", summary: "operations one by one, as case files have them")
    }
}
