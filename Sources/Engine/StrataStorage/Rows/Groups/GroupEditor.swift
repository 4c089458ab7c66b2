/// Changes the existing rows of one group for a transaction.
///
/// The editor keeps changes beside the main rows, as patches, inserted rows and deleted slots, so that a commit writes
/// this one node; ``GroupDraft`` makes them in place in the arena. When they no longer fit, the editor folds the
/// segment with the most patch bytes; if that is not enough, it rebuilds the group. An operation that may rebuild the
/// group returns the groups that replace it; nil if it changed the group's node.
///
/// Concurrency: confined to the write transaction.
struct GroupEditor {
    // The table's editor keeps both and outlives this editor, so that copying it needs no reference counting.
    unowned(unsafe) let layout: TableLayout
    unowned(unsafe) let nodes: TransactionNodes
    /// The group's reference, and its key in the branch above.
    private(set) var entry: BranchEntry
    private var group: Group
    /// The node in the arena; nil if it must be rebuilt to be changed.
    private var draft: GroupDraft?

    private var limits: StoreLimits { nodes.limits }

    /// - Parameter changing: false if the group will only be rebuilt or dropped.
    init(
        _ entry: BranchEntry, _ layout: TableLayout, _ nodes: TransactionNodes, changing: Bool = false
    ) throws(StorageError) {
        self.entry = entry
        self.layout = layout
        self.nodes = nodes
        group = Group(try nodes.node(entry.reference, .group))
        guard changing, Self.isAsDrafted(group, entry.reference, layout) else { return }
        if !entry.reference.isInArena {
            let node = try nodes.mutable(&self.entry.reference)
            group = Group(UnsafeRawPointer(node))
        }
        let node = nodes.arena.pointer(self.entry.reference.arenaIndex)
        draft = GroupDraft(base: node, capacity: entry.reference.byteCount, layout: layout, nodes: nodes)
    }

    var liveRows: Int { group.liveRows }
    var isSmall: Bool { group.isSmall }

    /// Whether a draft can change the group in place. In a node from a file parts may overlap; one from the arena was
    /// written here.
    @inline(__always)
    private static func isAsDrafted(_ group: Group, _ reference: NodeReference, _ layout: TableLayout) -> Bool {
        guard group.hasColumns(of: layout) else { return false }
        return reference.isInArena || (GroupDraft.isPacked(group) && group.hasKinds(of: layout))
    }

    /// Whether the changed node would be accepted from a file.
    var isSound: Bool {
        GroupDraft.isPacked(group) && GroupShape(group.base, bytes: entry.reference.byteCount, isOpen: true).isRight
    }

    // MARK: Operations

    /// Sets one column of a row.
    mutating func set(
        _ row: Int32, _ key: Int64, column: Int, _ value: CellValue
    ) throws(StorageError) -> [BranchEntry]? {
        while let draft {
            if try draft.set(column, row, value) { return nil }
            if try !makeRoom(draft, for: column) { break }
        }
        if let draft, row >= 0, !group.isSmall,
            let made = try refold(draft, column: column, slot: Int(row), to: value)
        {
            return made
        }
        return try rebuild { (rows) throws(StorageError) in
            let place = rows.lowerBound(key)
            // In a damaged group keys may not ascend, and hide the located row.
            guard place < rows.count, rows.key(place) == key else { throw nodes.reader.damage(at: group.base) }
            value.set(rows.columns[column], place)
        }
    }

    /// Inserts a row with a new key, from a set of rows.
    mutating func insert(_ source: RowSet, _ row: Int) throws(StorageError) -> [BranchEntry]? {
        let key = source.key(row)
        while let draft {
            if group.isSmall {
                guard group.rows < limits.smallRows, group.inserted == 0, group.deleted == 0 else { break }
                if try draft.insert(try group.mainLowerBound(key, nodes.reader), inMain: true, source, row) {
                    return nil
                }
            } else {
                if group.inserted >= limits.insertedRows { break }
                if try draft.insert(group.insertedLowerBound(key), inMain: false, source, row) { return nil }
            }
            if try !makeRoom(draft, for: nil) { break }
        }
        return try rebuild { rows in rows.insert(at: rows.lowerBound(key), source, row) }
    }

