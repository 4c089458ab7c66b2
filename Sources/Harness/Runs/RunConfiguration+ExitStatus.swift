import RunRecords

extension RunConfiguration {
    /// 0 when every case that the plan requires came to a conclusion and none is bad; 1 when the harness failed in a
    /// case, or is suspected to have; 2 when an engine broke a promise; 3 when a required case came to no conclusion,
    /// or none did. 1 comes before 2, and 2 before 3.
    package func exitStatus(_ run: Run) -> Int32 {
        let verdicts = run.results.map(\.verdict)
        if verdicts.contains(.harnessError) || verdicts.contains(.suspectedHarness) { return 1 }
        if verdicts.contains(.violation) { return 2 }
        let required = Set(cases.filter(\.isRequired).map(\.test.id))
        let open = run.results.filter { $0.verdict == .inconclusive && required.contains($0.test.id) }
        if !open.isEmpty || !run.isFinished { return 3 }
        return verdicts.contains { $0 != .inconclusive } ? 0 : 3
    }
}
