import Harness
import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A writer killed by SIGKILL at a moment chosen by the seed, and its database opened again.
///
/// Each transaction sets one column of 64 rows to its number, and the writer says so when it was acknowledged. What is
/// read afterwards must be one transaction whole, at least the last one acknowledged, at most the one after it.
struct KillMidWrite: Scenario {
    let slug = "kill-mid-write"
    let family = Family.crash
    let question = "Is everything acknowledged there, and nothing torn, after a writer was killed?"
    let requires: Set<Capability> = [.tables, .persistent, .updates]
    let schedule = Schedule.free
    let defaultDataset: String? = "damage"
    let expects: Promise.Kind? = .durability
    let parameters = [ScenarioParameter("trials", default: "200", summary: "kills")]

    private static let rows = 64
    private static let table = "DamagePerson"
    private static let column = "age"

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let fixture = try context.fixtureLocation()
        var files: [(name: String, bytes: [UInt8])] = []
        for file in context.engine.files(at: fixture) where file.role != .lock {
            files.append((String(file.path.dropFirst(fixture.directory.count + 1)), try FileTree.readBytes(file.path)))
        }
        let tables = try context.tables()
        let addresses = (0..<(try context.integer("trials"))).map { FaultAddress("kill", $0) }
        try context.sweep(addresses, secondsPerTrial: 20) { address in
            let directory = context.trialDirectory + "/database"
            try FileTree.remove(directory)
            try FileTree.createDirectory(directory)
            for file in files { try FileTree.writeBytes(directory + "/" + file.name, file.bytes) }
            let location = DatabaseLocation(directory: directory)
            var random = context.random("kill \(address.position ?? 0)")
            let acknowledged = try Self.killWriter(
                context, location, after: 1 + random.below(40), wait: UInt32(random.below(3000)))
            let (outcome, detail) = try Self.read(context, location, tables, acknowledged)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
    }

    /// Starts a writer, and kills it some microseconds after an acknowledgement.
    /// - Returns: the last transaction acknowledged.
    private static func killWriter(
        _ context: CaseContext, _ location: DatabaseLocation, after count: Int, wait: UInt32
    ) throws -> Int {
        let writer = try ForkedChild.start { output in
            do {
                let session = try context.open(location, as: (any UpdateSession).self)
                let keys = (0..<Int64(rows)).map { $0 }
                for number in 1...1_000_000 {
                    try session.update(
                        table: table, column: column, keys: keys,
                        values: Array(repeating: Int64(number), count: rows))
                    var byte: UInt8 = 1
                    if write(output, &byte, 1) != 1 { return 2 }
                }
                return 3
            } catch {
                return 1
            }
        }
        var acknowledged = 0
        var bytes = [UInt8](repeating: 0, count: 4096)
        func hears() -> Bool {
            let n = receive(writer.output, &bytes)
            acknowledged += max(0, n)
            return n > 0
        }
        while acknowledged < count {
            if !hears() { throw HarnessError("the writer ended by itself: \(writer.wait())") }
        }
        usleep(wait)
        writer.kill()
        writer.wait()
        while hears() {}
        return acknowledged
    }

    private static func receive(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, &bytes, bytes.count)
        #else
            Darwin.read(descriptor, &bytes, bytes.count)
        #endif
    }

    /// Opens and reads in a child, so that a crash is an outcome.
    private static func read(
        _ context: CaseContext, _ location: DatabaseLocation, _ tables: TableSet, _ acknowledged: Int
    ) throws -> (Outcome, String) {
        let reader = try ForkedChild.start { output in
            let (outcome, detail) = judge(context, location, tables, acknowledged)
            let text = Array("\(outcome.rawValue)\n\(detail)".utf8)
            return write(output, text, text.count) == text.count ? 0 : 1
        }
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let n = receive(reader.output, &bytes)
            if n <= 0 { break }
            text += bytes[..<n]
        }
        if case .signalled(let signal) = reader.wait() { return (.crashed, "signal \(signal) when opened again") }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", maxSplits: 1)
        guard let first = lines.first, let outcome = Outcome(rawValue: String(first)) else {
            throw HarnessError("the reader reported nothing")
        }
        return (outcome, lines.count > 1 ? String(lines[1]) : "")
    }

    private final class AgeSink: RowSink {
        private let place: Int
        var ages: [Int64?] = []

        init(_ tables: TableSet) {
            place = tables.main.columns.firstIndex { $0.name == KillMidWrite.column } ?? 0
        }

        func receive(table: String, row: Int, values: [Value]) -> Bool {
            guard table == KillMidWrite.table, row < KillMidWrite.rows else { return table == KillMidWrite.table }
            if case .integer(let age) = values[place] { ages.append(age) } else { ages.append(nil) }
            return true
        }
    }

    private static func judge(
        _ context: CaseContext, _ location: DatabaseLocation, _ tables: TableSet, _ acknowledged: Int
    ) -> (Outcome, String) {
        let sink = AgeSink(tables)
        do {
            let session = try context.open(location, as: (any TableSession).self)
            try session.readAll(tables, into: sink)
            try session.close()
        } catch {
            return (.refused, "after \(acknowledged) acknowledged: \(error)")
        }
        guard sink.ages.count == rows, let first = sink.ages[0] else {
            return (.silentlyWrong, "\(sink.ages.count) of \(rows) rows")
        }
        if sink.ages.contains(where: { $0 != first }) { return (.silentlyWrong, "a transaction is there in part") }
        if first < Int64(acknowledged) {
            return (.lostCommit, "transaction \(acknowledged) was acknowledged, \(first) is there")
        }
        if first > Int64(acknowledged) + 1 {
            return (.silentlyWrong, "transaction \(first) is there, \(acknowledged + 1) was the last one begun")
        }
        return (.correct, "")
    }
}