    /// Appends a row to a small group in place.
    /// - Returns: false, with the group unchanged, if there is no space.
    func append(_ source: RowSet, _ row: Int) throws(StorageError) -> Bool {
        guard let draft, group.isSmall, group.rows < limits.smallRows, group.inserted == 0, group.deleted == 0 else {
            return false
        }
        return try draft.insert(group.rows, inMain: true, source, row)
    }

    /// Whether deletions are noted beside the main rows; if not, the group is rebuilt without the rows.
    /// - Parameters:
    ///   - slots: number of main rows to delete.
    ///   - rows: number of all rows to delete.
    static func keeps(_ group: Group, slots: Int, rows: Int, limits: StoreLimits) -> Bool {
        !group.isSmall && group.deleted + slots <= limits.deletedSlots && group.liveRows - rows >= group.rows / 4
    }

    /// Notes deleted slots and removes inserted rows, both ascending.
    /// - Returns: false if the group must be rebuilt. Only its encoding may have changed then.
    mutating func delete(slots: [Int], inserted: [Int]) throws(StorageError) -> Bool {
        if draft == nil { return false }
        let grown = aligned8(2 * (group.deleted + slots.count)) - aligned8(2 * group.deleted)
        while let draft, draft.room < grown { if try !makeRoom(draft, for: nil) { return false } }
        guard let draft else { return false }
        if !inserted.isEmpty {
            let extra = RowSet(layout, capacity: group.inserted)
            for column in layout.kinds.indices {
                try group.decodeInserted(column, layout: layout, into: extra.columns[column], from: nodes.reader)
            }
            var bits = [UInt64](repeating: 0, count: extra.count / 64 + 1)
            for place in inserted { bits[place >> 6] |= 1 << UInt64(place & 63) }
            extra.removeRows(marked: bits)
            if !draft.setInserted(extra, keeping: grown) { return false }
        }
        return draft.delete(slots)
    }

    // MARK: Space

    /// Folds a segment, or enlarges the node for its directory.
    /// - Parameter column: the column with too many patches, if that may be the reason.
    /// - Returns: false if the node cannot be changed further in place.
    private mutating func makeRoom(_ draft: GroupDraft, for column: Int?) throws(StorageError) -> Bool {
        let pages = GroupImage.pages(forDirectory: draft.directorySize)
        if !group.isSmall && pages * Format.pageSize > draft.capacity {
            let (reference, node) = try nodes.makeNode(.group, pages: pages, table: layout.table)
            (node + Format.nodeHeaderSize).copyMemory(
                from: draft.base + Format.nodeHeaderSize, byteCount: group.size - Format.nodeHeaderSize)
            nodes.drop(entry.reference)
            entry.reference = reference
            group = Group(UnsafeRawPointer(node))
            self.draft = GroupDraft(base: node, capacity: reference.byteCount, layout: layout, nodes: nodes)
            return true
        }
        var only: Int?
        if let column {
            for index in 0..<group.patched where group.patch(index).column == column {
                if group.patch(index).count >= limits.patches { only = column }
            }
        }
        return try draft.fold(only: only) == .done
    }

    // MARK: Segments that are cut anew

    /// Sets a value although the node takes no more patches, and no segment can be folded in its node: folds in an
    /// image of the group, and writes a new node.
    /// - Returns: nil if the group has no space for the segments: it must be rebuilt.
    private func refold(
        _ draft: GroupDraft, column: Int, slot: Int, to value: CellValue
    ) throws(StorageError) -> [BranchEntry]? {
        var image = GroupImage(group)
        let heap = ByteHeap()
        image.patch(column, slot: slot, to: value, kind: layout.kinds[column], heap: heap)
        var folder = SegmentReplacer(nodes: nodes, table: layout.table, heap: heap)
        repeat {
            try fold(&image, &folder)
        } while !image.patches.isEmpty && (image.size > image.capacity || image.hasPatches(over: limits.patches))
        if image.size > image.capacity || image.references.count >= Group.inThisNode {
            for reference in folder.made { nodes.drop(reference) }
            return nil
        }
        let reference = try GroupBuilder.write(image, table: layout.table, nodes)
        for old in folder.released { nodes.drop(old) }
        nodes.drop(entry.reference)
        return [BranchEntry(key: entry.key, rows: image.liveRows, reference: reference)]
    }

