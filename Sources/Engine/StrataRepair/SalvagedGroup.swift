internal import StrataStorage

/// Reads a damaged group: rows with readable keys, and every value whose segment verifies.
///
/// Concurrency: confined to the salvage.
struct SalvagedGroup {
    /// Values of a column in the main rows; nil for a segment that does not verify.
    private struct Column {
        var segments: [(firstSlot: Int, segment: Segment?)] = []
        var position: Int?
        /// Index of the segment of the last look-up.
        var cursor = 0

        /// The segment of a slot, and the index in it; slots must ascend from call to call.
        mutating func find(_ slot: Int) -> (segment: Segment, index: Int)? {
            while cursor + 1 < segments.count, segments[cursor + 1].firstSlot <= slot { cursor += 1 }
            guard cursor < segments.count, let segment = segments[cursor].segment else { return nil }
            let index = slot - segments[cursor].firstSlot
            return index >= 0 && index < segment.rows ? (segment, index) : nil
        }
    }

    /// Losses of a group.
    struct Losses {
        /// Rows with lost keys, between the readable keys around them.
        var rows: [SalvageReport.KeyRange] = []
        /// For each column of the table: runs of rows that lost it.
        var columns: [RowRuns]
        /// For each column: runs of rows whose long value is lost, or whose value is invalid for the column.
        var values: [RowRuns]
        /// For each column: collections that lost elements.
        var elements: [[ElementLosses]]
        /// Rows whose creation version is lost.
        var creations = 0
    }

    /// Runs of consecutive rows.
    struct RowRuns {
        private(set) var ranges: [SalvageReport.KeyRange] = []
        /// The last noted row, counted in the order of the calls.
        private var last = -1

        mutating func note(_ key: Int64, row: Int) {
            if last == row - 1, var range = ranges.popLast() {
                range.high = key
                range.rows = (range.rows ?? 0) + 1
                ranges.append(range)
            } else {
                ranges.append(SalvageReport.KeyRange(low: key, high: key, rows: 1))
            }
            last = row
        }
    }

    private let group: Group
    private let reference: NodeReference
    private let source: SalvageSource
    private let layout: TableLayout
    private let definition: TableDefinition
    /// Finds leaves of collections that no readable branch references; nil if the caller does not want them.
    private let survey: SalvageSurvey?
    /// Encoded collections of the current row.
    private var encoded: [UnsafeMutableRawBufferPointer] = []
    private var columns: [Column] = []
    private(set) var losses: Losses
    /// Number of rows passed to the body of ``forEachRow(within:_:)``.
    private var handed = 0

    /// - Returns: nil if the group's own node does not verify.
    init?(
        _ reference: NodeReference, _ definition: TableDefinition, layout: TableLayout, source: SalvageSource,
        survey: SalvageSurvey? = nil
    ) {
        self.survey = survey
        guard let node = source.node(reference, .group, table: layout.table) else { return nil }
        group = Group(node)
        self.reference = reference
        self.source = source
        self.layout = layout
        self.definition = definition
        let none = Array(repeating: RowRuns(), count: definition.columns.count)
        losses = Losses(columns: none, values: none, elements: definition.columns.map { _ in [] })
        for number in layout.ids.indices { columns.append(column(number)) }
    }

    private func column(_ column: Int) -> Column {
        guard let position = group.position(of: layout.ids[column], near: column) else { return Column() }
        var result = Column(position: position)
        let first = group.firstSegment(position)
        for number in first..<(first + group.segmentCount(position)) {
            let descriptor = group.descriptor(number)
            let segment = Self.segment(group, descriptor) {
                source.node($0, .segments, table: layout.table)
            }
            let isRight = segment?.kindCode == layout.kinds[column].rawValue
            result.segments.append((descriptor.firstSlot, isRight ? segment : nil))
        }
        return result
    }

    /// - Parameter read: returns the node of a reference, if it verifies.
    static func segment(
        _ group: Group, _ descriptor: SegmentDescriptor, _ read: (NodeReference) -> UnsafeRawPointer?
    ) -> Segment? {
        if descriptor.node == Group.inThisNode { return Segment(group.base + descriptor.offset) }
        guard let node = read(group.reference(descriptor.node)), descriptor.index < SegmentNode.count(node) else {
            return nil
        }
        let segment = SegmentNode.segment(node, descriptor.index)
        return segment.rows == descriptor.rows ? segment : nil
    }

