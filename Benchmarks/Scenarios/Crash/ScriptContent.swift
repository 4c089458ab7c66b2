import Harness
import RunRecords

/// A row of the table that a storage script works on.
struct ScriptRow: Hashable {
    var number: Int64
    /// The text is one letter, repeated `length` times; the letter is derived from the key.
    var length: Int

    static func text(_ key: Int64, _ length: Int) -> String {
        String(repeating: String(UnicodeScalar(UInt8(97 + key % 26))), count: length)
    }
}

/// All rows by key: the state after a transaction of a script.
struct ScriptContent: Hashable {
    var rows: [Int64: ScriptRow] = [:]

    /// The first row, by key, that differs, in a sentence; nil where none does.
    func difference(from expected: ScriptContent) -> String? {
        for key in Set(rows.keys).union(expected.rows.keys).sorted() where rows[key] != expected.rows[key] {
            let (wanted, got) = (Self.words(expected.rows[key]), Self.words(rows[key]))
            return "row \(key): expected \(wanted), got \(got)"
        }
        return nil
    }

    private static func words(_ row: ScriptRow?) -> String {
        row.map { "number \($0.number) with \($0.length) bytes" } ?? "no row"
    }

    /// The rows as a table, in the order of the keys.
    static func table(_ rows: [(key: Int64, row: ScriptRow)]) -> Table {
        var names = TextColumn()
        var dogs = LinkListColumn()
        for (key, row) in rows {
            names.append(ScriptRow.text(key, row.length))
            dogs.append([Int32]())
        }
        return Table(
            name: "Person", key: "id",
            columns: [
                Column("id", .integer(rows.map(\.key))), Column("name", .text(names)),
                Column("age", .integer(rows.map(\.row.number))),
                Column("score", .real(rows.map { Double($0.key) })),
                Column("dogs", .links(target: "Dog", dogs)),
            ])
    }
}

/// Collects the rows of a full read.
final class ScriptReading: RowSink {
    private(set) var content = ScriptContent()
    /// The first row that no script writes; nil without one.
    private(set) var difference: String?
    private(set) var rowCount = 0

    func receive(table: String, row: Int, values: [Value]) -> Bool {
        rowCount += 1
        guard table == "Person", values.count == 5, case .integer(let key) = values[0],
            case .text(let text) = values[1], case .integer(let number) = values[2]
        else { return differ("a row of \(table) has other columns") }
        guard values[3] == .real(Double(key)), values[4] == .links([]), row == Int(key) else {
            return differ("row \(key): its score or its list is not as it was written")
        }
        guard text.utf8.elementsEqual(ScriptRow.text(key, text.utf8.count).utf8) else {
            return differ("row \(key): its text was never written")
        }
        guard content.rows.updateValue(ScriptRow(number: number, length: text.utf8.count), forKey: key) == nil else {
            return differ("row \(key) came twice")
        }
        return true
    }

    private func differ(_ text: String) -> Bool {
        difference = text
        return false
    }
}
