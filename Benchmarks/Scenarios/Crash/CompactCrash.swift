import Datasets
import FaultModel
import Files
import Harness
import Measuring
import Platform
import RunRecords
import Seeds
import SimulatedDisk

/// Interrupts a compaction: kills its process, and where the engine runs on the simulated disk, also cuts power at
/// every operation of it.
///
/// A violation: any rows but those before the compaction; an open that fails afterwards; files of the compaction that
/// are still there after the database was opened and closed again; of an encrypted database a nonce that is used twice.
/// The case is inconclusive if no compaction was under way when its process or the power ended.
struct CompactCrash: Scenario {
    let slug = "compact-crash"
    let family = Family.crash
    let question = "Is everything there, and nothing else, after a compaction was interrupted anywhere?"
    let requires: Set<Capability> = [.tables, .persistent, .deletions, .compaction]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .atomicity
    let parameters = [
        ScenarioParameter(
            "kills", .effort, default: 60, range: 0...100_000,
            summary: "processes killed at moments of the compaction"),
        ScenarioParameter(
            "rows", .size, default: 120, range: 2...100_000, summary: "rows of the database on the simulated disk"),
        ScenarioParameter("states", .effort, default: 5_000, summary: "disks that are opened at most"),
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        if try context.integer("kills") > 0 {
            try CompactionKills(context).run()
            // This comes after the kills: a process that has opened an engine must not fork any more.
            if context.report.replayed?.exists == true { return }
        }
        if let engine = context.engine as? any SimulatableEngine { try cutPower(engine, context) }
    }

    // MARK: Power

    private static let location = DatabaseLocation(directory: "/folder")

    private func cutPower(_ engine: any SimulatableEngine, _ context: CaseContext) throws {
        let tables = try PeopleDataset().tables(size: try context.integer("rows"), seed: Seed(0))
        let most = try context.integer("states")
        let disk = SimulatedDisk(seed: Seed(context.seed.rawValue))
        var deletion = try HalfDeletion(tables)
        let first = try engine.open(on: disk, Self.location, settings: context.settings)
        guard let loading = first as? any TableSession, let deleting = first as? any DeletionSession else {
            throw HarnessError("\(engine.name) declares a capability that its session has not")
        }
        try loading.load(tables)
        _ = try deletion.run(deleting)
        try first.close()
        let idle = disk.operations
        // The control: an open and a close without a compaction.
        try engine.open(on: disk, Self.location, settings: context.settings).close()
        let begun = disk.operations
        disk.setOperation("compact")
        try engine.openCompacting(on: disk, Self.location, settings: context.settings).close()
        let isCompacted = disk.operations - begun > begun - idle
        context.require(isCompacted ? 1 : 0, "the disk saw no compaction: as many operations as of an open")
        try context.judgeSeals(on: disk, secrets: CaseContext.secrets(tables))
        let names = Set(disk.image.entries.keys)
        var (tried, last) = (0, 0)
        var sweep = disk.sweep()
        var found = CrashCoverage()
        let stretches = Self.stretches(begun..<(disk.operations + 1))
        for (index, stretch) in stretches.enumerated() where !context.isOverBudget {
            // A stretch that needs less than its share leaves the rest to later ones.
            let share = tried + max(1, (most - tried) / (stretches.count - index))
            found += sweep.visit(points: stretch) { state in
                let (outcome, detail) = judge(
                    engine, context, disk: disk.crash(state), oracle: deletion.oracle, names: names)
                context.report.add(
                    Trial(address: FaultAddress(text: "\(state.address)"), outcome: outcome, detail: detail))
                (tried, last) = (tried + 1, state.step.operation)
                return tried < share && !context.isOverBudget
            }
        }
        if context.isOverBudget { context.report.cut() }
        found.operations = disk.operations
        context.require(
            last >= stretches[stretches.count / 2].lowerBound ? tried : 0,
            "no disk was opened on which the compaction was in its second half")
        context.report.note("power cut during a compaction of \(tables.main.rowCount) rows: \(found)")
    }