    /// Folds the patches of the segment with the most patch bytes into new segments.
    private func fold(_ image: inout GroupImage, _ folder: inout SegmentReplacer) throws(StorageError) {
        var best = (bytes: -1, patch: 0, segment: 0)
        for (number, patch) in image.patches.enumerated() {
            let each = patch.values.count / max(patch.slots.count, 1) + 2
            let columnImage = image.columns[patch.column]
            for segment in columnImage.first..<(columnImage.first + columnImage.count) {
                let range = image.patchRange(number, segment)
                if range.count * each > best.bytes && !range.isEmpty {
                    best = (range.count * each, number, segment)
                }
            }
        }
        guard best.bytes >= 0 else {
            throw .corrupt(page: PageNumber(entry.reference.page), offset: 0, reason: .structure)
        }
        let patch = image.patches[best.patch]
        let range = image.patchRange(best.patch, best.segment)
        let descriptor = image.segments[best.segment]
        let buffer = ColumnBuffer(layout.kinds[patch.column], capacity: descriptor.rows)
        let segment = try mainSegment(image, best.segment)
        guard segment.kindCode == buffer.kind.rawValue, segment.rows == descriptor.rows else {
            throw .corrupt(page: PageNumber(entry.reference.page), offset: 0, reason: .structure)
        }
        segment.decode(into: buffer)
        let values = Segment(patch.values.base)
        for place in range {
            values.cellValue(place).set(buffer, Int(patch.slots[place]) - descriptor.firstSlot)
        }
        try folder.replace(best.segment, of: patch.column, with: buffer, &image)
        image.removePatches(best.patch, in: range, kind: buffer.kind, heap: folder.heap)
    }

    private func mainSegment(_ image: GroupImage, _ number: Int) throws(StorageError) -> Segment {
        if let blob = image.blobs[number] { return Segment(blob.base) }
        let reference = image.references[image.segments[number].node]
        let node = try nodes.node(reference, .segments)
        guard image.segments[number].index < SegmentNode.count(node) else { throw .structure(reference) }
        return SegmentNode.segment(node, image.segments[number].index)
    }

    // MARK: A column of many rows

    /// Sets new values of one column in many rows: the segments with changes are cut anew.
    /// - Parameters:
    ///   - keys: ascending.
    ///   - change: sets the value at an index of the column buffer, for the key at an index.
    mutating func rewrite(
        _ keys: ArraySlice<Int64>, _ column: Int, _ change: (ColumnBuffer, Int, Int) throws(StorageError) -> Void
    ) throws(StorageError) -> [BranchEntry] {
        if group.isSmall || group.inserted > 0 || !Self.isAsDrafted(group, entry.reference, layout) {
            return try rebuild { (rows) throws(StorageError) in
                for index in keys.indices {
                    let place = rows.lowerBound(keys[index])
                    guard place < rows.count, rows.key(place) == keys[index] else {
                        throw nodes.reader.damage(at: group.base)
                    }
                    try change(rows.columns[column], place, index)
                }
            }
        }
        let values = ColumnBuffer(layout.kinds[column], capacity: group.rows)
        defer { withExtendedLifetime(values) {} }
        try group.decodeMain(column, layout: layout, into: values, from: nodes.reader)
        var changed: Set<Int> = []
        for index in keys.indices {
            guard let slot = try group.locate(keys[index], nodes.reader), slot >= 0, Int(slot) < values.count else {
                throw nodes.reader.damage(at: group.base)
            }
            try change(values, Int(slot), index)
            changed.insert(group.segmentIndex(column, Int(slot)))
        }
        for index in 0..<group.patched where group.patch(index).column == column {
            let patch = group.patch(index)
            for place in 0..<patch.count { changed.insert(group.segmentIndex(column, patch.slot(place))) }
        }
        if let entry = try cut(changed, of: column, values) { return [entry] }
        return try rebuild { (rows) throws(StorageError) in
            var place = 0
            for slot in 0..<values.count where !group.isDeleted(slot) {
                guard place < rows.count else { throw nodes.reader.damage(at: group.base) }
                rows.columns[column].copyValue(of: values, slot, to: place)
                place += 1
            }
        }
    }