    /// First and last key of a group, deleted rows included; nil if no key can be read.
    static func extent(
        _ reference: NodeReference, _ table: UInt32, _ source: SalvageSource
    ) -> ClosedRange<Int64>? {
        guard let node = source.peek(reference, .group, table: table) else { return nil }
        let group = Group(node)
        var keys: [Int64] = []
        if group.rows > 0 {
            keys.append(group.baseKey)
            if group.isDense {
                keys.append(group.baseKey &+ Int64(group.rows - 1))
            } else {
                let first = group.firstSegment(0)
                for number in first..<(first + group.segmentCount(0)) {
                    let found = segment(group, group.descriptor(number)) {
                        source.peek($0, .segments, table: table)
                    }
                    guard let found, found.rows > 0, found.kindCode == SegmentKind.integer.rawValue else { continue }
                    keys.append(found.integer(found.rows - 1))
                }
            }
        }
        if group.inserted > 0, group.insertedSegment(0).kindCode == SegmentKind.integer.rawValue {
            keys.append(group.insertedSegment(0).integer(0))
            keys.append(group.insertedSegment(0).integer(group.inserted - 1))
        }
        guard let low = keys.min(), let high = keys.max() else { return nil }
        return low...high
    }

    // MARK: Rows

    /// Calls `body` with the live rows in key order.
    /// - Parameter keys: the range of keys that the tree assigns to the group, for the report of lost keys.
    mutating func forEachRow(
        within keys: ClosedRange<Int64>,
        _ body: (_ key: Int64, _ created: UInt64, UnsafeBufferPointer<Cell>) throws(StorageError) -> Void
    ) throws(StorageError) {
        var cells = [Cell](repeating: .null, count: definition.columns.count)
        var place = 0
        var nextDeleted = 0
        var missing = 0
        var last: Int64?
        for slot in 0..<group.rows {
            if nextDeleted < group.deleted, group.deletedSlot(nextDeleted) == slot {
                nextDeleted += 1
                continue
            }
            guard let key = mainKey(slot) else {
                missing += 1
                continue
            }
            noteLostKeys(&missing, from: last.map { $0 &+ 1 } ?? keys.lowerBound, through: key &- 1)
            last = key
            while place < group.inserted, let other = insertedKey(place), other < key {
                try hand(other, ~place, cells: &cells, body: body)
                place += 1
            }
            try hand(key, slot, cells: &cells, body: body)
        }
        noteLostKeys(&missing, from: last.map { $0 &+ 1 } ?? keys.lowerBound, through: keys.upperBound)
        while place < group.inserted, let other = insertedKey(place) {
            try hand(other, ~place, cells: &cells, body: body)
            place += 1
        }
        // Inserted rows whose keys are not readable.
        var unreadable = group.inserted - place
        noteLostKeys(&unreadable, from: keys.lowerBound, through: keys.upperBound)
    }

    /// Excludes the pages of long values from the scan for nodes, including values that do not verify.
    mutating func visitLongValues() {
        let deleted = Set((0..<group.deleted).map { group.deletedSlot($0) })
        for column in definition.columns.indices where [.bytes, .links].contains(definition.columns[column].type) {
            // Long values of deleted rows were dropped, and their pages may hold other nodes by now.
            for slot in -group.inserted..<group.rows where !deleted.contains(slot) {
                guard let (segment, index) = value(column + RowSet.firstUserColumn, slot), !segment.isNull(index),
                    segment.isLong(index), let base = segment.bytes(index).baseAddress,
                    segment.bytes(index).count == LongValue.size
                else { continue }
                let value = LongValue(base)
                if value.isTree, definition.columns[column].collection != nil {
                    SalvagedCollection.visit(value, table: layout.table, source)
                } else {
                    source.visit(value.reference)
                }
            }
            columns[column + RowSet.firstUserColumn].cursor = 0
        }
    }

    private mutating func noteLostKeys(_ count: inout Int, from low: Int64, through high: Int64) {
        if count > 0 { losses.rows.append(SalvageReport.KeyRange(low: low, high: max(low, high), rows: count)) }
        count = 0
    }

    private mutating func mainKey(_ slot: Int) -> Int64? {
        if group.isDense { return group.baseKey &+ Int64(slot) }
        return columns[RowSet.keyColumn].find(slot).map { $0.segment.integer($0.index) }
    }

    private func insertedKey(_ place: Int) -> Int64? {
        let segment = group.insertedSegment(RowSet.keyColumn)
        return segment.kindCode == SegmentKind.integer.rawValue && place < segment.rows ? segment.integer(place) : nil
    }

