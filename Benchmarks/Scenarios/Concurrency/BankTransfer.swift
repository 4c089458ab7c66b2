import Harness
import History
import Measuring
import Platform
import RunRecords
import Seeds
import Synchronization

/// Threads transfer money between accounts while readers add up the balances.
///
/// Each account has a balance and the list of the transfers that touched it. The sum of the balances never changes; the
/// checker of histories judges the lists, and finds what a sum hides: two errors that compensate each other.
struct BankTransfer: Scenario {
    let slug = "bank-transfer"
    let family = Family.concurrency
    let question = "Does any reader, on any thread, ever see the sum of all accounts move?"
    let requires: Set<Capability> = [.tables, .transactions, .threads]
    let schedule = Schedule.free
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("readers", .size, default: 4, range: 1...256, summary: "threads that add up"),
        ScenarioParameter("writers", .size, default: 2, range: 1...256, summary: "threads that transfer"),
        ScenarioParameter("transfers", .size, default: 200, summary: "transfers per writer"),
    ]

    private static let accounts = 20
    private static let balance: Int64 = 100

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest(recipe: "accounts") }

    func buildFixture(_ context: CaseContext, at location: DatabaseLocation) throws {
        try TransactionPlace.make(context, at: location, cells: Self.accounts)
    }

    /// The observations of a thread.
    private struct Lane: EndingLane, Sendable {
        var history = History()
        var sums: [String] = []
        var looks = 0
        var transfers = 0
        var isCut = false
        var failures = TransactionFailures()
        var failure: EngineError?

        mutating func note(_ sum: Int64, _ way: String) {
            if sum != Int64(accounts) * balance, sums.count < 5 { sums.append("\(sum) \(way)") }
        }
    }

    func run(_ context: CaseContext) throws {
        let (readers, writers) = (try context.integer("readers"), try context.integer("writers"))
        let transfers = try context.integer("transfers")
        let location = try TransactionPlace.location(context, cells: Self.accounts)
        try Self.openAccounts(context, location)
        let (engine, settings, seed, deadline) = (context.engine, context.settings, context.seed, context.deadline)
        let line = StartLine(count: readers + writers)
        let board = Board(writers: writers)
        let lanes = try ThreadGroup.run(readers + writers) { index in
            let opened = Result {
                try CaseContext.session(engine, location, settings, as: (any TransactionSession).self)
            }
            line.arriveAndWait()
            defer { if index < writers { board.writers.subtract(1, ordering: .releasing) } }
            var lane = Lane()
            do {
                let session = try opened.get()
                if index < writers {
                    var random = RandomStream(seed.derived("writer \(index)"))
                    for number in 0..<transfers {
                        lane.isCut = MonotonicClock.now() >= deadline
                        if lane.isCut { break }
                        let id = Int64(index * transfers + number + 1)
                        try Self.transfer(id, index, session: session, random: &random, lane: &lane)
                    }
                } else {
                    repeat { try Self.look(index, session, &lane) } while board.writers.load(ordering: .acquiring) > 0
                }
                try session.close()
            } catch {
                try lane.end(by: error)
            }
            return lane
        }
        try report(lanes, context, location, actor: readers + writers)
    }

    private final class Board: Sendable {
        let writers: Atomic<Int>
        init(writers: Int) { self.writers = Atomic(writers) }
    }

    private static func openAccounts(_ context: CaseContext, _ location: DatabaseLocation) throws {
        let session = try context.open(location, as: (any TransactionSession).self)
        try TransactionPlace.transaction(.writing, on: session) {
            for account in 0..<accounts { try session.write(account, balance) }
        }
        try session.close()
    }

    /// Throws the transaction's own error, whatever the rollback throws.
    private static func transaction<Output>(
        _ access: TransactionAccess, on session: any TransactionSession, _ lane: inout Lane,
        _ body: () throws -> Output
    ) throws -> Output {
        try session.begin(access)
        do {
            let output = try body()
            try session.commit()
            return output
        } catch {
            let first = error
            do throws(EngineError) { try session.rollback() } catch { lane.failures.note(error) }
            throw first
        }
    }

    private static func transfer(
        _ id: Int64, _ actor: Int, session: any TransactionSession, random: inout RandomStream, lane: inout Lane
    ) throws {
        let from = random.below(accounts)
        let to = (from + 1 + random.below(accounts - 1)) % accounts
        let amount = Int64(random.below(50))
        let start = MonotonicClock.now()
        let lists: [[Int64]]
        do {
            lists = try transaction(.writing, on: session, &lane) {
                try session.write(from, try session.read(from) - amount)
                // Let other threads interleave, as they do where a transaction takes longer than this one.
                sched_yield()
                try session.write(to, try session.read(to) + amount)
                let lists = [try session.readList(from), try session.readList(to)]
                try session.append(from, id)
                try session.append(to, id)
                return lists
            }
        } catch {
            // The commit may have taken effect although it failed, and other threads may see it.
            lane.history.begin(actor: actor, at: start)
            for account in [from, to] { lane.history.append(account, id) }
            lane.history.end(.unknown, at: .max)
            throw error
        }
        lane.history.begin(actor: actor, at: start)
        for (account, list) in zip([from, to], lists) {
            lane.history.readList(account, list)
            lane.history.append(account, id)
        }
        lane.history.end(.committed, at: MonotonicClock.now())
        lane.transfers += 1
    }

    /// Reads all accounts in one transaction, and also the engine's own sum where it has one.
    private static func look(_ actor: Int, _ session: any TransactionSession, _ lane: inout Lane) throws {
        let start = MonotonicClock.now()
        var sum: Int64 = 0
        var lists: [[Int64]] = []
        try transaction(.reading, on: session, &lane) {
            for account in 0..<accounts {
                if account == accounts / 2 { sched_yield() }
                sum += try session.read(account)
                lists.append(try session.readList(account))
            }
        }
        lane.history.begin(actor: actor, at: start)
        for (account, list) in lists.enumerated() { lane.history.readList(account, list) }
        lane.history.end(.committed, at: MonotonicClock.now())
        lane.note(sum, "by account")
        if let queries = session as? any QuerySession {
            lane.note(
                try queries.sum(table: TransactionCells.table, column: TransactionCells.number), "by the engine")
        }
        lane.looks += 1
    }

    private func report(
        _ lanes: [Lane], _ context: CaseContext, _ location: DatabaseLocation, actor: Int
    ) throws {
        var last = Lane()
        do {
            let session = try context.open(location, as: (any TransactionSession).self)
            try Self.look(actor, session, &last)
            try session.close()
        } catch {
            try last.end(by: error)
        }
        let report = context.report
        if last.looks > 0 { report.check("sum at the end", expected: [], got: last.sums) }
        report.check("sums that readers saw", expected: [], got: Array(lanes.flatMap(\.sums).prefix(5)))
        let all = lanes + [last]
        var history = History()
        for lane in all { history.add(lane.history) }
        try HistoryJudgement.judge(history, all.map(\.failures), context)
        if lanes.contains(where: \.isCut) { report.cut() }
        report.add(.looks, Double(lanes.reduce(0) { $0 + $1.looks }), statistic: "count")
        if let failure = all.compactMap(\.failure).first { throw failure }
    }
}

extension Metric {
    static let looks = Metric("looks", unit: "count", .neutral, .measured)
}
