import Harness
import RunRecords

/// Collects the rows of a salvaged database.
final class SalvagedRows: RowSink {
    private(set) var tables: [String: [Int: [Value]]] = [:]
    /// Rows that were returned twice, by table.
    private(set) var repeated: [String: Int] = [:]

    func receive(table: String, row: Int, values: [Value]) -> Bool {
        if tables[table, default: [:]].updateValue(values, forKey: row) != nil { repeated[table, default: 0] += 1 }
        return true
    }
}

/// The rows that a salvage recovered, and wrong statements of its report.
struct SalvageFinding: Equatable {
    /// A wrong statement, from the least to the gravest.
    enum Lie: Equatable {
        /// The report names more losses than there are.
        case overclaimed(String)
        /// Something is missing that the report does not name.
        case unreported(String)
        /// A value that the row never had, and that the report does not mark.
        case wrongValue(String)
    }

    /// Rows with every value as it was, except for links to missing rows.
    var right = 0
    /// Rows that are right except for values reported as lost, which read as their defaults.
    var partial = 0
    /// Rows with a value that was never there, or that are not of the database.
    var wrong = 0
    var missing = 0
    var lies: [Lie] = []
    /// Tables or columns were recovered without their names, and the engine reports it: values that cannot be found by
    /// name are no wrong statement.
    var lacksNames = false

    /// - Parameter wasRight: whether a read of the damaged copy returned everything.
    func outcome(wasRight: Bool) -> (outcome: Outcome, detail: String) {
        for case .wrongValue(let words) in lies { return (.silentlyWrong, words) }
        for case .unreported(let words) in lies { return (.lostCommit, words) }
        for case .overclaimed(let words) in lies { return (.silentlyWrong, words) }
        if partial + wrong + missing == 0 && !lacksNames { return (wasRight ? .correct : .repaired, "") }
        return (.fellBack, "as is said, \(missing) rows are missing, \(partial) lack values, \(wrong) may be older")
    }
}

/// Compares recovered rows with the original, and reported losses with missing rows.
///
/// An engine that reports no losses must have lost nothing. For one that does: every missing row is counted and lies in
/// a key range reported as lost; no more rows are counted than are missing; a value that differs from the original is a
/// default in a column reported as lost there, a link to a missing row, or in one of as many rows as are reported as
/// uncertain.
struct SalvageOracle {
    let truth: ExactOracle
    /// From this row of the main table on, each row is a transaction of the log. A log that lost its end looks like one
    /// of a crash before that end: one transaction may be missing without a report, and any number of them if the
    /// engine reports that some are.
    var firstLogged = Int.max

    func compare(_ rows: SalvagedRows, claim: SalvageClaim?) -> SalvageFinding {
        var finding = SalvageFinding()
        finding.lacksNames = claim?.losesNames ?? false
        for table in truth.schema.tables {
            guard let model = truth.tables[table.name] else { continue }
            var comparison = SalvagedTable(model, rows, claim)
            comparison.findMissing(firstLogged: table.name == truth.schema.main.name ? firstLogged : .max)
            comparison.compareRows()
            comparison.judge()
            finding.right += comparison.right
            finding.partial += comparison.partial.count
            finding.wrong += comparison.wrong
            finding.missing += comparison.missing.count
            finding.lies += comparison.lies
        }
        return finding
    }
}

/// One table of a salvaged database compared with the original.
private struct SalvagedTable {
    private let model: ModelTable
    private let name: String
    private let all: SalvagedRows
    private let rows: [Int: [Value]]
    private let claim: SalvageClaim?
    private let loss: SalvageClaim.Loss?

    private(set) var right = 0
    /// By row, the columns that read as their default.
    private(set) var partial: [Int: [Int]] = [:]
    private(set) var wrong = 0
    private(set) var missing: [Int] = []
    private(set) var lies: [SalvageFinding.Lie] = []
    /// Missing rows that the engine must have reported.
    private var owed: [Int] = []
    private var removedLinks = 0
    private var firstWrong = ""

    init(_ model: ModelTable, _ all: SalvagedRows, _ claim: SalvageClaim?) {
        self.model = model
        self.all = all
        self.claim = claim
        name = model.content.name
        rows = all.tables[name] ?? [:]
        loss = claim?.losses.first { $0.table == model.content.name }
    }

    mutating func findMissing(firstLogged: Int) {
        missing = model.liveRows.filter { rows[$0] == nil }
        let last = model.content.rowCount - 1
        let losesAll = claim?.losesTransactions ?? false
        owed = missing.filter { $0 < firstLogged || !(losesAll || $0 == last) }
    }

