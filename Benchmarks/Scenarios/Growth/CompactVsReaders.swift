import Files
import Harness
import Measuring
import Platform
import RunRecords
import Synchronization

/// One thread compacts again and again, while others open, read, write and close.
///
/// A violation: a read that is not a state of the database as a whole; a lost increment; an error other than the
/// compaction's own refusal. An engine that compacts only a database that is not open elsewhere may refuse, or change
/// nothing. If the file was never seen compacted, the case is inconclusive.
struct CompactVsReaders: Scenario {
    let slug = "compact-vs-readers"
    let family = Family.growth
    let question = "Do readers and writers see anything of a compaction beside them?"
    let requires: Set<Capability> = [.tables, .updates, .deletions, .persistent, .compaction, .threads]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("readers", .size, default: 2, range: 1...256, summary: "threads that open, read and close"),
        ScenarioParameter(
            "writers", .size, default: 1, range: 1...256, summary: "threads that open, increment a row and close"),
        ScenarioParameter("compactions", .size, default: 40, summary: "attempts"),
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .crashed: nil
        case .hung: .boundedWait
        default: expects
        }
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    private enum Role { case compactor, writer, reader }

    /// The work of a thread.
    private struct Lane: Sendable {
        var done = 0
        var refused = 0
        var wrong: [String] = []
        var latency = Histogram()
        /// The smallest size of the data after an attempt that was not refused.
        var smallest = Int.max
    }

    /// State shared by all threads.
    private final class Board: Sendable {
        let engine: any Engine
        let settings: EngineSettings
        let location: DatabaseLocation
        let deadline: UInt64
        let expected: ExactOracle
        /// The cells that the writers increment.
        let cells: [CellPlace]
        let compactions: Int
        /// Visits that each other thread must have made, however fast attempts are.
        let leastVisits: Int
        let isOver = Atomic<Bool>(false)
        let visits = Atomic<Int>(0)
        let begun = Atomic<Int>(0)

        init(
            _ context: CaseContext, _ location: DatabaseLocation, expected: ExactOracle, cells: [CellPlace],
            compactions: Int, leastVisits: Int
        ) {
            engine = context.engine
            settings = context.settings
            deadline = context.deadline
            self.location = location
            self.expected = expected
            self.cells = cells
            self.compactions = compactions
            self.leastVisits = leastVisits
        }

        func open<Wanted>(as role: Wanted.Type) throws -> Wanted {
            try CaseContext.session(engine, location, settings, as: role)
        }
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let (readers, writers) = (try context.integer("readers"), try context.integer("writers"))
        let location = try context.fixtureLocation()
        let tables = try context.tables()
        var deletion = try HalfDeletion(tables, run: HalfDeletion.blockRows)
        let deleting = try context.open(location, as: (any DeletionSession).self)
        _ = try deletion.run(deleting)
        try deleting.close()
        let before = try context.fileBytes(at: location)
        guard try PeopleRows.count(in: context) > 2 * writers else { throw HarnessError("each writer needs a row") }
        let cells = deletion.liveKeys.prefix(writers).map {
            CellPlace(table: deletion.table, row: Int($0), column: "age")
        }
        let fresh = try FreshDatabase(context, tables.keeping(deletion.liveRows))
        let board = Board(
            context, location, expected: deletion.oracle, cells: cells, compactions: try context.integer("compactions"),
            leastVisits: 10 * (readers + writers))
        let lanes = try ThreadGroup.run(1 + writers + readers) { index in
            try Self.work(board, role: index == 0 ? .compactor : index <= writers ? .writer : .reader, index - 1)
        }
        Self.report(lanes, writers: writers, board.compactions, report)
        var final = deletion.oracle
        for (cell, lane) in zip(cells, lanes[1...writers]) {
            final.increment(table: cell.table, column: cell.column, key: Int64(cell.row), by: Int64(lane.done))
        }
        context.judgeContent("content", at: location, expected: final)
        context.require(lanes[1...writers].reduce(0) { $0 + $1.done }, "no writer wrote beside a compaction")
        context.require(lanes[(writers + 1)...].reduce(0) { $0 + $1.done }, "no reader read beside a compaction")
        let isCompacted = fresh.isMatched(by: lanes[0].smallest)
        context.require(
            isCompacted ? lanes[0].done : 0,
            "the file was never seen compacted: at best \(lanes[0].done == 0 ? before : lanes[0].smallest) bytes, "
                + "\(fresh.bytes) when loaded anew")
        fresh.requireWork(from: before, report)
    }

    private static func work(_ board: Board, role: Role, _ number: Int) throws -> Lane {
        // The other threads end with the compactor, and all threads end with one that meets an error.
        defer { board.isOver.store(true, ordering: .releasing) }
        var lane = Lane()
        func goesOn() -> Bool {
            if board.isOver.load(ordering: .acquiring) { return false }
            guard role == .compactor else { return true }
            return lane.done + lane.refused < board.compactions
                || board.visits.load(ordering: .relaxed) < board.leastVisits
        }
        while goesOn() {
            if MonotonicClock.now() > board.deadline { break }
            let start = MonotonicClock.now()
            switch role {
            case .compactor: try compact(board, &lane)
            case .writer: try write(board, board.cells[number], &lane)
            case .reader: try read(board, &lane)
            }
            let elapsed = MonotonicClock.now() - start
            lane.latency.record(elapsed)
            if role == .compactor { continue }
            board.visits.add(1, ordering: .relaxed)
            // An engine may compact only a closed database: each thread has the database closed longer than open.
            usleep(UInt32(min(20_000, elapsed / 1_000 * 3)))
        }
        return lane
    }

    private static func compact(_ board: Board, _ lane: inout Lane) throws {
        let session = try board.open(as: (any CompactionSession).self)
        do throws(EngineError) {
            try session.compact()
            lane.done += 1
            var size = 0
            for file in board.engine.files(at: board.location) where file.role == .data {
                // A file that is removed meanwhile has no size.
                do { size += try FileTree.size(file.path) } catch { continue }
            }
            lane.smallest = min(lane.smallest, size)
        } catch {
            guard error.kind == .refused else { throw error }
            lane.refused += 1
        }
        try session.close()
    }

    private static func write(_ board: Board, _ cell: CellPlace, _ lane: inout Lane) throws {
        let session = try board.open(as: (any UpdateSession).self)
        board.begun.add(1, ordering: .sequentiallyConsistent)
        lane.done += try session.increment(
            table: cell.table, column: cell.column, key: Int64(cell.row), times: 1, latency: nil)
        try session.close()
    }

    /// Reads all of the database: unchanged rows as loaded, incremented cells within the increments begun so far.
    private static func read(_ board: Board, _ lane: inout Lane) throws {
        let session = try board.open(as: (any TableSession).self)
        let comparison = FullReadComparison(board.expected, open: board.cells)
        try session.readAll(board.expected.schema, into: comparison)
        comparison.finish()
        try session.close()
        lane.done += 1
        if let difference = comparison.difference { lane.wrong.append(difference) }
        let begun = Int64(board.begun.load(ordering: .sequentiallyConsistent))
        for cell in board.cells {
            guard let table = board.expected.tables[cell.table], let column = table.content.columnIndex(cell.column),
                case .integer(let initial) = table.value(row: cell.row, column: column)
            else { continue }
            let allowed = initial...(initial + begun)
            if case .integer(let value)? = comparison.found[cell], allowed.contains(value) { continue }
            let found = comparison.found[cell].map { "\($0)" } ?? "nothing"
            lane.wrong.append("row \(cell.row) holds \(found), begun with \(initial), \(begun) increments begun")
        }
    }

    /// Figures of the compactor, which is the first lane, of the writers after it, and of the readers.
    private static func report(_ lanes: [Lane], writers: Int, _ compactions: Int, _ report: CaseReport) {
        if lanes[0].done + lanes[0].refused < compactions { report.cut() }
        report.add(lanes[0].latency, name: "compaction or its refusal")
        report.add(.compactions, Double(lanes[0].done), statistic: "count")
        report.note("\(lanes[0].done) compactions returned, \(lanes[0].refused) were refused, as others were there")
        var (writing, reading) = (Histogram(), Histogram())
        for lane in lanes[1...writers] { writing.merge(lane.latency) }
        for lane in lanes[(writers + 1)...] { reading.merge(lane.latency) }
        report.add(writing, name: "open, increment, close")
        report.add(reading, name: "open, read, close")
        report.check("reads that were no state", expected: [], got: Array(lanes.flatMap(\.wrong).prefix(5)))
    }
}

extension Metric {
    static let compactions = Metric("compactions", unit: "count", .neutral, .measured)
}
