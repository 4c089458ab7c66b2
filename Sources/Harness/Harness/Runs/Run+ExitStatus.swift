import RunRecords

extension RunConfiguration {
    /// The exit status of `assay run`.
    package func exitStatus(_ run: Run) -> Int32 { run.exitStatus(of: cases) }
}

extension Run {
    /// 0 if every required case is conclusive and none is bad; 1 if the harness failed in a case, or is suspected of
    /// it; 2 if an engine broke a promise; 3 if a required case is inconclusive, all cases are, or the run is not
    /// finished. 1 takes precedence over 2, and 2 over 3. A finished shard without cases gives 0.
    package func exitStatus(of cases: [PlannedCase]) -> Int32 {
        let verdicts = results.map(\.verdict)
        if verdicts.contains(.harnessError) || verdicts.contains(.suspectedHarness) { return 1 }
        if verdicts.contains(.violation) { return 2 }
        let required = Set(cases.filter(\.isRequired).map(\.test.id))
        let open = results.filter { $0.verdict == .inconclusive && required.contains($0.test.id) }
        if !open.isEmpty || !isFinished { return 3 }
        if header.part != nil && header.cases.isEmpty { return 0 }
        return verdicts.contains { $0 != .inconclusive } ? 0 : 3
    }
}
