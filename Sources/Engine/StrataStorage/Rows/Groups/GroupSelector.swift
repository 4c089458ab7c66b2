import CStrataShim

/// Evaluates a filter over one group after another, column by column, on packed values.
struct GroupSelector {
    let filter: RowFilter
    let layout: TableLayout
    let reader: PageReader
    private let stack: SelectionStack

    init(_ filter: RowFilter, _ layout: TableLayout, _ reader: PageReader) {
        self.filter = filter
        self.layout = layout
        self.reader = reader
        // Enough for the filter's parts, and for the full selection with which `not` inverts.
        stack = SelectionStack(depth: filter.depth + 2)
    }

    /// The live rows of a group that pass. Valid until the next call.
    func select(_ group: Group) throws(StorageError) -> Selection {
        stack.prepare(group)
        let selection = stack[0]
        try evaluate(filter, group, 0)
        selection.removeDeleted(group)
        return selection
    }

    var spare: UnsafeMutablePointer<UInt64> { stack.spare }

    private func evaluate(_ filter: RowFilter, _ group: Group, _ level: Int) throws(StorageError) {
        let selection = stack[level]
        switch filter {
        case .everything: selection.fill(group)
        case .nothing: selection.clear()
        case .key(let range): try test(.integers(range), column: RowSet.keyColumn, in: group, selection: selection)
        case .integer(let column, let range):
            try test(.integers(range), column: column + RowSet.firstUserColumn, in: group, selection: selection)
        case .keys(let set): try test(.members(set), column: RowSet.keyColumn, in: group, selection: selection)
        case .integers(let column, let set):
            try test(.members(set), column: column + RowSet.firstUserColumn, in: group, selection: selection)
        case .double(let column, let range):
            try test(.doubles(range), column: column + RowSet.firstUserColumn, in: group, selection: selection)
        case .doubles(let column, let set):
            try test(.doubleMembers(set), column: column + RowSet.firstUserColumn, in: group, selection: selection)
        case .bytes(let column, let bytes):
            try test(.bytes(bytes), column: column + RowSet.firstUserColumn, in: group, selection: selection)
        case .collection(let column, let matcher):
            let column = column + RowSet.firstUserColumn
            try test(.collection(matcher, layout.ids[column]), column: column, in: group, selection: selection)
        case .null(let column):
            try test(
                .null, column: column + RowSet.firstUserColumn, in: group, selection: selection)
        case .not(let part):
            try evaluate(part, group, level)
            selection.invert(group, spare: stack[level + 1])
        case .and(let parts):
            guard let first = parts.first else { return selection.fill(group) }
            try evaluate(first, group, level)
            for part in parts.dropFirst() {
                if selection.isEmpty { return }
                try evaluate(part, group, level + 1)
                selection.formIntersection(stack[level + 1])
            }
        case .or(let parts):
            guard let first = parts.first else { return selection.clear() }
            try evaluate(first, group, level)
            for part in parts.dropFirst() {
                try evaluate(part, group, level + 1)
                selection.formUnion(stack[level + 1])
            }
        }
    }

    private func test(
        _ test: ColumnTest, column: Int, in group: Group, selection: Selection
    ) throws(StorageError) {
        strata_note_steps(group.rows + group.inserted)
        selection.clear()
        guard let position = group.position(of: layout.ids[column], near: column) else {
            if try holdsMissing(test, column) { selection.fill(group) }
            return
        }
        if group.segmentCount(position) == 0 {
            selectDenseKeys(test, group, selection)
        } else {
            try selectMain(test, position: position, column: column, in: group, selection: selection)
        }
        if group.inserted > 0 {
            let segment = group.insertedSegment(position)
            try check(segment, column)
            try segment.select(test, selection.extra, at: 0, reader)
        }
    }

    /// Whether the value of rows that lack a column passes.
    private func holdsMissing(_ test: ColumnTest, _ column: Int) throws(StorageError) -> Bool {
        guard case .collection(let matcher, let id) = test else { return test.holds(layout.missing[column]) }
        return try matcher.holds(layout.missing[column].bytesValue, false, id, reader)
    }

    private func check(_ segment: Segment, _ column: Int) throws(StorageError) {
        try segment.require(layout.kinds[column], reader)
    }

    private func selectMain(
        _ test: ColumnTest, position: Int, column: Int, in group: Group, selection: Selection
    ) throws(StorageError) {
        let first = group.firstSegment(position)
        for number in first..<(first + group.segmentCount(position)) {
            let segment = try group.segment(number, reader)
            try check(segment, column)
            let start = group.descriptor(number).firstSlot
            try segment.select(test, selection.main, at: start, reader) { slot in
                group.isDeleted(start + slot) || group.patchedValue(position, start + slot) != nil
            }
        }
        for index in 0..<group.patched where group.patch(index).column == position {
            let patch = group.patch(index)
            try check(patch.segment, column)
            let passed = stack.spare
            passed.update(repeating: 0, count: Selection.words(patch.count))
            try patch.segment.select(test, passed, at: 0, reader) { group.isDeleted(patch.slot($0)) }
            strata_bits_scatter(selection.main, group.base + patch.slotsOffset, patch.count, passed)
        }
    }

    /// Consecutive keys are implicit: a range of keys is a range of slots.
    private func selectDenseKeys(_ test: ColumnTest, _ group: Group, _ selection: Selection) {
        if case .members(let set) = test {
            for slot in 0..<group.rows where set.contains(group.baseKey &+ Int64(slot)) {
                selection.main[slot >> 6] |= 1 << UInt64(slot & 63)
            }
        }
        guard case .integers(let range) = test, group.rows > 0 else { return }
        let last = group.baseKey &+ Int64(group.rows - 1)
        let low = max(range.lowerBound, group.baseKey)
        let high = min(range.upperBound, last)
        if low > high { return }
        strata_bits_fill(selection.main, Int(low &- group.baseKey), Int(high &- low) + 1)
    }
}
