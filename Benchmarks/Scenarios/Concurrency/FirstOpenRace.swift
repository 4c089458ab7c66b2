import Datasets
import Files
import Harness
import RunRecords

/// Several processes open the same new database at once, and each inserts a row.
///
/// Afterwards the database must hold the acknowledged rows, each once and with all its values, possibly also rows of
/// processes that met an error, and nothing else.
struct FirstOpenRace: Scenario {
    let slug = "first-open-race"
    let family = Family.concurrency
    let question = "Do processes that make a database at once all end up with the same one?"
    let requires: Set<Capability> = [.tables, .persistent, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("trials", .effort, default: 50, summary: "new databases"),
        ScenarioParameter("processes", .size, default: 8, range: 2...64, summary: "processes that open each of them"),
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        // A process that is refused because others have the database open has lost no data, but made no progress.
        case .hung, .refused: .boundedWait
        case .crashed: nil
        default: expects
        }
    }

    func run(_ context: CaseContext) throws {
        let processes = try context.integer("processes")
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress(.race, $0) }
        let schema = try PeopleRows.noRows()
        try context.sweep(addresses, secondsPerTrial: 90) { address in
            let directory = context.trialDirectory + "/database"
            try FileTree.remove(directory)
            try FileTree.createDirectory(directory)
            let location = DatabaseLocation(directory: directory)
            let openers = try (0..<processes).map { index in
                try Opener { try Self.insert(context, location, schema: schema, index: index) }
            }
            let ends = openers.map { $0.wait() }
            if let signal = ends.compactMap(\.signal).first {
                return Trial(address: address, outcome: .crashed, detail: "an opener ended by signal \(signal)")
            }
            if let reason = ends.compactMap(\.broken).first { throw HarnessError("an opener failed: \(reason)") }
            if ends.contains(.hung) {
                return Trial(address: address, outcome: .hung, detail: "an opener was not done after 20 s")
            }
            let refusals = ends.compactMap(\.refusal)
            let (outcome, detail) = try Self.judge(context, location, ends)
            if outcome != .correct || refusals.isEmpty {
                return Trial(address: address, outcome: outcome, detail: detail)
            }
            return Trial(
                address: address, outcome: .refused,
                detail: "\(refusals.count) of \(processes) openers met an error: \(refusals[0])")
        }
    }

    private static func insert(
        _ context: CaseContext, _ location: DatabaseLocation, schema: TableSet, index: Int
    ) throws {
        let session = try context.open(location, as: (any TableSession).self)
        // Another process may create the tables first.
        do throws(EngineError) { try session.create(schema) } catch {
            if error.kind != .refused { throw error }
        }
        let inserted = try session.insertEach(PeopleDataset.persons(index..<(index + 1)), latency: nil)
        guard inserted == 1 else { throw EngineError(.refused, "\(inserted) rows were acknowledged, not 1") }
        try session.close()
    }

    /// Reads the database once to see whether the row of a refused opener is there, as it may be; then judges all rows.
    private static func judge(
        _ context: CaseContext, _ location: DatabaseLocation, _ ends: [OpenerEnd]
    ) throws -> (Outcome, String) {
        let (engine, settings) = (context.engine, context.settings)
        let people = try PeopleDataset().tables(size: ends.count, seed: context.seed)
        let finding = try ForkedReader.finding {
            let seen = RowsSeen(people.main.name)
            let looking = try CaseContext.session(engine, location, settings, as: (any TableSession).self)
            try looking.readAll(people, into: seen)
            try looking.close()
            var expected = ExactOracle(people)
            let missing = ends.indices.filter { !seen.rows.contains($0) }
            for row in missing where ends[row] == .done {
                return ContentFinding(.lostCommit, "the row that opener \(row) inserted is missing")
            }
            expected.delete(table: people.main.name, keys: missing.map { Int64($0) })
            return DamageOracle.read(engine: engine, settings: settings, location: location, expected: expected)
        }
        return (finding.outcome, finding.detail)
    }

    private final class RowsSeen: RowSink {
        private let table: String
        private(set) var rows: Set<Int> = []
        init(_ table: String) { self.table = table }

        func receive(table: String, row: Int, values: [Value]) -> Bool {
            if table == self.table { rows.insert(row) }
            return true
        }
    }
}

/// How a process of a race ended.
private enum OpenerEnd: Equatable {
    case done, hung
    case refused(String)
    case broken(String)
    case crashed(Int32)

    var refusal: String? { if case .refused(let words) = self { words } else { nil } }
    var broken: String? { if case .broken(let reason) = self { reason } else { nil } }
    var signal: Int32? { if case .crashed(let signal) = self { signal } else { nil } }
}

/// A process of a race, which reports at its end what the engine refused.
private struct Opener {
    private let child: ForkedChild
    private let timeout: ProcessTimeout

    init(_ body: () throws -> Void) throws {
        child = try ForkedChild.start { output in
            var words = "done"
            do { try body() } catch let error as EngineError { words = "refused \(error)" } catch { words = "\(error)" }
            do { try FileTree.writeAll(output, Array(words.utf8), path: "the pipe of an opener") } catch { return 2 }
            return 0
        }
        timeout = ProcessTimeout(for: child.processID)
    }

    func wait() -> OpenerEnd {
        var answer: [UInt8] = []
        while child.receive(into: &answer, milliseconds: 50) {
            guard timeout.isOver(seconds: 20) else { continue }
            child.kill()
            child.wait()
            return .hung
        }
        let words = String(decoding: answer, as: UTF8.self)
        switch child.wait() {
        case .signalled(let signal): return .crashed(signal)
        case .exited where words == "done": return .done
        case .exited where words.hasPrefix("refused "): return .refused(String(words.dropFirst(8)))
        case .exited(let status): return .broken("status \(status) \(words)")
        }
    }
}
