import Harness
import Measuring
import Platform
import RunRecords
import Synchronization

/// Measures the anonymous memory of a compaction, relative to the size of the file.
///
/// A violation, if the engine promises a bounded size: more anonymous memory than the allowed share of the file and a
/// constant. Pages of mapped files do not count, since the kernel reclaims them when it needs memory. A file smaller
/// than `least` makes the case inconclusive: any use would stay below the constant.
struct CompactMemory: Scenario {
    let slug = "compact-memory"
    let family = Family.growth
    let question = "Does the memory that a compaction takes depend on the size of the file?"
    let requires: Set<Capability> = [.tables, .deletions, .persistent, .compaction]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .boundedSize
    let parameters = [
        ScenarioParameter(
            "bound", .allowance, default: 50, range: 1...10_000,
            summary: "memory that a compaction may take, in percent of the file's size, besides 4 MiB"),
        ScenarioParameter(
            "least", .allowance, default: 16_384, range: 1...100_000_000,
            summary: "KiB of the file below which the case judges nothing"),
    ]

    /// Memory that a compaction may use for any file: buffers, and what the allocator keeps.
    private static let constantBytes = 4 << 20

    /// A wrong row breaks no promise about size.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        outcome == .memoryLimit ? expects : outcome.brokenPromise(or: .atomicity)
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let location = try context.fixtureLocation()
        let tables = try context.tables()
        let deletion = try HalfDeletion(tables, run: HalfDeletion.blockRows)
        try Self.delete(deletion, context, location)
        let before = try context.fileBytes(at: location)
        let (nanoseconds, taken) = try Self.compact(context.engine, context.settings, location)
        let after = try context.fileBytes(at: location)
        report.add(.durationMilliseconds, Double(nanoseconds) / 1e6)
        report.add(.peakResidentBytes, Double(taken), label: "anonymous, above what was there")
        report.add(.fileBytes, Double(before), label: "before")
        report.add(.fileBytes, Double(after), label: "after")
        let bound = UInt64(before / 100 * (try context.integer("bound")) + Self.constantBytes)
        report.add(
            Trial(
                address: FaultAddress(text: "memory"), outcome: taken <= bound ? .correct : .memoryLimit,
                detail: taken <= bound ? "" : "\(taken) bytes, allowed \(bound) for a file of \(before)"))
        context.judgeContent("content", at: location, expected: deletion.live)
        // A compaction that did nothing uses no memory.
        let fresh = try FreshDatabase(context, tables.keeping(deletion.liveRows))
        if !fresh.isMatched(by: after) {
            report.inconclusive("nothing was compacted: \(after) bytes of \(before), \(fresh.bytes) when loaded anew")
        }
        let least = try context.integer("least") << 10
        if before < least {
            report.inconclusive("a file of \(before) bytes is too small: below \(least) anything is within the bound")
        }
    }

    /// Deletes in a worker, a process of its own: memory that the allocator keeps after a deletion would hide that of a
    /// compaction.
    private static func delete(_ deletion: HalfDeletion, _ context: CaseContext, _ location: DatabaseLocation) throws {
        func delete() throws -> ContentFinding {
            let session = try context.open(location, as: (any DeletionSession).self)
            try session.delete(table: deletion.table, keys: deletion.keys)
            try session.close()
            return ContentFinding(.correct)
        }
        let deleted = try context.executable == nil ? delete() : ForkedReader.finding(seconds: 120, delete)
        guard deleted.outcome == .correct else {
            throw EngineError(.refused, "half of the rows could not be deleted: \(deleted.outcome) \(deleted.detail)")
        }
    }

    /// Nanoseconds of a compaction, and its peak of additional anonymous memory.
    private static func compact(
        _ engine: any Engine, _ settings: EngineSettings, _ location: DatabaseLocation
    ) throws -> (nanoseconds: UInt64, taken: UInt64) {
        let isOver = Atomic<Bool>(false)
        let rests = anonymousBytes
        let figures = try ThreadGroup.run(2) { index -> UInt64 in
            if index == 1 {
                var most: UInt64 = 0
                while !isOver.load(ordering: .acquiring) {
                    most = max(most, anonymousBytes)
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
        return (figures[0], figures[1] > rests ? figures[1] - rests : 0)
    }

    private static var anonymousBytes: UInt64 { ProcessFile.anonymousBytes(processID: getpid()) ?? 0 }
}
