@testable import StrataStorage

/// Reads a version in every way that storage has, and compares each with a naive walk.
struct ReadAgreement {
    private let view: ReadView
    private let table: Int
    private let columns: [ColumnDefinition]
    private let rows: [(key: Int64, values: [Value])]

    /// - Throws: `InvariantViolation` that names the differing way to read; any error of reading.
    static func check(_ view: ReadView) throws {
        for table in view.schema.tables.indices {
            let agreement = try ReadAgreement(view, table)
            try named("rows") { try agreement.checkRows() }
            try named("look-ups") { try agreement.checkPoints() }
            try named("changes") { try agreement.checkChanges() }
            for (column, definition) in agreement.columns.enumerated() {
                try named("filters of \(definition.name)") { try agreement.checkFilters(column) }
                try named("totals of \(definition.name)") { try agreement.checkTotals(column) }
                try named("the index of \(definition.name)") { try agreement.checkIndex(column) }
                try named("backlinks of \(definition.name)") { try agreement.checkBacklinks(column) }
            }
        }
    }

    private static func named(_ what: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as StorageError { throw InvariantViolation("\(what): \(error)") }
    }

    private init(_ view: ReadView, _ table: Int) throws {
        self.view = view
        self.table = table
        columns = view.schema.tables[table].columns
        rows = try NaiveWalk(view, table).rows
    }

    private func require(_ holds: Bool, _ what: String) throws {
        if !holds { throw InvariantViolation("\(what) of table \(table) differs from a naive walk") }
    }

    private var keys: [Int64] { rows.map(\.key) }

    private func keys(_ column: Int, where passes: (Value) -> Bool) -> [Int64] {
        rows.filter { passes($0.values[column]) }.map(\.key)
    }

    // MARK: Rows

