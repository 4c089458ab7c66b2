/// Looks at all results of a run together: a violation that most engines have in the same way is more likely a fault of
/// the harness than of all of them.
///
/// Rule: for one scenario with the same data, parameters, durability class and seed, a cause (outcome, and detail
/// without numbers and with roles in place of file names) is shared when more than half of the conclusive engines have
/// a violation with it, and these are of at least three libraries. A result becomes `suspected-harness` when each of
/// its causes is shared; a single cause of its own keeps it a violation. Only violations count: unnoticed damage in
/// engines that do not promise to detect it does not show a fault of the harness, and does not excuse engines that do
/// promise.
package enum SuspectedHarness {
    /// Fewer libraries may well have the same defect.
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

    /// By case id the reason for suspecting the harness.
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
            let isShared = causes.allSatisfy { $0.text != FailureCauses.remainder && shared[$0.sharedKey] != nil }
            guard !causes.isEmpty, isShared else { continue }
            let count = causes.compactMap { shared[$0.sharedKey]?.count }.min() ?? 0
            suspects[result.test.id] =
                "the same went wrong with \(count) of \(decided.count) engines, so that the harness is suspected"
        }
        return suspects
    }
}