    /// The crash points of a compaction in equal parts, each with a share of the states: otherwise the first operations
    /// would use them up, and the last ones, which replace the old file by the new one, would get none.
    static func stretches(_ points: Range<Int>) -> [Range<Int>] {
        let count = min(8, points.count)
        return (0..<count).map { part in
            let start = points.lowerBound + points.count * part / count
            return start..<(points.lowerBound + points.count * (part + 1) / count)
        }
    }

    private func judge(
        _ engine: any SimulatableEngine, _ context: CaseContext, disk: SimulatedDisk, oracle: ExactOracle,
        names: Set<String>
    ) -> (Outcome, String) {
        let comparison = FullReadComparison(oracle)
        do {
            disk.setOperation("recover")
            let session = try engine.open(on: disk, Self.location, settings: context.settings)
            guard let tables = session as? any TableSession else { throw EngineError(.unsupported, "no tables") }
            try tables.readAll(oracle.schema, into: comparison)
            try session.close()
            try engine.check(on: disk, Self.location)
        } catch let error as EngineError {
            if let difference = comparison.difference { return (.silentlyWrong, difference) }
            return (error.outcomeOfRead, "\(error)")
        } catch {
            return (.refused, "\(error)")
        }
        comparison.finish()
        if let difference = comparison.difference { return (.silentlyWrong, difference) }
        let strange = Set(disk.image.entries.keys).subtracting(names).sorted()
        return strange.isEmpty ? (.correct, "") : (.overSize, "left behind: \(strange.joined(separator: ", "))")
    }
}

/// Kills processes that compact the case's fixture, half of whose rows were deleted.
private struct CompactionKills {
    private enum Word {
        static let begun: UInt8 = 1
        static let done: UInt8 = 2
        static let failed: UInt8 = 3
    }

    private let context: CaseContext
    private let files: FixtureFiles
    private let expected: ExactOracle
    /// Duration of an undisturbed compaction.
    private var microseconds = 0
    /// Bytes of the compacted database.
    private var compactBytes = 0
    /// Kinds of files beside the closed database, before and after an undisturbed compaction.
    private var kinds: Set<String> = []

    /// Deletes rows, and measures an undisturbed compaction.
    init(_ context: CaseContext) throws {
        self.context = context
        let tables = try context.tables()
        let deletion = try HalfDeletion(tables, run: HalfDeletion.blockRows)
        let fixture = try context.fixtureLocation()
        let fresh = try context.emptyLocation("fresh")
        let live = tables.keeping(deletion.liveRows)
        let prepared = try ForkedReader.finding(seconds: 120) {
            let session = try context.open(fixture, as: (any DeletionSession).self)
            try session.delete(table: deletion.table, keys: deletion.keys)
            try session.close()
            try FreshDatabase.load(context, live, at: fresh)
            return ContentFinding(.correct)
        }
        guard prepared.outcome == .correct else {
            throw EngineError(.refused, "half of the rows could not be deleted: \(prepared.detail)")
        }
        expected = deletion.live
        files = try FixtureFiles(context.engine, at: fixture)
        kinds = Self.kinds(in: fixture)
        let target = FreshDatabase(bytes: try context.fileBytes(at: fresh))
        try measure()
        if files.bytes > compactBytes, target.isMatched(by: compactBytes), !target.isMatched(by: files.bytes) { return }
        context.report.inconclusive(
            "a compaction did not compact: \(files.bytes) bytes before, \(compactBytes) after, "
                + "\(target.bytes) when loaded anew")
    }

    private mutating func measure() throws {
        let location = try files.place(in: context.directory + "/measured")
        let child = try compaction(at: location)
        var words: [UInt8] = []
        while !words.contains(Word.begun), child.receive(into: &words, milliseconds: 1_000) {}
        let start = MonotonicClock.now()
        while !words.contains(Word.done), child.receive(into: &words, milliseconds: 1_000) {}
        microseconds = Int((MonotonicClock.now() - start) / 1_000)
        while child.receive(into: &words, milliseconds: 1_000) {}
        let end = child.wait()
        guard end == .exited(0) else { throw Self.failure(words, end) }
        kinds.formUnion(Self.kinds(in: location))
        compactBytes = try context.fileBytes(at: location)
        try FileTree.remove(location.directory)
    }