    private func checkRows() throws {
        try require(view.rowCount(table) == rows.count, "rowCount")
        try require(view.keys(table) == keys, "keys")
        var next = 0
        var isEqual = true
        try view.scan(table, columns: Array(columns.indices)) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                guard next < rows.count, rows[next].key == batch.key(row).rawValue else {
                    isEqual = false
                    return false
                }
                for (column, definition) in columns.enumerated() {
                    let value = value(batch, column, row, definition.type)
                    if value != rows[next].values[column] { isEqual = false }
                }
                next += 1
            }
            return true
        }
        try require(isEqual && next == rows.count, "scan")
    }

    private func value(_ batch: RowBatch, _ column: Int, _ row: Int, _ type: ColumnType) -> Value {
        if batch.isNull(column, row) { return .null }
        switch type {
        case .integer, .link: return .integer(batch.integers(column)[row])
        case .double: return .double(batch.doubles(column)[row].bitPattern)
        case .bytes, .links: return .bytes(Array(batch.bytes(column, row)))
        }
    }

    private func checkPoints() throws {
        for (place, row) in rows.enumerated() {
            let key = RowKey(row.key)
            try require(view.ordinal(of: key, in: table) == place, "ordinal")
            try require(view.key(at: place, in: table) == key, "key at an ordinal")
            guard let location = try view.locate(table, key) else {
                throw InvariantViolation("row \(key) of table \(table) is not found")
            }
            try require(view.creationVersion(location) <= view.version, "creationVersion")
            for (column, definition) in columns.enumerated() {
                let found: Value
                switch definition.type {
                case .integer, .link: found = try view.integer(location, column).map { .integer($0) } ?? .null
                case .double: found = try view.double(location, column).map { .double($0.bitPattern) } ?? .null
                case .bytes, .links: found = try view.bytes(location, column).map { .bytes(Array($0)) } ?? .null
                }
                try require(found == row.values[column], "column \(definition.name) at row \(key)")
            }
        }
        for absent in [Int64.min, -7, 3, .max] where !keys.contains(absent) {
            try require(view.locate(table, RowKey(absent)) == nil, "a row that is not there")
        }
    }

    private func checkChanges() throws {
        let empty = ReadView(.empty, view.reader)
        let changes = try view.changes(of: view.schema.tables[table].id, since: empty)
        try require(changes.inserted.flatMap { Array($0) } == keys && changes.deleted.isEmpty, "changes since nothing")
        let none = try view.changes(of: view.schema.tables[table].id, since: view)
        try require(none.inserted.isEmpty && none.deleted.isEmpty && none.modified.isEmpty, "changes since itself")
    }

    // MARK: Columns

    private func checkFilters(_ column: Int) throws {
        try require(view.keys(table, where: .null(column)) == keys(column) { $0 == .null }, "null filter")
        for value in Set(rows.prefix(40).map { $0.values[column] }) {
            let filter: RowFilter
            let passes: (Value) -> Bool
            switch value {
            case .null, .links: continue
            case .integer(let number):
                filter = .integer(column, number ... .max)
                passes = { if case .integer(let other) = $0 { other >= number } else { false } }
            case .double(let bits):
                let number = Double(bitPattern: bits)
                if number.isNaN { continue }
                filter = .double(column, .greaterOrEqual, number)
                passes = { if case .double(let other) = $0 { Double(bitPattern: other) >= number } else { false } }
            case .bytes(let bytes):
                filter = .bytes(column, .equal(bytes))
                passes = { $0 == value }
            }
            let expected = keys(column, where: passes)
            try require(view.keys(table, where: filter) == expected, "filter \(filter)")
            try require(view.count(table, where: filter) == expected.count, "count \(filter)")
            try require(
                view.keys(table, where: .not(filter)) == keys(column) { !passes($0) }, "the opposite of \(filter)")
        }
    }

    private func checkTotals(_ column: Int) throws {
        switch columns[column].type {
        case .integer, .link:
            let values = rows.compactMap { if case .integer(let value) = $0.values[column] { value } else { nil } }
            let sum = values.reduce(Int64(0)) { $0 &+ $1 }
            let plain = try view.sum(table, column)
            try require(plain.sum == sum && plain.count == values.count, "sum")
            let totals = try FilteredRows(view, table, .everything).integers(column)
            try require(totals.sum == sum && totals.count == values.count, "totals")
            let extremes = try FilteredRows(view, table, .everything).integerExtremes(column)
            try require(extremes?.lowerBound == values.min() && extremes?.upperBound == values.max(), "extremes")
        case .double:
            let values = rows.compactMap { row -> Double? in
                if case .double(let bits) = row.values[column] { return Double(bitPattern: bits) }
                return nil
            }
            let totals = try FilteredRows(view, table, .everything).doubles(column)
            try require(totals.count == values.count, "number of doubles")
            try require(Self.isSum(totals.sum, of: values), "sum of doubles")
            let numbers = values.filter { !$0.isNaN }
            let extremes = try FilteredRows(view, table, .everything).doubleExtremes(column)
            try require(
                extremes?.lowerBound == numbers.min() && extremes?.upperBound == numbers.max(), "extremes of doubles")
        case .bytes, .links: break
        }
    }

    /// Whether a sum of doubles is plausible: each order of addition rounds differently, and may overflow.
    private static func isSum(_ sum: Double, of values: [Double]) -> Bool {
        let plain = values.reduce(0, +)
        let size = values.reduce(0) { $0 + abs($1) }
        if values.allSatisfy(\.isFinite) { return size.isInfinite || abs(sum - plain) <= size * 1e-12 }
        return plain.isNaN ? sum.isNaN : sum == plain
    }

    private func checkIndex(_ column: Int) throws {
        let definition = columns[column]
        if definition.index == .none { return }
        for value in Set(rows.map { $0.values[column] }) {
            if case .double(let bits) = value, Double(bitPattern: bits).isNaN || bits == (-0.0).bitPattern { continue }
            let expected = keys(column) { $0 == value || value == .double(0) && $0 == .double((-0.0).bitPattern) }
            try StoreHistory.withCell(value) { cell in
                try require(view.rows(table, column, equalTo: cell).map(\.rawValue) == expected, "index look-up")
                // Values with equal index entries are counted together.
                let high = IndexKey.high(cell, definition)
                let entries = rows.filter { row in
                    StoreHistory.withCell(row.values[column]) { IndexKey.high($0, definition) } == high
                }
                try require(view.indexedCount(table, column, equalTo: cell) == entries.count, "indexedCount")
            }
        }
        try checkDuplicates(column)
        try PlaceAgreement(view: view, table: table, column: column).checkOrder(
            rows.map { ($0.key, $0.values[column]) })
        if definition.index == .ordered && definition.type == .integer {
            let found = try view.rows(table, column, from: .integer(.min), through: .integer(.max))
            try require(found.map(\.rawValue).sorted() == keys(column) { $0 != .null }, "index range")
            let all = try view.indexedCount(table, column, from: .null, through: .integer(.max))
            try require(all == rows.count, "indexedCount of a range")
        }
    }

    private func checkDuplicates(_ column: Int) throws {
        func known(_ value: Value) -> Value { value == .double((-0.0).bitPattern) ? .double(0) : value }
        var holders: [Value: Set<Int64>] = [:]
        for row in rows { holders[known(row.values[column]), default: []].insert(row.key) }
        let several = holders.filter { $0.value.count > 1 }
        let found = try view.duplicates(table, column, limit: 3)
        try require(found.values == several.count, "number of duplicates")
        try require(found.rows == several.values.reduce(0) { $0 + $1.count }, "rows of duplicates")
        let named = found.examples.map { example in several.first { $0.value.contains(example.rawValue) }?.key }
        try require(
            named.count == min(3, several.count) && !named.contains(nil) && Set(named).count == named.count,
            "examples of duplicates")
    }

    private func checkBacklinks(_ column: Int) throws {
        if !columns[column].type.isLink { return }
        var expected: [Int64: [Int64: Int]] = [:]
        for row in rows {
            switch row.values[column] {
            case .integer(let target): expected[target, default: [:]][row.key, default: 0] += 1
            case .bytes(let bytes):
                for target in bytes.withUnsafeBytes({ LinkPayload.Reader($0)?.links ?? [] })
                where target != LinkPayload.null {
                    expected[target, default: [:]][row.key, default: 0] += 1
                }
            default: break
            }
        }
        for target in Array(expected.keys) + [-1, 0, 1] {
            var found: [Int64: Int] = [:]
            try view.backlinks(to: RowKey(target), of: table, column) { (origin, count) throws(StorageError) in
                found[origin.rawValue] = count
                return true
            }
            try require(found == expected[target] ?? [:], "backlinks")
            try require(view.backlinkOrigins(to: RowKey(target), of: table, column) == found.count, "backlinkOrigins")
            try require(
                view.backlinkCount(to: RowKey(target), of: table, column) == found.values.reduce(0, +), "backlinkCount")
            try PlaceAgreement(view: view, table: table, column: column)
                .checkLinks(to: target, found, others: keys.prefix(5))
        }
    }
}
