import Files
import Harness
import Measuring
import Platform
import RunRecords
import Seeds

/// Times the first read after a writer was killed that had done a fixed amount of work.
///
/// A child commits as many transactions of random updates as the case says, the same for every engine, and waits; then
/// it is killed by SIGKILL. How much of that work is still only in a log depends on the engine. Another process opens
/// the database: the figure is the time to its first value, which the last transaction wrote. Everything acknowledged
/// must be there.
struct RecoveryTime: Scenario {
    let slug = "recovery-time"
    let family = Family.workload
    let question = "How long is the first read after a writer was killed that had done a fixed amount of work?"
    let requires: Set<Capability> = [.tables, .persistent, .updates]
    let durability: DurabilityClass? = .full
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .durability
    let parameters = [
        ScenarioParameter(
            "transactions", .size, default: 200, range: 1...1_000_000, summary: "committed before each kill"),
        ScenarioParameter("updates", .size, default: 100, summary: "random rows updated by each"),
        ScenarioParameter("kills", .size, default: 3, range: 1...1_000, summary: "one after the other"),
        SampledContent.parameter,
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func fixture(for test: Case) -> FixtureRequest? { .changing(test) }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let rows = try PeopleRows.oracle(context)
        let location = try context.fixtureLocation()
        let read = FirstRead(context: context, table: rows.main.name, column: "age")
        context.engine.learn(rows.schema)
        var updates = RandomAges(rows, count: try context.integer("updates"), random: context.random("updates"))
        var milliseconds: [Double] = []
        for number in 0..<(try context.integer("kills")) {
            if number > 0 && context.isOverBudget {
                report.cut()
                break
            }
            try commitAndKill(context, location, &updates)
            // Several rows are equally new: the largest key decides, so that every run reads the same row.
            guard let newest = updates.ages.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { break }
            let nanoseconds = try read.measure(
                at: location, key: newest.key, sum: UInt64(bitPattern: newest.value), name: "kill \(number)")
            if let nanoseconds { milliseconds.append(Double(nanoseconds) / 1e6) }
        }
        if !milliseconds.isEmpty {
            report.add(
                .recoveryMilliseconds, milliseconds.sorted()[milliseconds.count / 2], statistic: "median",
                count: milliseconds.count)
        }
        try updates.verify(context, at: location)
    }

    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        try FirstRead.runStep(arguments, context)
    }

    /// Lets a child commit all transactions, and kills it while it waits.
    private func commitAndKill(
        _ context: CaseContext, _ location: DatabaseLocation, _ updates: inout RandomAges
    ) throws {
        let transactions = try context.integer("transactions")
        let before = updates
        let writer = try ForkedChild.start { output in
            do {
                let session = try context.open(location, as: (any UpdateSession).self)
                var updates = before
                for _ in 0..<transactions {
                    try updates.commit(session)
                    try FileTree.writeAll(output, [1], path: "the pipe of a writer")
                }
                while true { sleep(1_000) }
            } catch {
                let text = "\(error)\n"
                text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
                return error is EngineError ? 3 : 1
            }
        }
        // A byte for each acknowledged commit.
        var received: [UInt8] = []
        while received.count < transactions, writer.receive(into: &received, milliseconds: 60_000) {}
        writer.kill()
        let end = writer.wait()
        if end == .exited(3) { throw EngineError(.refused, "the writer was refused") }
        guard received.count == transactions, end == .signalled(SIGKILL) else {
            if case .signalled(let signal) = end, signal != SIGKILL {
                throw EngineError(.refused, "the writer ended by signal \(signal)")
            }
            throw HarnessError("the writer ended by itself: \(end)")
        }
        for _ in 0..<transactions {
            let (keys, values) = updates.next()
            updates.note(keys, values)
        }
    }
}
