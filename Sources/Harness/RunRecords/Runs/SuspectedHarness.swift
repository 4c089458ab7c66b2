/// Looks at all results of a run together. If most engines violate a promise in the same way, the harness is more
/// likely at fault than all of them.
///
/// Rule: the results of one scenario with the same data, parameters, durability class and seed are compared. A cause is
/// an outcome, and its detail without numbers and with roles in place of file names. A cause is shared if more than
/// half of the engines with a conclusive result have a violation with it, and these engines are of at least three
/// libraries. A violation becomes `suspected-harness` if each of its causes is shared; a single cause that is not keeps
/// it a violation. Only violations count: unnoticed damage in engines that do not promise to detect it does not show a
/// fault of the harness, and does not excuse engines that do promise it.
package enum SuspectedHarness {
    /// Fewer libraries than this may well have the same defect.
    package static let fewestLibraries = 3

    /// The run with verdicts adjusted by this rule.
    package static func judged(_ run: Run) -> Run {
        let libraries = Dictionary(run.header.engines.map { ($0.name, $0.library) }) { first, _ in first }
        var suspects: [String: String] = [:]
        for results in Dictionary(grouping: run.results, by: { Subject($0.test) }).values {
            for (id, message) in self.suspects(results, libraries) { suspects[id] = message }
        }
        if suspects.isEmpty { return run }
        var run = run
        for index in run.results.indices {
            guard let message = suspects[run.results[index].test.id] else { continue }
            suspect(&run.results[index], message)
        }
        for (id, message) in suspects {
            guard var rounds = run.rounds[id] else { continue }
            for index in rounds.indices where rounds[index].verdict == .violation { suspect(&rounds[index], message) }
            run.rounds[id] = rounds
        }
        return run
    }

    private static func suspect(_ result: inout CaseResult, _ message: String) {
        result.verdict = .suspectedHarness
        result.message = message + (result.message.isEmpty ? "" : "; \(result.message)")
        result.leavePromisesOpen()
    }

    /// The reason for suspecting the harness, by the id of the case.
    private static func suspects(
        _ results: [CaseResult], _ libraries: [String: String]
    ) -> [String: String] {
        let decided = results.filter { [.pass, .violation, .known, .unpromised].contains($0.verdict) }
        let violations = decided.filter { $0.verdict == .violation }
        var engines: [FailureCause.Key: Set<String>] = [:]
        for result in violations {
            for cause in result.failureCauses { engines[cause.sharedKey, default: []].insert(result.test.engine) }
        }
        let shared = engines.filter { _, hit in
            let hitLibraries = Set(hit.map { libraries[$0] ?? EngineVersion(name: $0, version: "").library })
            return hit.count * 2 > decided.count && hitLibraries.count >= fewestLibraries
        }
        var suspects: [String: String] = [:]
        for result in violations {
            let causes = result.failureCauses
            // The remainder may contain a cause that is not shared.
            let isShared = causes.allSatisfy { $0.text != FailureCause.remainder && shared[$0.sharedKey] != nil }
            guard !causes.isEmpty, isShared else { continue }
            let count = causes.compactMap { shared[$0.sharedKey]?.count }.min() ?? 0
            suspects[result.test.id] =
                "the same went wrong with \(count) of \(decided.count) engines, so that the harness is suspected"
        }
        return suspects
    }
}
