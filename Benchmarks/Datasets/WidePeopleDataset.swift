import RunRecords
import Seeds

/// Generated people with long names: rows of about 420 bytes, so that ten million of them are a file of 4 GB.
///
/// Everything is as in `PeopleDataset`, but for the name: behind `person-%06d` stand hexadecimal digits of
/// mix(id * 32 + k) for k = 0, 1, .., up to 384 bytes in all; in rows of 1 KiB of mix(id * 64 + k), up to 988. They
/// follow no pattern, so that no engine's compression makes the file much smaller than those of the others.
package struct WidePeopleDataset: RangedDatasetSource {
    package let nameBytes: Int
    package let name: String

    package init(name: String = "people-wide", nameBytes: Int = 384) {
        self.name = name
        self.nameBytes = nameBytes
    }

    /// Rows of 1 KiB: what does not fit into memory beside an engine's cache.
    package static let large = WidePeopleDataset(name: "people-large", nameBytes: 988)

    package var summary: String { "generated persons whose names have \(nameBytes) bytes" }
    package var defaultSize: Int? { 100_000 }

    package func tables(size: Int?, seed: Seed) throws -> TableSet {
        var empty = try PeopleDataset().tables(size: 0, seed: seed)
        empty.tables[0] = mainRows(0..<(size ?? defaultSize ?? 0))
        return TableSet(dataset: name, content: empty.tables)
    }

    package func mainRows(_ rows: Range<Int>) -> Table {
        var table = PeopleDataset.persons(rows)
        guard let place = table.columnIndex("name"), case .text(let short) = table.columns[place].values else {
            return table
        }
        var names = TextColumn()
        names.reserve(rows: rows.count, bytesPerRow: nameBytes)
        for (index, id) in rows.enumerated() {
            let start = short.withUTF8(index) { Array($0) }
            names.append(start: start, mixed: UInt64(id) &* (nameBytes > 512 ? 64 : 32), bytes: nameBytes)
        }
        table.columns[place].values = .text(names)
        return table
    }
}
