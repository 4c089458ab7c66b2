import Files
import Harness
import Platform
import RunRecords

/// Kills a writer (SIGKILL) at a moment chosen by the seed, and opens its database again.
///
/// Transaction n sets one column of 64 rows to n, and that of one further row, another one in each transaction. So a
/// read shows which transaction was the last, and whether one before it is missing. The last one must be the last
/// acknowledged one or the one after it; everything else in the database must be as loaded.
struct KillMidWrite: Scenario {
    let slug = "kill-mid-write"
    let family = Family.crash
    let question = "Is everything acknowledged there, and nothing torn, after a writer was killed?"
    let requires: Set<Capability> = [.tables, .persistent, .updates]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .durability
    let parameters = [ScenarioParameter("trials", .effort, default: 200, summary: "kills")]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let files = try FixtureFiles(context)
        let history = try History(context)
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.kill, $0) }
        try context.sweep(addresses, secondsPerTrial: 60) { address in
            let location = try files.place(in: context.trialDirectory + "/database")
            var random = context.random("kill \(address.position ?? 0)")
            let killed = try Self.killWriter(
                context, location, history, after: 1 + random.below(40), wait: UInt32(random.below(3000)))
            if let failure = killed.failure {
                return Trial(address: address, outcome: failure.outcome, detail: failure.detail)
            }
            try context.keepDatabase(at: location)
            if let fault = try context.sealFault(at: location) {
                return Trial(address: address, outcome: .silentlyWrong, detail: fault)
            }
            let finding = try ForkedReader.read(
                context, at: location, expected: history.loaded, open: history.cells, seconds: 30)
            let (outcome, detail) = history.judge(
                finding, acknowledged: killed.acknowledged, isKept: context.test.durability != .none)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
    }

    /// The changes of the writer, and the content when transaction n was its last.
    struct History {
        static let rows = 64

        let loaded: ExactOracle
        let table: String
        let column: String
        /// Values of the rows in rotation before the first transaction.
        private let before: [Int64]

        init(_ context: CaseContext) throws {
            let tables = try context.tables()
            let main = tables.main
            guard case .integer(let ages)? = main.column("age")?.values, main.rowCount > Self.rows else {
                throw HarnessError("\(context.test.scenario) needs more than \(Self.rows) rows with an age")
            }
            loaded = ExactOracle(tables)
            table = main.name
            column = "age"
            before = Array(ages[Self.rows...])
        }

        var cells: [CellPlace] {
            (0..<(Self.rows + before.count)).map { CellPlace(table: table, row: $0, column: column) }
        }

        /// The rows that transaction n sets to n.
        func keys(_ number: Int) -> [Int64] {
            (0..<Int64(Self.rows)).map { $0 } + [Int64(Self.rows + number % before.count)]
        }

        /// Values of the rows in rotation after n transactions.
        func turns(after count: Int) -> [Int64] {
            var values = before
            for number in max(1, count - before.count + 1)..<(max(0, count) + 1) {
                values[number % before.count] = Int64(number)
            }
            return values
        }

        func judge(_ finding: ContentFinding, acknowledged: Int, isKept: Bool) -> (Outcome, String) {
            guard finding.outcome == .correct else {
                return (finding.outcome, "after \(acknowledged) acknowledged: \(finding.detail)")
            }
            let numbers = finding.numbers.compactMap { $0 }
            guard numbers.count == Self.rows + before.count else {
                return (.silentlyWrong, "\(numbers.count) of \(finding.numbers.count) rows have an integer \(column)")
            }
            let set = numbers.prefix(Self.rows)
            let isUntouched = set.elementsEqual(agesBefore)
            guard isUntouched || set.allSatisfy({ $0 == numbers[0] }) else {
                return (.silentlyWrong, "a transaction is there in part")
            }
            let last = isUntouched ? 0 : Int(numbers[0])
            if last < acknowledged, isKept {
                return (.lostCommit, "transaction \(acknowledged) was acknowledged, \(last) is there")
            }
            guard (0...(acknowledged + 1)).contains(last) else {
                return (.silentlyWrong, "transaction \(last) is there, \(acknowledged + 1) was the last one begun")
            }
            let expected = turns(after: last)
            let got = Array(numbers.suffix(before.count))
            guard let place = got.indices.first(where: { got[$0] != expected[$0] }) else { return (.correct, "") }
            let row = Self.rows + place
            return (
                got[place] < expected[place] || got[place] == before[place] ? .lostCommit : .silentlyWrong,
                "transaction \(last) is the last; \(table) row \(row) holds \(got[place]), not \(expected[place])"
            )
        }

        private var agesBefore: [Int64] {
            guard let main = loaded.tables[table], let column = main.content.columnIndex(column) else { return [] }
            return (0..<Self.rows).compactMap { row in
                if case .integer(let age) = main.value(row: row, column: column) { age } else { nil }
            }
        }
    }

    /// Starts a writer, and kills it some microseconds after an acknowledgement.
    /// - Returns: the last acknowledged transaction; or how the writer ended before it was killed.
    private static func killWriter(
        _ context: CaseContext, _ location: DatabaseLocation, _ history: History, after count: Int, wait: UInt32
    ) throws -> (acknowledged: Int, failure: ContentFinding?) {
        let writer = try ForkedChild.start { output in
            var last = "the writer came to the end of its numbers"
            do {
                let session = try context.open(location, as: (any UpdateSession).self)
                for number in 1...1_000_000 {
                    let keys = history.keys(number)
                    try session.update(
                        table: history.table, column: history.column, keys: keys,
                        values: Array(repeating: Int64(number), count: keys.count))
                    try FileTree.writeAll(output, [0], path: "the pipe of a writer")
                }
            } catch let error as EngineError {
                last = "refused \(error)"
            } catch {
                last = "\(error)"
            }
            do { try FileTree.writeAll(output, Array(last.utf8), path: "the pipe of a writer") } catch { return 2 }
            return 1
        }
        var words: [UInt8] = []
        func acknowledged() -> Int { words.firstIndex { $0 != 0 } ?? words.count }
        var isOpen = true
        while isOpen, acknowledged() < count { isOpen = writer.receive(into: &words, milliseconds: 1_000) }
        if isOpen { usleep(wait) }
        writer.kill()
        let end = writer.wait()
        while writer.receive(into: &words, milliseconds: 0), isOpen {}
        let last = String(decoding: words[acknowledged()...], as: UTF8.self)
        if last.hasPrefix("refused ") {
            return (acknowledged(), ContentFinding(.refused, "the writer was refused: \(last.dropFirst(8))"))
        }
        if case .signalled(let signal) = end, signal != SIGKILL {
            return (acknowledged(), ContentFinding(.crashed, "the writer ended by signal \(signal)"))
        }
        guard last.isEmpty, end == .signalled(SIGKILL) else {
            throw HarnessError("the writer ended by itself: \(end) \(last)")
        }
        return (acknowledged(), nil)
    }
}
