import RunRecords

/// A scenario whose parameter `history` takes its operations one by one. A failing case becomes a case file that lists
/// them, and is minimized by removing some.
///
/// Every subset of a script is a valid script: an operation that does not find what it needs does nothing.
package protocol ScriptedScenario: Scenario {
    /// The operations of a case, as text for its parameter `history`: the given ones, else those drawn from the seed.
    func script(of test: Case) throws -> String

    /// The same case for a search that minimizes it: it checks the result a few times instead of after every step.
    func briefly(_ test: Case) -> Case

    /// Describes an operation for a reader of a case file: `op-3:rename:5:17`, as `history` has it. Nil where its
    /// action and numbers suffice.
    func words(of operation: String) -> String?
}

extension ScriptedScenario {
    package func briefly(_ test: Case) -> Case { test }
    /// Why the text of its operations is invalid.
    package func objection(to test: Case) -> String? {
        do {
            _ = try script(of: test)
            return nil
        } catch { return "\(error)" }
    }

    package func words(of operation: String) -> String? { nil }

    /// The parameter itself. An empty value means operations drawn from the seed.
    package static var historyParameter: ScenarioParameter {
        ScenarioParameter("history", default: "", summary: "operations one by one, as case files have them")
    }
}