    /// File names without their numbers: an engine with many files creates new numbers all the time.
    private static func kinds(in location: DatabaseLocation) -> Set<String> {
        do {
            return Set(try FileTree.names(in: location.directory).map { $0.filter { !$0.isNumber } })
        } catch {
            return []
        }
    }

    func run() throws {
        let addresses = (0..<(try context.integer("kills"))).map { FaultAddress(.kill, $0) }
        let hits = TrialTally(context, "hits")
        try context.sweep(addresses, secondsPerTrial: 60) { address in
            let finding = try kill(address, hits)
            return Trial(address: address, outcome: finding.outcome, detail: finding.detail)
        }
        let count = try hits.count()
        context.report.add(.kills, Double(count), statistic: "count", label: "in the middle of a compaction")
        context.require(count, "no kill hit a compaction: all were over before")
    }

    /// A child that reports the beginning and the end of its compaction.
    private func compaction(at location: DatabaseLocation) throws -> ForkedChild {
        try ForkedChild.start { output in
            do {
                do {
                    let session = try context.open(location, as: (any CompactionSession).self)
                    try FileTree.writeAll(output, [Word.begun], path: "the pipe of a compaction")
                    try session.compact()
                    try FileTree.writeAll(output, [Word.done], path: "the pipe of a compaction")
                    try session.close()
                    return 0
                } catch {
                    let words = [Word.failed] + Array("\(error)".utf8)
                    try FileTree.writeAll(output, words, path: "the pipe of a compaction")
                    return error is EngineError ? 1 : 3
                }
            } catch {
                return 2
            }
        }
    }

    /// The error of a compaction that ended before its kill.
    private static func failure(_ words: [UInt8], _ end: ChildEnd) -> any Error {
        let text = String(decoding: words.drop { $0 != Word.failed }.dropFirst(), as: UTF8.self)
        return end == .exited(1)
            ? EngineError(.refused, "the compaction failed: \(text)")
            : HarnessError("the compaction ended by itself: \(end) \(text)")
    }

    private func kill(_ address: FaultAddress, _ hits: TrialTally) throws -> ContentFinding {
        let location = try files.place(in: context.trialDirectory + "/database")
        var random = context.random("kill \(address.position ?? 0)")
        let child = try compaction(at: location)
        var words: [UInt8] = []
        while !words.contains(Word.begun), child.receive(into: &words, milliseconds: 1_000) {}
        guard words.contains(Word.begun) else { throw Self.failure(words, child.wait()) }
        usleep(UInt32(random.below(max(1, microseconds))))
        child.kill()
        let end = child.wait()
        while child.receive(into: &words, milliseconds: 0) {}
        if words.contains(Word.failed) { throw Self.failure(words, end) }
        if case .signalled(let signal) = end, signal != SIGKILL {
            return ContentFinding(.crashed, "the compaction ended by signal \(signal)")
        }
        if !words.contains(Word.done) { try hits.add() }
        try context.keepDatabase(at: location)
        if let fault = try context.sealFault(inDirectory: location.directory) {
            return ContentFinding(.silentlyWrong, fault)
        }
        let finding = try ForkedReader.read(context, at: location, expected: expected, seconds: 30)
        return finding.outcome == .correct ? try leftovers(at: location) : finding
    }

    /// Files that an interrupted compaction left, after an open and a close.
    private func leftovers(at location: DatabaseLocation) throws -> ContentFinding {
        let strange = Self.kinds(in: location).subtracting(kinds).sorted()
        if !strange.isEmpty { return ContentFinding(.overSize, "left behind: \(strange.joined(separator: ", "))") }
        let total = try context.fileBytes(at: location)
        let allowed = FreshDatabase(bytes: max(files.bytes, compactBytes)).allowedBytes
        if total <= allowed { return ContentFinding(.correct) }
        return ContentFinding(.overSize, "\(total) bytes are left of \(files.bytes), allowed \(allowed)")
    }
}

extension Metric {
    static let kills = Metric("kills", unit: "count", .neutral, .measured)
}
