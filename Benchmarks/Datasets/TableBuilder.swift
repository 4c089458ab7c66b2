import Platform
import RunRecords

/// Makes a table from cells of text, and infers the kind of each column.
///
/// A column is of integers, or of reals, if 99 of 100 of its cells are; rows whose cell is not are left out and listed.
/// Every other column is of text, and an empty cell is an empty text. The key of a row is its position, in an
/// additional first column, since a user's file need not have a column of keys.
package struct TableBuilder {
    private let name: String
    private let columnNames: [String]
    private var cells: [TextColumn]
    /// The place of each row in its file, for messages: `line 12`.
    private var places: [Int] = []
    private let placeWord: String
    package private(set) var rejected: [String] = []

    /// `placeWord`: the unit of row numbers: `line`, `row`.
    package init(name: String, columns: [String], placeWord: String) {
        self.name = name
        self.placeWord = placeWord
        columnNames = Self.uniqueNames(columns)
        cells = Array(repeating: TextColumn(), count: columns.count)
    }

    package var rowCount: Int { places.count }

    /// Adds a row, or lists it as rejected when it has another number of cells or is not UTF-8.
    package mutating func append(_ row: [[UInt8]], place: Int) {
        guard row.count == cells.count else {
            reject(place, "\(row.count) cells, expected \(cells.count)")
            return
        }
        if let broken = row.firstIndex(where: { !Self.isUTF8($0) }) {
            reject(place, "\(columnNames[broken]) is no UTF-8")
            return
        }
        for (index, cell) in row.enumerated() { cells[index].append(utf8: cell) }
        places.append(place)
    }

    package mutating func reject(_ place: Int, _ reason: String) {
        rejected.append("\(placeWord) \(place): \(reason)")
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    // MARK: Types

    private enum Kind {
        case integer, real, text
    }

    /// The table, and the reasons for the rows that are not in it, in the order of the file.
    package mutating func table() -> Table {
        let kinds = cells.map(kind)
        var kept: [Int] = []
        kept.reserveCapacity(rowCount)
        for row in 0..<rowCount {
            if let column = kinds.indices.first(where: { !Self.fits(cells[$0], row, kinds[$0]) }) {
                let word = kinds[column] == .integer ? "integer" : "number"
                reject(places[row], "\(columnNames[column]) is no \(word): \(cells[column][row].prefix(40))")
            } else {
                kept.append(row)
            }
        }
        let key = Self.uniqueNames(columnNames + ["row"]).last ?? "row"
        var columns = [Column(key, .integer((0..<kept.count).map { Int64($0) }))]
        for (index, name) in columnNames.enumerated() {
            columns.append(Column(name, Self.values(cells[index], kept, kinds[index])))
        }
        return Table(name: name, key: key, columns: columns)
    }

    private func kind(_ column: TextColumn) -> Kind {
        var (integers, reals) = (0, 0)
        for row in 0..<column.count {
            if Self.integer(column, row) != nil {
                integers += 1
            } else if Self.real(column, row) != nil {
                reals += 1
            }
        }
        // No numbers, or too many cells that are not numbers: a text.
        let enough = column.count - column.count / 100
        if integers > 0, integers >= enough { return .integer }
        return integers + reals > 0 && integers + reals >= enough ? .real : .text
    }

    private static func fits(_ column: TextColumn, _ row: Int, _ kind: Kind) -> Bool {
        switch kind {
        case .integer: integer(column, row) != nil
        case .real: real(column, row) != nil
        case .text: true
        }
    }

    private static func integer(_ column: TextColumn, _ row: Int) -> Int64? {
        column.withUTF8(row) { text in
            var (value, index): (Int64, Int) = (0, 0)
            let isNegative = text.first == UInt8(ascii: "-")
            if isNegative || text.first == UInt8(ascii: "+") { index = 1 }
            guard index < text.count else { return nil }
            for byte in text[index...] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                let (tens, tooLarge) = value.multipliedReportingOverflow(by: 10)
                let digit = Int64(byte) - 0x30
                let (sum, over) =
                    isNegative
                    ? tens.subtractingReportingOverflow(digit)
                    : tens.addingReportingOverflow(digit)
                if tooLarge || over { return nil }
                value = sum
            }
            return value
        }
    }

    /// Not `nan` and `inf`: these are texts.
    private static func real(_ column: TextColumn, _ row: Int) -> Double? {
        let allowed = column.withUTF8(row) { text in
            !text.isEmpty && text.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || "+-.eE".utf8.contains($0) }
        }
        return allowed ? Double(column[row]) : nil
    }

    private static func values(_ column: TextColumn, _ rows: [Int], _ kind: Kind) -> ColumnValues {
        switch kind {
        case .integer: return .integer(rows.map { integer(column, $0) ?? 0 })
        case .real: return .real(rows.map { integer(column, $0).map(Double.init) ?? real(column, $0) ?? 0 })
        case .text:
            if rows.count == column.count { return .text(column) }
            var kept = TextColumn()
            for row in rows { column.withUTF8(row) { kept.append(utf8: $0) } }
            return .text(kept)
        }
    }

    // MARK: Names

    /// Names that no engine confuses: not empty, different when case is ignored, and not reserved by an adapter.
    private static func uniqueNames(_ names: [String]) -> [String] {
        var taken: Set<String> = ["row_index"]
        return names.enumerated().map { index, name in
            var unique = name.isEmpty ? "column_\(index + 1)" : name
            while !taken.insert(unique.lowercased()).inserted { unique += "_" }
            return unique
        }
    }
}
