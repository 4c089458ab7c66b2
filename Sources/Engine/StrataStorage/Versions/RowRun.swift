/// Rows with consecutive keys in consecutive slots of a group, without gaps: location and creation version of each
/// follow from its key.
///
/// Invalid once its version is released; in a transaction after its next write.
package struct RowRun {
    private let table: Int32
    private let firstKey: Int64
    private let created: ColumnWindow

    init(_ table: Int32, firstKey: Int64, _ created: ColumnWindow) {
        self.table = table
        self.firstKey = firstKey
        self.created = created
    }

    /// The location of a row, and the version that created it; nil for a key outside the run, and if the mapping has
    /// lost a page.
    @inline(__always)
    package func find(_ key: Int64) -> (place: RowLocation, creation: UInt64)? {
        let index = UInt64(bitPattern: key &- firstKey)
        guard index < UInt64(created.rows) else { return nil }
        let place = Int(truncatingIfNeeded: index)
        let creation = created.integer(place)
        guard created.isIntact else { return nil }
        return (
            RowLocation(
                group: created.group, slot: created.firstSlot &+ Int32(truncatingIfNeeded: place), table: table),
            creation
        )
    }
}

extension ReadView {
    /// The location of a row, and the version that created it; nil if there is none with this key.
    ///
    /// Does the work of ``locate(_:_:)`` and ``creationVersion(_:)`` by one descent of the tree.
    /// - Complexity: O(log rows).
    package func locateCreated(
        _ table: Int, _ key: RowKey
    ) throws(StorageError) -> (place: RowLocation, creation: UInt64)? {
        try prepareRows(table)
        guard let group = try group(table, key.rawValue), let slot = try group.locate(key.rawValue, reader) else {
            try reader.confirm()
            return nil
        }
        // This precedes the value: a lost page reads as zeros, which `value` would report as a malformed group.
        try reader.confirm()
        let (segment, index) = try group.value(RowSet.createdColumn, at: slot, kind: .integer, from: reader)
        let version = segment.integer(index)
        try reader.confirm()
        return (RowLocation(group, slot: slot, table: table), UInt64(bitPattern: version))
    }

    /// The run around a row that was just found; nil if there is none, because rows were inserted or deleted since
    /// their group was written.
    package func run(around row: RowLocation) throws(StorageError) -> RowRun? {
        guard row.slot >= 0 else { return nil }
        let group = Group(row.group)
        guard group.isDense, group.deleted == 0 else { return nil }
        for index in 0..<group.patched where group.patch(index).column == RowSet.createdColumn { return nil }
        let number = group.segmentIndex(RowSet.createdColumn, Int(row.slot))
        let first = group.descriptor(number).firstSlot
        let segment = try group.segment(number, reader)
        guard
            let created = ColumnWindow(
                row.group, segment, kind: .integer, firstSlot: first, damage: reader.damage)
        else {
            return nil
        }
        try reader.confirm()
        return RowRun(row.table, firstKey: group.baseKey &+ Int64(first), created)
    }
}
