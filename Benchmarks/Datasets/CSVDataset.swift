import Files
import RunRecords
import Seeds

/// A table in any CSV file, `--dataset FILE.csv`: RFC 4180, with a header line; in a `.tsv` file tabs separate the
/// cells.
///
/// Line ends may be LF or CR LF; a quoted cell may hold separators, line ends and doubled quotes. Kinds of columns are
/// inferred by `TableBuilder`. A row that does not fit is left out and listed with its line.
package struct CSVDataset: DatasetSource {
    package let name: String
    private let path: String

    package init(path: String) {
        name = path
        self.path = path
    }

    package var summary: String { "the table in \(path), the kinds of its columns inferred" }
    package var defaultSize: Int? { nil }
    package var isTyped: Bool { false }

    package var unavailableReason: String? {
        FileTree.exists(path) ? nil : "\(name): there is no such file"
    }

    /// Throws: `DatasetError` when the file cannot be read, has no header, or no row is left.
    package func tables(size: Int?, seed: Seed) throws -> TableSet {
        let bytes: [UInt8]
        do { bytes = try FileTree.readBytes(path) } catch { throw DatasetError("\(name): \(error)") }
        let separator = path.hasSuffix(".tsv") ? UInt8(ascii: "\t") : UInt8(ascii: ",")
        return try Self.tables(ofCSV: bytes, separator: separator, dataset: name, limit: size)
    }

    /// `limit`: the first rows only.
    static func tables(
        ofCSV bytes: [UInt8], separator: UInt8 = UInt8(ascii: ","), dataset: String, limit: Int? = nil
    ) throws -> TableSet {
        var reader = CSVReader(bytes, separator: separator)
        guard let header = reader.next(), case .cells(let names) = header.content else {
            throw DatasetError("\(dataset): there is no header line")
        }
        var builder = TableBuilder(
            name: Self.tableName(dataset), columns: names.map { String(decoding: $0, as: UTF8.self) },
            placeWord: "line")
        while let row = reader.next() {
            switch row.content {
            case .cells(let cells): builder.append(cells, place: row.line)
            case .broken(let reason): builder.reject(row.line, reason)
            }
            if let limit, builder.rowCount >= limit { break }
        }
        let table = builder.table()
        guard table.rowCount > 0 else {
            let first = builder.rejected.first.map { ": " + $0 } ?? ""
            throw DatasetError("\(dataset): no row could be read\(first)")
        }
        return TableSet(dataset: dataset, content: [table], isComparable: false, rejected: builder.rejected)
    }

    /// The file's name without directory and extension; letters, digits and underscores only.
    package static func tableName(_ path: String) -> String {
        let file = path.split(separator: "/").last ?? "table"
        let base = file.split(separator: ".").first ?? "table"
        let name = String(base.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return name.first?.isNumber == true ? "t_" + name : name
    }
}

/// Splits a file of separated values into rows.
struct CSVReader {
    struct Row {
        enum Content {
            case cells([[UInt8]])
            /// Why the row cannot be read.
            case broken(String)
        }

        /// The line of its first character, from 1.
        var line: Int
        var content: Content
    }

    private let bytes: [UInt8]
    private let separator: UInt8
    private var index = 0
    private var line = 1

    init(_ bytes: [UInt8], separator: UInt8) {
        self.bytes = bytes
        self.separator = separator
        // A byte order mark of UTF-8.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// The next row; nil at the end. Empty lines are skipped.
    mutating func next() -> Row? {
        while index < bytes.count, bytes[index] == 0x0A || bytes[index] == 0x0D {
            if bytes[index] == 0x0A { line += 1 }
            index += 1
        }
        guard index < bytes.count else { return nil }
        let first = line
        var cells: [[UInt8]] = []
        while true {
            let cell: [UInt8]
            if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
                guard let quoted = quotedCell() else {
                    return Row(line: first, content: .broken("a quote is not closed"))
                }
                cell = quoted
            } else {
                cell = plainCell()
            }
            cells.append(cell)
            guard index < bytes.count else { return Row(line: first, content: .cells(cells)) }
            let byte = bytes[index]
            if byte == separator {
                index += 1
                continue
            }
            if byte == 0x0A || byte == 0x0D { return Row(line: first, content: .cells(cells)) }
            skipLine()
            return Row(line: first, content: .broken("text behind a closing quote"))
        }
    }

    /// Up to a separator or the line's end.
    private mutating func plainCell() -> [UInt8] {
        let start = index
        while index < bytes.count, bytes[index] != separator, bytes[index] != 0x0A, bytes[index] != 0x0D { index += 1 }
        return Array(bytes[start..<index])
    }

    /// nil when the file ends first.
    private mutating func quotedCell() -> [UInt8]? {
        index += 1
        var cell: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                guard index < bytes.count, bytes[index] == byte else { return cell }
                index += 1
            } else if byte == 0x0A {
                line += 1
            }
            cell.append(byte)
        }
        return nil
    }

    private mutating func skipLine() {
        while index < bytes.count, bytes[index] != 0x0A { index += 1 }
    }
}
