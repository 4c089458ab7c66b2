/// A view of a collection that is stored in its owner's row, valid as long as its bytes. docs/file-format-objects.md
/// draws the layouts: a ``ValueList``, a ``LinkPayload``, and for a map also the keys.
package struct CollectionPayload {
    private enum Values {
        case links(LinkPayload.Reader)
        case plain(ValueList)
    }

    private let values: Values
    private let keys: ValueList?
    package let count: Int

    /// Nil if the bytes do not have the column's layout, or a value is null in a column that allows no nulls.
    /// - Complexity: O(1); O(count) for texts and data, and if elements are null.
    package init?(_ bytes: UnsafeRawBufferPointer, _ column: CollectionColumn, isLinks: Bool) {
        if isLinks {
            guard let links = LinkPayload.Reader(bytes) else { return nil }
            values = .links(links)
            count = links.count
            keys = column.isKeyed ? ValueList(links.extra) : nil
        } else {
            var rest = bytes
            if column.isKeyed && !bytes.isEmpty {
                guard bytes.count >= Self.keysHead else { return nil }
                let size = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
                guard size <= bytes.count - Self.keysHead else { return nil }
                keys = ValueList(UnsafeRawBufferPointer(rebasing: bytes[Self.keysHead..<(Self.keysHead + size)]))
                rest = UnsafeRawBufferPointer(rebasing: bytes[(Self.keysHead + size)...])
            } else {
                keys = column.isKeyed ? ValueList(bytes) : nil
            }
            guard let list = ValueList(rest), Self.accepts(list, column) else { return nil }
            values = .plain(list)
            count = list.count
        }
        if !column.isKeyed { return }
        guard let keys, keys.count == count, count == 0 || keys.kind == .text else { return nil }
        for place in 0..<count where keys.isNull(place) { return nil }
    }

    /// Bytes before the keys of a map of values.
    private static let keysHead = 4

    private static func accepts(_ list: ValueList, _ column: CollectionColumn) -> Bool {
        let isRight =
            switch (column.element, list.kind) {
            case (.integer, .integer8), (.integer, .integer16), (.integer, .integer32), (.integer, .integer64): true
            case (.double, .double), (.text, .text), (.data, .data), (.opaque, .data), (.any, .data): true
            default: false
            }
        if isRight && column.allowsNulls { return true }
        // The encoder writes a list of nulls alone as integers, whatever the column's type.
        for place in 0..<list.count where list.isNull(place) != !isRight || list.isNull(place) && !column.allowsNulls {
            return false
        }
        return true
    }

    /// An element of a list or a set, or the value of a map's key. Bytes are borrowed.
    package func value(_ place: Int) -> Cell {
        switch values {
        case .links(let links):
            let link = links[place]
            return link == LinkPayload.null ? .null : .integer(link)
        case .plain(let list):
            if list.isNull(place) { return .null }
            switch list.kind {
            case .integer8, .integer16, .integer32, .integer64: return .integer(list.integer(place))
            case .double: return .double(list.double(place))
            case .text, .data: return .bytes(list.element(place))
            }
        }
    }

    /// The key of a map; null for others.
    package func key(_ place: Int) -> Cell { keys.map { .bytes($0.element(place)) } ?? .null }
}

/// Encodes collections for their owner's row.
struct CollectionEncoder {
    let column: CollectionColumn
    let isLinks: Bool

    /// Encodes elements, none of which is a long value.
    /// - Complexity: O(elements and their bytes).
    func encode(_ elements: CollectionElements) -> [UInt8] {
        if elements.count == 0 { return [] }
        let keys = elements.keys.map { Self.list($0, .text) } ?? []
        if isLinks {
            let values = elements.values
            let links = (0..<values.count).map { values.isNull($0) ? LinkPayload.null : values.integer($0) }
            return LinkPayload.encode(links, extra: keys)
        }
        let values = Self.list(elements.values, column.element)
        if !column.isKeyed { return values }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + keys.count + values.count)
        Self.append(UInt32(truncatingIfNeeded: keys.count), 4, &bytes)
        return bytes + keys + values
    }

    private static func list(_ column: ColumnBuffer, _ element: CollectionColumn.Element) -> [UInt8] {
        let count = column.count
        var nulls = 0
        for row in 0..<count where column.isNull(row) { nulls += 1 }
        let kind = nulls == count ? .integer8 : kind(of: column, element)
        var bytes: [UInt8] = [kind.rawValue, nulls > 0 ? 1 : 0]
        append(UInt32(truncatingIfNeeded: count), 4, &bytes)
        if nulls > 0 {
            var bitmap = [UInt8](repeating: 0, count: (count + 7) / 8)
            for row in 0..<count where column.isNull(row) { bitmap[row / 8] |= 1 << UInt8(row % 8) }
            bytes += bitmap
        }
        if !kind.hasOffsets {
            bytes.reserveCapacity(bytes.count + count * kind.width)
            for row in 0..<count { append(column.isNull(row) ? 0 : column.words[row], kind.width, &bytes) }
            return bytes
        }
        var end = 0
        append(0 as UInt32, 4, &bytes)
        for row in 0..<count {
            end += column.isNull(row) ? 0 : column.bytes(row).count
            append(UInt32(truncatingIfNeeded: end), 4, &bytes)
        }
        for row in 0..<count where !column.isNull(row) { bytes += column.bytes(row) }
        return bytes
    }

    /// The smallest kind that holds all values.
    private static func kind(of column: ColumnBuffer, _ element: CollectionColumn.Element) -> ValueList.Kind {
        switch element {
        case .double: return .double
        case .text: return .text
        case .data, .opaque, .any: return .data
        case .integer: break
        }
        var low: Int64 = 0
        var high: Int64 = 0
        for row in 0..<column.count where !column.isNull(row) {
            low = min(low, column.integer(row))
            high = max(high, column.integer(row))
        }
        if Int8(exactly: low) != nil && Int8(exactly: high) != nil { return .integer8 }
        if Int16(exactly: low) != nil && Int16(exactly: high) != nil { return .integer16 }
        return Int32(exactly: low) != nil && Int32(exactly: high) != nil ? .integer32 : .integer64
    }

    private static func append(_ value: some FixedWidthInteger, _ width: Int, _ bytes: inout [UInt8]) {
        for place in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
    }
}

extension CollectionElements {
    /// Appends the elements of a payload; their bytes are borrowed.
    func append(borrowing payload: CollectionPayload) {
        values.reserve(payload.count)
        keys?.reserve(payload.count)
        for place in 0..<payload.count {
            values.append(borrowing: payload.value(place))
            keys?.append(borrowing: payload.key(place))
        }
    }
}

extension ColumnBuffer {
    /// Appends a cell; its bytes are borrowed.
    fileprivate func append(borrowing cell: Cell) {
        if cell.kind != .bytes { return append(cell) }
        append(borrowing: cell.base, length: cell.count, flag: 0)
    }
}
