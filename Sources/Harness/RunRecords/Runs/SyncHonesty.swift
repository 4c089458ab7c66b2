/// Adjusts a run on a machine whose syncs are not honest: its results on durability mean nothing, for any engine.
///
/// Rule, if the header's machine has another `fsync` than `yes`: a case that judges files after a power failure is
/// `inconclusive`, whatever its result, since the machine may be at fault. In every other case a kept promise of
/// `durability` becomes open: the page cache survives a kill, so that missing syncs do not show. A failure after a kill
/// stays a failure, since it does not depend on syncs.
package enum SyncHonesty {
    /// The run with verdicts adjusted by this rule.
    package static func judged(_ run: Run) -> Run {
        let machine = run.header.machine
        guard machine.fsync != .yes else { return run }
        var run = run
        for index in run.results.indices { judge(&run.results[index], machine) }
        for id in run.rounds.keys {
            guard var rounds = run.rounds[id] else { continue }
            for index in rounds.indices { judge(&rounds[index], machine) }
            run.rounds[id] = rounds
        }
        return run
    }

    private static let concluded: Set<Verdict> = [.pass, .violation, .known, .unpromised]

    private static func judge(_ result: inout CaseResult, _ machine: Machine) {
        if result.restsOnSyncs, concluded.contains(result.verdict) {
            let reason = reason(machine)
            result.message = reason + (result.message.isEmpty ? "" : "; \(result.message)")
            result.verdict = .inconclusive
            result.leavePromisesOpen()
            return
        }
        for index in result.promises.indices
        where result.promises[index].kind == "durability" && result.promises[index].state == .kept {
            result.promises[index].state = .open
        }
    }

    private static func reason(_ machine: Machine) -> String {
        let cause =
            machine.fsync == .no
            ? "\(machine.fileSystem) keeps nothing when the power fails"
            : "a synced write takes \(machine.fsyncNanoseconds / 1_000) us here, less than a disk needs"
        return "syncs are not honest: \(cause), so that nothing can be said of durability (--out names another place)"
    }
}