    mutating func compareRows() {
        for (row, values) in rows.sorted(by: { $0.key < $1.key }) {
            guard model.isLive(row: row), values.count == model.content.columns.count else {
                note("\(name): row \(row) came, and there is none")
                continue
            }
            var lost: [Int] = []
            var difference: String?
            for (column, got) in values.enumerated() {
                let expected = model.value(row: row, column: column)
                if FullReadComparison.isSame(expected, got) || isCut(expected, got, column) { continue }
                if isSaidToBeLost(row, column, got) {
                    lost.append(column)
                } else if difference == nil {
                    let place = "\(name) row \(row) \(model.content.columns[column].name)"
                    difference = "\(place): expected \(expected), got \(got)"
                }
            }
            if let difference {
                note(difference)
            } else if lost.isEmpty {
                right += 1
            } else {
                partial[row] = lost
            }
        }
        for _ in 0..<(all.repeated[name] ?? 0) { note("\(name): a row came twice") }
    }

    private mutating func note(_ words: String) {
        wrong += 1
        if firstWrong.isEmpty { firstWrong = words }
    }

    /// Whether the value differs only by links to missing rows. An engine that does not report losses does not report
    /// these either.
    private mutating func isCut(_ expected: Value, _ got: Value, _ column: Int) -> Bool {
        guard claim != nil else { return false }
        switch (expected, got, model.content.columns[column].values) {
        case (.link(let row), .null, .link(let target, _)):
            guard all.tables[target]?[row] == nil else { return false }
            removedLinks += 1
            return true
        case (.links(let old), .links(let new), .links(let target, _)):
            let kept = old.filter { all.tables[target]?[$0] != nil }
            guard kept == new else { return false }
            removedLinks += old.count - new.count
            return true
        default: return false
        }
    }

    private static func isDefault(_ value: Value) -> Bool {
        switch value {
        case .null: true
        case .integer(let number): number == 0
        case .real(let number): number == 0
        case .text(let text): text.isEmpty
        case .link: false
        case .links(let rows): rows.isEmpty
        }
    }

    private func claims(on column: Int) -> [SalvageClaim.LostColumn] {
        let wanted = model.content.columns[column].name
        return loss?.columns.filter { $0.name == wanted } ?? []
    }

    private func isSaidToBeLost(_ row: Int, _ column: Int, _ got: Value) -> Bool {
        Self.isDefault(got)
            && claims(on: column).contains { claim in claim.keys.contains { $0.contains(Int64(row)) } }
    }

    // MARK: Claims

    mutating func judge() {
        if wrong > loss?.uncertainRows ?? 0 { lies.append(.wrongValue(firstWrong)) }
        guard let claim else {
            if !owed.isEmpty { lies.append(.unreported("\(name): \(owed.count) rows are missing")) }
            return
        }
        if claim.losesNames { return }
        guard let loss else {
            if !owed.isEmpty {
                lies.append(.unreported("\(name): \(owed.count) rows are missing, and nothing is said of it"))
            }
            return
        }
        if claim.isWhole && !(owed.isEmpty && partial.isEmpty) {
            lies.append(.unreported("\(name): all is said to be there, and it is not"))
        }
        judgeRows(loss)
        judgeColumns(loss)
        judgeLinks(loss)
    }

    private mutating func judgeRows(_ loss: SalvageClaim.Loss) {
        if loss.isExact && owed.count > loss.rows {
            lies.append(.unreported("\(name): \(owed.count) rows are missing, and \(loss.rows) are said to be"))
        }
        if loss.rows > missing.count {
            lies.append(.overclaimed("\(name): \(loss.rows) rows are said to be lost, and \(missing.count) are"))
        }
        if let row = owed.first(where: { row in !loss.keys.contains { $0.contains(Int64(row)) } }) {
            lies.append(.unreported("\(name): row \(row) is missing, and is between no keys that are said to be lost"))
        }
        for keys in loss.keys {
            let count = missing.count { keys.contains(Int64($0)) }
            guard let said = keys.rows, said > count else { continue }
            lies.append(
                .overclaimed("\(name): \(said) rows of \(keys.low) to \(keys.high) are said to be lost, \(count) are"))
        }
    }

    private mutating func judgeColumns(_ loss: SalvageClaim.Loss) {
        for (index, column) in model.content.columns.enumerated() {
            let claims = claims(on: index)
            if claims.isEmpty { continue }
            let said = claims.reduce(0) { $0 + $1.rows }
            let lost = partial.values.count { $0.contains(index) }
            if lost > said {
                lies.append(.unreported("\(name) \(column.name): lost in \(lost) rows, and in \(said) by what is said"))
            }
            let defaults = rows.count { row, values in
                values.indices.contains(index) && Self.isDefault(values[index])
                    && claims.contains { claim in claim.keys.contains { $0.contains(Int64(row)) } }
            }
            if said > defaults {
                lies.append(
                    .overclaimed("\(name) \(column.name): said to be lost in \(said) rows, and \(defaults) lack it"))
            }
        }
    }

    private mutating func judgeLinks(_ loss: SalvageClaim.Loss) {
        if removedLinks > loss.removedLinks {
            lies.append(
                .unreported("\(name): \(removedLinks) links were taken out, and \(loss.removedLinks) by what is said"))
        } else if removedLinks < loss.removedLinks && partial.isEmpty && wrong == 0 {
            lies.append(
                .overclaimed("\(name): \(loss.removedLinks) links are said to be taken out, \(removedLinks) were"))
        }
    }
}
