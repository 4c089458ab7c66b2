import RunRecords
import Seeds

/// Digest of all values of some tables: machines with equal digests measured the same data.
///
/// Names of tables and columns, their kinds and row counts come before the values, so that values that move between
/// columns change the digest. Complexity: O(bytes), eight at a time.
struct ContentDigest {
    private var state: UInt64 = 0

    static func of(_ tables: [Table]) -> UInt64 {
        var digest = ContentDigest()
        for table in tables {
            digest.add(table.name)
            digest.add(table.key ?? "")
            for column in table.columns {
                digest.add(column.name)
                digest.add(column.values)
            }
        }
        return digest.state
    }

    private mutating func add(_ values: ColumnValues) {
        add(UInt64(values.count))
        switch values {
        case .integer(let integers):
            add(UInt64(1))
            for integer in integers { add(UInt64(bitPattern: integer)) }
        case .real(let reals):
            add(UInt64(2))
            for real in reals { add(real.bitPattern) }
        case .text(let text):
            add(UInt64(3))
            for end in text.ends { add(UInt64(end)) }
            text.bytes.withUnsafeBytes { add($0) }
        case .link(let target, let rows):
            add(UInt64(4))
            add(target)
            for row in rows { add(UInt64(bitPattern: Int64(row))) }
        case .links(let target, let lists):
            add(UInt64(5))
            add(target)
            for end in lists.ends { add(UInt64(end)) }
            for row in lists.targets { add(UInt64(bitPattern: Int64(row))) }
        }
    }

    private mutating func add(_ value: UInt64) {
        state = splitMix(state ^ value)
    }

    private mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// The caller adds the length, so that padding with zeros is unambiguous.
    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var last: UInt64 = 0
        for index in offset..<bytes.count {
            last |= UInt64(bytes[index]) << UInt64((index - offset) * 8)
        }
        add(last)
    }
}

extension TableSet {
    /// A set whose digest is that of its content.
    package init(dataset: String, content tables: [Table], isComparable: Bool = true, rejected: [String] = []) {
        self.init(
            dataset: dataset, tables: tables, digest: ContentDigest.of(tables), isComparable: isComparable,
            rejected: rejected)
    }
}
