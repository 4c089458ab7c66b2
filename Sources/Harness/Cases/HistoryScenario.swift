import RunRecords

/// A scenario whose operations can be given one by one, by its parameter `history`: a failing one becomes a case file
/// that lists them, and is made smaller by taking some out.
///
/// Whatever subset of a history is given is a history, too: what an operation needs and does not find makes it do
/// nothing.
package protocol HistoryScenario: Scenario {
    /// The operations of a case, as the text that its parameter `history` takes: those that it gives, else those that
    /// the seed draws.
    func history(of test: Case) throws -> String

    /// The same case as a search for a smaller one runs it: what is wrong is looked at a few times, not always.
    func briefly(_ test: Case) -> Case

    /// What an operation does, for somebody who reads a case file: `op-3:rename:5:17`, as `history` has it. Nil where
    /// its action and numbers say it.
    func words(of operation: String) -> String?
}

extension HistoryScenario {
    package func briefly(_ test: Case) -> Case { test }
    /// Why its operations are none.
    package func objection(to test: Case) -> String? {
        do {
            _ = try history(of: test)
            return nil
        } catch { return "\(error)" }
    }

    package func words(of operation: String) -> String? { nil }

    /// The parameter itself. Empty: the seed draws the operations.
    package static var historyParameter: ScenarioParameter {
        ScenarioParameter("history", default: "", summary: "operations one by one, as case files have them")
    }
}
