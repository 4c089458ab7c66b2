import StrataStorage

/// Compares the values of rows in two versions.
struct RowComparison {
    private let batch: ChangeBatch
    private let before: Int?
    private let after: Int?
    private var columns: [UInt16: Place] = [:]

    /// Position of a column in both versions.
    private struct Place {
        var old: Int
        var new: Int
        var type: ColumnType
        /// The type of the property's values and collections; nil for a tag that this version does not know.
        var tag: ColumnTag?
    }

    init(_ batch: ChangeBatch, _ table: TableID) {
        self.batch = batch
        before = batch.old.view.schema.position(of: table)
        after = batch.new.view.schema.position(of: table)
        guard let before, let after else { return }
        let definitions = batch.old.view.schema.tables[before]
        for (place, column) in batch.new.view.schema.tables[after].columns.enumerated() {
            guard let old = definitions.position(of: column.id) else { continue }
            columns[column.id.rawValue] = Place(
                old: old, new: place, type: column.type, tag: ColumnTag(rawValue: column.tag))
        }
    }

    /// Those of `columns` whose value differs.
    func changed(_ key: Int64, _ columns: Set<UInt16>) throws(StorageError) -> Set<UInt16> {
        guard let before, let after, let old = try batch.old.view.locate(before, RowKey(key)),
            let new = try batch.new.view.locate(after, RowKey(key))
        else { return [] }
        var changed: Set<UInt16> = []
        for column in columns {
            guard let places = self.columns[column] else { continue }
            if try !isSame(key, old: old, new: new, column: places) { changed.insert(column) }
        }
        return changed
    }

    private func isSame(
        _ key: Int64, old: RowLocation, new: RowLocation, column: Place
    ) throws(StorageError) -> Bool {
        let (a, b) = (batch.old.view, batch.new.view)
        switch column.type {
        case .integer, .link: return try a.integer(old, column.old) == b.integer(new, column.new)
        case .double:
            return try a.double(old, column.old)?.bitPattern == b.double(new, column.new)?.bitPattern
        case .bytes, .links:
            if let tag = column.tag, let elements = tag.elements {
                let before = try CollectionContents(
                    a, at: old, key: key, column: column.old, tag: tag, elements: elements)
                let after = try CollectionContents(
                    b, at: new, key: key, column: column.new, tag: tag, elements: elements)
                return try isSame(before, after)
            }
            let (first, second) = (try a.bytes(old, column.old), try b.bytes(new, column.new))
            let isSame =
                if column.tag?.type == .any {
                    try a.shown(Self.value(first)) == b.shown(Self.value(second))
                } else if let first, let second {
                    first.elementsEqual(second)
                } else {
                    first == nil && second == nil
                }
            try a.confirm()
            try b.confirm()
            return isSame
        }
    }

    /// A value of any type; no bytes are null.
    private static func value(_ bytes: UnsafeRawBufferPointer?) -> _StoredValue {
        .bytes(bytes.map { Array($0) } ?? [])
    }

    /// Compares collections as the program sees them: in values of any type, a link to a deleted object is null.
    private func isSame(_ before: CollectionContents, _ after: CollectionContents) throws(StorageError) -> Bool {
        let isSame = try before.reader.isSame(as: after.reader)
        guard before.tag.type == .any else { return isSame }
        if isSame {
            guard let lost = try batch.lostLinks() else { return true }
            return try lost.places(in: before.reader, isFirstEnough: true).isEmpty
        }
        guard before.tag.isSetOfAny else { return false }
        let (old, new) = (try before.shownMembers()?.contents, try after.shownMembers()?.contents)
        if old == nil && new == nil { return false }
        let first = old == nil ? try before.all() : old
        let last = new == nil ? try after.all() : new
        return first == last
    }
}
