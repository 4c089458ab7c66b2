import FaultModel
import Harness
import RunRecords
import Seeds

/// Damage as seen by a program with default settings: flips one bit of each page, and zeroes each page, in turn; then
/// runs the queries of applications one by one over one open database.
///
/// A wrong answer must not come without an error: by the time the call returns, it or an earlier call must have thrown,
/// or the engine must have reported damage by its own means. The seed draws the order of the queries for each trial:
/// the first one to reach the damage reports it.
struct DamageAsItComes: DamageScenario {
    let slug = "damage-as-it-comes"
    let question = "Does a program with default settings learn of damage before it gets a wrong answer?"
    let parameters = [
        ScenarioParameter(
            "shape", default: DamageShape.clean.rawValue, allowed: [DamageShape.clean.rawValue],
            summary: "the database was loaded and closed"),
        ScenarioParameter(
            "hook", default: "none", allowed: ["none", "report"],
            summary: "default settings alone, or also a handler for the engine's reports, if it has one"),
        ScenarioParameter(
            "pages", .effort, default: 0, range: 0...1_000_000,
            summary: "pages chosen by the seed; 0 takes every page"),
    ]
    var requires: Set<Capability> { [.tables, .persistent, .queries] }

    func run(_ context: CaseContext) throws {
        let sweep = try DamageSweep(context)
        var settings = context.settings
        if context.test.parameter("hook") == "report" {
            guard let index = settings.list.firstIndex(where: { $0.name == "report" }) else {
                return context.report.inconclusive("\(context.test.engine) has no such hook")
            }
            settings.list[index] = EngineSetting("report", "by its hook")
        }
        let questions = try AppQuestions(try context.tables())
        try sweep.run(try damages(sweep, context)) { address, location in
            var random = context.random("order of \(address)")
            let finding = questions.judge(context.engine, settings, location, order: &random)
            return Trial(address: address, outcome: finding.outcome, detail: finding.detail)
        }
    }

    /// For each page a flipped bit, at a position chosen by the seed, and zeros.
    private func damages(_ sweep: DamageSweep, _ context: CaseContext) throws -> [FileDamage] {
        var random = context.random("bits")
        var damages: [FileDamage] = []
        for zeroed in sweep.damages(.zero, count: try context.integer("pages"), random: "pages") {
            damages.append(zeroed)
            let bit = zeroed.byte * 8 + random.below(DamageSweep.pageBytes * 8)
            if sweep.change(at: FaultAddress(text: FileDamage(.flip, bit).description)) != nil {
                damages.append(FileDamage(.flip, bit))
            }
        }
        return damages
    }
}

/// The queries of applications to a table, and the right answers as text, derived from the data.
private struct AppQuestions {
    private let schema: TableSet
    private let table: Table
    private let keys: [Int64]
    private let integer: String
    private let text: (column: String, value: String)
    /// The columns without links: what a row is read for by its key.
    private let plain: [Column]
    private let expected: [String: String]
    private static let names = ["count", "loop", "iterate", "sum", "filter", "keys", "loop again", "count again"]

    init(_ tables: TableSet) throws {
        schema = tables
        table = tables.main
        let own = table
        var plain: [Column] = []
        var integer: (name: String, values: [Int64])?
        var text: (column: String, value: String, count: Int)?
        for column in own.columns {
            switch column.values {
            case .integer(let values):
                if column.name != own.key { integer = integer ?? (column.name, values) }
                plain.append(column)
            case .text(let texts):
                if text == nil, texts.count > 0 {
                    text = (column.name, texts[0], (0..<texts.count).count { texts[$0] == texts[0] })
                }
                plain.append(column)
            case .real: plain.append(column)
            case .link, .links: break
            }
        }
        guard case .integer(let keys)? = own.keyColumn?.values, let integer, let text else {
            throw HarnessError("\(own.name) has no key, no integer or no text to ask for")
        }
        (self.keys, self.integer, self.text, self.plain) = (keys, integer.name, (text.column, text.value), plain)
        var digest = ReadDigest()
        for value in integer.values { digest.add(integer: value) }
        let rows = RowDigest()
        for each in tables.tables {
            for row in 0..<each.rowCount { _ = rows.receive(table: each.name, row: row, values: each.values(row: row)) }
        }
        var points = ReadDigest()
        for column in plain {
            guard let index = own.columnIndex(column.name) else { continue }
            for row in 0..<own.rowCount { points.add(own.value(row: row, column: index)) }
        }
        expected = [
            "count": "\(own.rowCount) rows", "count again": "\(own.rowCount) rows", "loop": rows.words,
            "loop again": rows.words, "iterate": Self.words(digest), "keys": Self.words(points),
            "sum": "\(integer.values.reduce(0, &+))", "filter": "\(text.count) rows",
        ]
    }

    private static func words(_ digest: ReadDigest) -> String { "\(digest.count) values, digest \(digest.sum)" }

    func judge(
        _ engine: any Engine, _ settings: EngineSettings, _ location: DatabaseLocation,
        order random: inout RandomStream
    ) -> (outcome: Outcome, detail: String) {
        let session: any Session
        do throws(EngineError) { session = try engine.open(location, settings: settings) } catch {
            return (error.outcomeOfOpen, error.description)
        }
        var told: EngineError?
        var names = Self.names
        for place in names.indices.dropLast() { names.swapAt(place, place + random.below(names.count - place)) }
        for name in names {
            do throws(EngineError) {
                let answer = try answer(name, session)
                if answer != expected[name], told == nil {
                    return (
                        .silentlyWrong, "\(name): \(answer) instead of \(expected[name] ?? "?"), and nothing was said"
                    )
                }
            } catch {
                told = told ?? error
            }
        }
        do throws(EngineError) { try session.close() } catch { told = told ?? error }
        guard let told else { return (.correct, "") }
        return (told.outcomeOfRead, told.description)
    }

    private func answer(_ name: String, _ session: any Session) throws(EngineError) -> String {
        guard let tables = session as? any TableSession, let queries = session as? any QuerySession else {
            throw EngineError(.refused, "there are no tables to ask")
        }
        switch name {
        case "count", "count again": return "\(try tables.rowCount(table: table.name)) rows"
        case "loop", "loop again":
            let rows = RowDigest()
            try tables.readAll(schema, into: rows)
            return rows.words
        case "iterate": return Self.words(try queries.iterate(table: table.name, column: integer))
        case "sum": return "\(try queries.sum(table: table.name, column: integer))"
        case "filter":
            return "\(try queries.countEqual(table: table.name, column: text.column, text: text.value)) rows"
        default:
            let reads = PointReads(table: table.name, keys: keys, columns: plain.map(\.name))
            return Self.words(try tables.readPoints(reads, latency: nil))
        }
    }
}

/// Count and digest of the rows.
private final class RowDigest: RowSink {
    private(set) var count = 0
    private var digest = ReadDigest()
    var words: String { "\(count) rows, digest \(digest.sum)" }

    func receive(table: String, row: Int, values: [Value]) -> Bool {
        count += 1
        for value in values { digest.add(value) }
        return true
    }
}