    /// Cuts segments of a column anew from all of its main values, which include its patches.
    /// - Returns: nil, with the group unchanged, if the group has no space for them: it must be rebuilt.
    private func cut(
        _ changed: Set<Int>, of column: Int, _ values: ColumnBuffer
    ) throws(StorageError) -> BranchEntry? {
        var image = GroupImage(group)
        var folder = SegmentReplacer(nodes: nodes, table: layout.table, heap: ByteHeap())
        image.patches.removeAll { $0.column == column }
        // From the last one, so that the numbers of the others stay valid.
        for number in changed.sorted(by: >) {
            let segment = image.segments[number]
            let part = ColumnBuffer(values.kind, capacity: segment.rows)
            guard segment.firstSlot + segment.rows <= values.count else { throw nodes.reader.damage(at: group.base) }
            part.append(values, segment.firstSlot..<(segment.firstSlot + segment.rows))
            try folder.replace(number, of: column, with: part, &image)
        }
        if image.size > image.capacity || image.references.count >= Group.inThisNode {
            for reference in folder.made { nodes.drop(reference) }
            return nil
        }
        let reference = try GroupBuilder.write(image, table: layout.table, nodes)
        for old in folder.released { nodes.drop(old) }
        nodes.drop(entry.reference)
        return BranchEntry(key: entry.key, rows: image.liveRows, reference: reference)
    }

    // MARK: Rebuilding

    /// Decodes all rows, applies `change`, and builds new groups.
    func rebuild(_ change: (RowSet) throws(StorageError) -> Void) throws(StorageError) -> [BranchEntry] {
        if !group.isSmall { mark(.rebuiltGroup) }
        let rows = RowSet(layout, capacity: group.liveRows + 1)
        try group.decode(into: rows, layout, nodes.reader)
        try change(rows)
        return try build(rows)
    }

    private func build(_ rows: RowSet) throws(StorageError) -> [BranchEntry] {
        let builder = GroupBuilder(layout: layout, nodes: nodes)
        let n = rows.count
        // An even split leaves both halves space to grow.
        let cut = n > limits.wideRows ? n / 2 : group.isSmall && n > limits.smallRows ? n / 2 : n
        var made = try builder.build(rows, 0..<cut)
        if cut < n { made += try builder.build(rows, cut..<n) }
        if !made.isEmpty { made[0].key = min(made[0].key, entry.key) }
        giveUp()
        return made
    }

    /// Builds groups without some rows: main slots and indices among inserted rows, each ascending.
    /// - Parameter left: the group before this one; the new groups replace both.
    func rebuild(
        without slots: [Int], _ inserted: [Int], behind left: GroupEditor?
    ) throws(StorageError) -> [BranchEntry] {
        let before = left?.liveRows ?? 0
        let rows = RowSet(layout, capacity: before + group.liveRows)
        try left?.group.decode(into: rows, layout, nodes.reader)
        try group.decode(into: rows, layout, nodes.reader)
        var bits = [UInt64](repeating: 0, count: rows.count / 64 + 1)
        func mark(_ row: Int) { bits[row >> 6] |= 1 << UInt64(row & 63) }
        if group.deleted == 0 && group.inserted == 0 {
            for slot in slots { mark(before + slot) }
        } else {
            for slot in slots {
                mark(before + (try group.rank(of: try group.key(Int32(slot), nodes.reader), nodes.reader)))
            }
            for place in inserted {
                mark(before + (try group.rank(of: try group.key(~Int32(place), nodes.reader), nodes.reader)))
            }
        }
        rows.removeRows(marked: bits)
        guard let left else { return try build(rows) }
        var made = try GroupBuilder(layout: layout, nodes: nodes).build(rows, 0..<rows.count)
        if !made.isEmpty { made[0].key = min(made[0].key, left.entry.key) }
        left.giveUp()
        giveUp()
        return made
    }

    /// Drops the group and its segments; nodes of long values belong to the rows, and stay.
    func giveUp() {
        for index in 0..<group.nodes { nodes.drop(group.reference(index)) }
        nodes.drop(entry.reference)
    }
}