    private mutating func hand(
        _ key: Int64, _ slot: Int, cells: inout [Cell],
        body: (Int64, UInt64, UnsafeBufferPointer<Cell>) throws(StorageError) -> Void
    ) throws(StorageError) {
        for column in cells.indices {
            let number = column + RowSet.firstUserColumn
            cells[column] = layout.missing[number]
            guard columns[number].position != nil else { continue }
            guard let (segment, index) = value(number, slot) else {
                losses.columns[column].note(key, row: handed)
                continue
            }
            if let (tree, holder) = tree(segment, index, definition.columns[column]) {
                cells[column] = take(tree, holder, key: key, column: column) ?? definition.columns[column].missingCell
            } else if let cell = cell(segment, index, definition.columns[column]) {
                cells[column] = cell
            } else {
                losses.values[column].note(key, row: handed)
            }
        }
        defer {
            for bytes in encoded { bytes.deallocate() }
            encoded.removeAll(keepingCapacity: true)
        }
        handed += 1
        let created = value(RowSet.createdColumn, slot).map { UInt64(bitPattern: $0.segment.integer($0.index)) }
        if created == nil && columns[RowSet.createdColumn].position != nil { losses.creations += 1 }
        var failure: StorageError?
        cells.withUnsafeBufferPointer { buffer in
            do throws(StorageError) { try body(key, created ?? reference.birth, buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// The newest segment with a row's value, and the index in it.
    private mutating func value(_ column: Int, _ slot: Int) -> (segment: Segment, index: Int)? {
        guard let position = columns[column].position else { return nil }
        var found: (segment: Segment, index: Int)?
        if slot < 0 {
            found = (group.insertedSegment(position), ~slot)
        } else {
            found = group.patchedValue(position, slot) ?? columns[column].find(slot)
        }
        guard let found, found.segment.kindCode == layout.kinds[column].rawValue, found.index < found.segment.rows
        else { return nil }
        return found
    }

    /// The root of a collection's tree, and its column: as the schema declares it, or as derived from a leaf if no
    /// schema does. Nil if the value is no tree.
    private func tree(
        _ segment: Segment, _ index: Int, _ column: ColumnDefinition
    ) -> (root: LongValue, ColumnDefinition)? {
        guard !segment.isNull(index), segment.isLong(index), segment.bytes(index).count == LongValue.size,
            let base = segment.bytes(index).baseAddress, LongValue(base).isTree
        else { return nil }
        let root = LongValue(base)
        if column.collection != nil { return (root, column) }
        guard column.type == .bytes, let survey, survey.report.schema != .current,
            let found = SalvagedCollection.column(of: root.reference, table: layout.table, source)
        else { return nil }
        var holder = column
        holder.collection = found
        return (root, holder)
    }

    /// The elements that the salvage can recover of a collection, encoded, with bytes that live until the next row; nil
    /// if there are none.
    private mutating func take(
        _ tree: LongValue, _ holder: ColumnDefinition, key: Int64, column: Int
    ) -> Cell? {
        let survey = survey
        let found = SalvagedCollection(tree, holder, table: layout.table, key: key, source) {
            survey?.orphanLeaves($0, birth: $1) ?? []
        }
        guard let found, found.count > 0 else {
            losses.values[column].note(key, row: handed)
            return nil
        }
        if found.losses.lost > 0 || found.losses.uncertain > 0 { losses.elements[column].append(found.losses) }
        let whole = found.bytes
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: whole.count, alignment: 8)
        bytes.copyBytes(from: whole)
        encoded.append(bytes)
        return .bytes(UnsafeRawBufferPointer(bytes))
    }

    /// A value for the new store; nil if it is lost, or null in a column that requires a value.
    private func cell(_ segment: Segment, _ index: Int, _ column: ColumnDefinition) -> Cell? {
        if segment.isNull(index) { return column.isRequired ? nil : .null }
        switch column.type {
        case .integer, .link: return .integer(segment.integer(index))
        case .double: return .double(segment.double(index))
        case .bytes, .links:
            var bytes = segment.bytes(index)
            if segment.isLong(index) {
                guard let long = long(bytes) else { return nil }
                bytes = long
            }
            if bytes.count > 0, let rules = ValueRules(column), !rules.accepts(bytes) { return nil }
            return .bytes(bytes)
        }
    }

    private func long(_ descriptor: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let base = descriptor.baseAddress, descriptor.count == LongValue.size else { return nil }
        let long = LongValue(base)
        guard let node = source.node(long.reference, .value, table: layout.table),
            long.count <= UInt64(long.reference.byteCount - Format.nodeHeaderSize), source.take(long.reference)
        else { return nil }
        return UnsafeRawBufferPointer(start: node + Format.nodeHeaderSize, count: Int(long.count))
    }
}
