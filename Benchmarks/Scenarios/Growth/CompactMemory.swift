import Harness
import Measuring
import RunRecords
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How much memory of its own a compaction takes, whatever the size of the file.
///
/// A violation, where an engine promises a bounded size: more anonymous memory than the bound. Pages of mapped files
/// do not count: the system takes them back when it needs them.
struct CompactMemory: Scenario {
    let slug = "compact-memory"
    let family = Family.growth
    let question = "Does the memory that a compaction takes depend on the size of the file?"
    let requires: Set<Capability> = [.tables, .deletions, .persistent, .compaction]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .boundedSize
    let parameters = [
        ScenarioParameter("bound", default: "64", summary: "MiB that a compaction may take for itself")
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let location = try context.fixtureLocation()
        var deletion = try HalfDeletion(try context.tables())
        let deleting = try context.open(location, as: (any DeletionSession).self)
        _ = try deletion.run(deleting)
        try deleting.close()
        let before = try context.fileBytes(at: location)
        let isOver = Atomic<Bool>(false)
        let (engine, settings) = (context.engine, context.settings)
        let rests = Self.anonymousBytes
        let figures = try ThreadGroup.run(2) { index -> UInt64 in
            if index == 1 {
                var most: UInt64 = 0
                while !isOver.load(ordering: .acquiring) {
                    most = max(most, Self.anonymousBytes)
                    usleep(500)
                }
                return most
            }
            defer { isOver.store(true, ordering: .releasing) }
            let session = try CaseContext.session(engine, location, settings, as: (any CompactionSession).self)
            let start = MonotonicClock.now()
            try session.compact()
            let elapsed = MonotonicClock.now() - start
            try session.close()
            return elapsed
        }
        let taken = figures[1] > rests ? figures[1] - rests : 0
        report.add(.durationMilliseconds, Double(figures[0]) / 1e6)
        report.add(.peakResidentBytes, Double(taken), label: "anonymous, above what was there")
        report.add(.fileBytes, Double(before), label: "before")
        report.add(.fileBytes, Double(try context.fileBytes(at: location)), label: "after")
        let bound = UInt64(try context.integer("bound")) << 20
        report.add(
            Trial(
                address: FaultAddress(text: "memory"), outcome: taken <= bound ? .correct : .memoryLimit,
                detail: taken <= bound ? "" : "\(taken) bytes, allowed \(bound)"))
        context.judgeContent("content", at: location, expected: deletion.oracle)
    }

    private static var anonymousBytes: UInt64 { ProcessFile.anonymousBytes(processID: getpid()) ?? 0 }
}
