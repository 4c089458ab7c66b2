/// Checks the bytes of a list, set or map against the layout that its column's tag declares, as far as readers rely on
/// it. The tag is the object layer's code for the type of the collection.
///
/// docs/file-format-objects.md has the tags and the layouts. Invalid UTF-8 is accepted: it reads with replacement
/// characters. Members of a set of decimals, or of values of any type, are not compared.
struct ValueLayout {
    private enum Collection: UInt32 { case list = 1, set, map }

    private let collection: Collection
    private let isLinks: Bool
    private let hasPlainOrder: Bool

    /// Nil if the column has no collections, or has a newer version's tag.
    init?(_ column: ColumnDefinition) {
        guard column.tag >> 14 == 0, let collection = Collection(rawValue: column.tag >> 8 & 0xF),
            column.type == .bytes || column.type == .links
        else { return nil }
        self.collection = collection
        isLinks = column.type == .links
        hasPlainOrder = ![9, 11].contains(column.tag & 0xFF)
    }

    func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.isEmpty { return true }
        return isLinks ? acceptsLinks(bytes) : acceptsValues(bytes)
    }

    private func acceptsLinks(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let links = LinkPayload.Reader(bytes) else { return false }
        switch collection {
        case .list: return true
        case .set:
            for index in 1..<max(links.count, 1) where links[index - 1] >= links[index] { return false }
            return true
        case .map: return Self.isKeys(links.extra, count: links.count)
        }
    }

    private func acceptsValues(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch collection {
        case .list: return ValueList(bytes) != nil
        case .set: return ValueList(bytes).map { !hasPlainOrder || Self.ascends($0) } ?? false
        case .map:
            guard bytes.count >= 4 else { return false }
            let size = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            guard size <= bytes.count - 4 else { return false }
            guard let values = ValueList(UnsafeRawBufferPointer(rebasing: bytes[(4 + size)...])) else { return false }
            return Self.isKeys(UnsafeRawBufferPointer(rebasing: bytes[4..<(4 + size)]), count: values.count)
        }
    }

    /// Whether the bytes are this many texts, ascending, without duplicates.
    private static func isKeys(_ bytes: UnsafeRawBufferPointer, count: Int) -> Bool {
        guard let keys = ValueList(bytes), keys.count == count else { return false }
        if count == 0 { return true }
        return keys.kind == .text && !(0..<count).contains { keys.isNull($0) } && ascends(keys)
    }

    /// Null comes first, NaN before all other numbers.
    private static func ascends(_ list: ValueList) -> Bool {
        for index in 1..<max(list.count, 1) where !precedes(list, index - 1, index) { return false }
        return true
    }

    private static func precedes(_ list: ValueList, _ a: Int, _ b: Int) -> Bool {
        if list.isNull(a) || list.isNull(b) { return list.isNull(a) && !list.isNull(b) }
        switch list.kind {
        case .integer8, .integer16, .integer32, .integer64: return list.integer(a) < list.integer(b)
        case .double:
            let (a, b) = (list.double(a), list.double(b))
            return a.isNaN ? !b.isNaN : !b.isNaN && a < b
        case .text, .data: return list.element(a).lexicographicallyPrecedes(list.element(b))
        }
    }
}
