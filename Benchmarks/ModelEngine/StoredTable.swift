import Harness
import RunRecords

/// The rows of a table by columns. A row keeps its index for ever; a deleted one leaves a gap.
struct StoredTable: Sendable {
    enum Values: Sendable {
        case integer([Int64])
        case real([Double])
        case text([String])
        case link(target: String, [Int32])
        case links(target: String, [[Int32]])
    }

    struct StoredColumn: Sendable {
        var name: String
        var values: Values
    }

    let name: String
    private(set) var columns: [StoredColumn]
    private(set) var isLive: [Bool] = []
    private(set) var liveCount = 0
    private var integerKeys: [Int64: Int]?
    private var textKeys: [String: Int]?
    private let keyColumn: Int?

    /// An empty table with the columns of another.
    init(like table: Table) {
        name = table.name
        columns = table.columns.map { column in
            let values: Values =
                switch column.values {
                case .integer: .integer([])
                case .real: .real([])
                case .text: .text([])
                case .link(let target, _): .link(target: target, [])
                case .links(let target, _): .links(target: target, [])
                }
            return StoredColumn(name: column.name, values: values)
        }
        keyColumn = table.key.flatMap { table.columnIndex($0) }
        guard let keyColumn else { return }
        switch columns[keyColumn].values {
        case .integer: integerKeys = [:]
        case .text: textKeys = [:]
        default: break
        }
    }

    var rowCount: Int { isLive.count }

    func column(_ name: String) throws(EngineError) -> Int {
        guard let index = columns.firstIndex(where: { $0.name == name }) else {
            throw EngineError(.refused, "table \(self.name) has no column \(name)")
        }
        return index
    }

    /// The live row with that key; in a table without keys, with that row index.
    func row(key: Int64) throws(EngineError) -> Int {
        let row = integerKeys == nil ? Int(exactly: key) : integerKeys?[key]
        guard let row, row >= 0, row < rowCount, isLive[row] else {
            throw EngineError(.refused, "table \(name) has no row \(key)")
        }
        return row
    }

    func hasRow(key: Int64) -> Bool {
        guard let row = integerKeys == nil ? Int(exactly: key) : integerKeys?[key] else { return false }
        return row >= 0 && row < rowCount && isLive[row]
    }

    mutating func append(_ rows: Table, row: Int) throws(EngineError) {
        guard rows.columns.count == columns.count else {
            throw EngineError(.refused, "table \(name) has \(columns.count) columns, not \(rows.columns.count)")
        }
        if let keyColumn { try claim(key: rows.value(row: row, column: keyColumn), row: rowCount) }
        for index in columns.indices { columns[index].append(rows.columns[index].values, row: row) }
        isLive.append(true)
        liveCount += 1
    }

    private mutating func claim(key: Value, row: Int) throws(EngineError) {
        let previous: Int? =
            switch key {
            case .integer(let integer): integerKeys?.updateValue(row, forKey: integer)
            case .text(let text): textKeys?.updateValue(row, forKey: text)
            default: nil
            }
        guard previous == nil else { throw EngineError(.refused, "table \(name) has a row \(key) already") }
    }

    mutating func set(column: Int, row: Int, integer: Int64) throws(EngineError) {
        guard case .integer(var integers) = columns[column].values else {
            throw EngineError(.refused, "column \(columns[column].name) holds no integers")
        }
        // The column is released first, so that the array is changed in place unless a snapshot shares it.
        columns[column].values = .integer([])
        integers[row] = integer
        columns[column].values = .integer(integers)
    }

    mutating func set(column: Int, row: Int, text: String) throws(EngineError) {
        guard case .text(var texts) = columns[column].values else {
            throw EngineError(.refused, "column \(columns[column].name) holds no texts")
        }
        columns[column].values = .text([])
        texts[row] = text
        columns[column].values = .text(texts)
    }

    mutating func delete(row: Int) {
        guard isLive[row] else { return }
        isLive[row] = false
        liveCount -= 1
        guard let keyColumn else { return }
        switch columns[keyColumn].values {
        case .integer(let keys): integerKeys?[keys[row]] = nil
        case .text(let keys): textKeys?[keys[row]] = nil
        default: break
        }
    }

    mutating func removeLinks(to row: Int32, of target: String) {
        for index in columns.indices { columns[index].removeLinks(to: row, of: target) }
    }

    func value(column: Int, row: Int) -> Value {
        switch columns[column].values {
        case .integer(let values): .integer(values[row])
        case .real(let values): .real(values[row])
        case .text(let values): .text(values[row])
        case .link(_, let values): values[row] < 0 ? .null : .link(Int(values[row]))
        case .links(_, let values): .links(values[row].map { Int($0) })
        }
    }
}

extension StoredTable.StoredColumn {
    fileprivate mutating func append(_ source: ColumnValues, row: Int) {
        switch (values, source) {
        case (.integer(var own), .integer(let other)):
            values = .integer([])
            own.append(other[row])
            values = .integer(own)
        case (.real(var own), .real(let other)):
            values = .real([])
            own.append(other[row])
            values = .real(own)
        case (.text(var own), .text(let other)):
            values = .text([])
            own.append(other[row])
            values = .text(own)
        case (.link(let target, var own), .link(_, let other)):
            values = .link(target: target, [])
            own.append(other[row])
            values = .link(target: target, own)
        case (.links(let target, var own), .links(_, let other)):
            values = .links(target: target, [])
            own.append(Array(other[row]))
            values = .links(target: target, own)
        default:
            preconditionFailure("column \(name): rows of another kind")
        }
    }

    fileprivate mutating func removeLinks(to row: Int32, of target: String) {
        switch values {
        case .link(let own, var links) where own == target:
            values = .link(target: own, [])
            for index in links.indices where links[index] == row { links[index] = -1 }
            values = .link(target: own, links)
        case .links(let own, var lists) where own == target:
            values = .links(target: own, [])
            for index in lists.indices where lists[index].contains(row) { lists[index].removeAll { $0 == row } }
            values = .links(target: own, lists)
        default:
            break
        }
    }
}
