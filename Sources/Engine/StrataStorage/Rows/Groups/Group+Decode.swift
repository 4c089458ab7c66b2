import CStrataShim

extension Group {
    /// Appends the live rows to `target`, in key order and with all changes applied.
    ///
    /// Bytes are borrowed from this group's nodes, which must outlive the row set's use.
    /// - Parameters:
    ///   - layout: the table's current one. A column that was added after the group was written is filled with null or
    ///     its default.
    ///   - wanted: the layout's columns to fill; nil for all. Others stay empty; the key is always filled.
    /// - Complexity: O(rows x columns).
    func decode(
        into target: RowSet, _ layout: TableLayout, wanted: [Int]? = nil, _ pages: PageReader
    ) throws(StorageError) {
        // Each count is read once, so that columns have equal numbers of rows even if another program overwrites the
        // file meanwhile.
        let (mainRows, extraRows) = (rows, inserted)
        var all = wanted ?? Array(0..<layout.kinds.count)
        if !all.contains(RowSet.keyColumn) { all.append(RowSet.keyColumn) }
        if extraRows == 0 && deleted == 0 {
            for column in all {
                let output = target.columns[column]
                let start = output.count
                try decodeMain(column, layout: layout, into: output, from: pages)
                guard output.count - start == mainRows else { throw pages.damage(at: base) }
            }
            return
        }
        if extraRows == 0 { return try decodeLive(all, into: target, layout: layout, mainRows: mainRows, from: pages) }
        let order = try mergeOrder(pages, mainRows, extraRows)
        for column in all {
            let main = ColumnBuffer(layout.kinds[column], capacity: max(mainRows, 1))
            try decodeMain(column, layout: layout, into: main, from: pages)
            let extra = ColumnBuffer(layout.kinds[column], capacity: max(extraRows, 1))
            if extraRows > 0 { try decodeInserted(column, layout: layout, into: extra, from: pages) }
            guard main.count == mainRows, extra.count == extraRows else { throw pages.damage(at: base) }
            let output = target.columns[column]
            output.reserve(mainRows + extraRows)
            for run in order { output.append(run.isInserted ? extra : main, run.range) }
        }
    }

    /// Appends the main rows without the deleted ones, by words of 64 slots.
    private func decodeLive(
        _ columns: [Int], into target: RowSet, layout: TableLayout, mainRows: Int, from pages: PageReader
    ) throws(StorageError) {
        var gone = [UInt64](repeating: 0, count: mainRows / 64 + 1)
        for index in 0..<deleted {
            let slot = deletedSlot(index)
            guard slot < mainRows else { throw pages.damage(at: base) }
            gone[slot >> 6] |= 1 << UInt64(slot & 63)
        }
        for column in columns {
            let output = target.columns[column]
            let start = output.count
            try decodeMain(column, layout: layout, into: output, from: pages)
            guard output.count - start == mainRows else { throw pages.damage(at: base) }
            gone.withUnsafeBufferPointer { bits in
                if let base = bits.baseAddress { output.removeRows(marked: base, from: start) }
            }
        }
    }

    /// Runs of main slots and of inserted rows that are the live rows in key order.
    /// - Throws: `corrupt` if deleted slots do not ascend.
    private func mergeOrder(
        _ pages: PageReader, _ mainRows: Int, _ extraRows: Int
    ) throws(StorageError) -> [(isInserted: Bool, range: Range<Int>)] {
        var runs: [(isInserted: Bool, range: Range<Int>)] = []
        var slot = 0
        var nextDeleted = 0
        let deletedCount = deleted
        func mainRun(until end: Int) throws(StorageError) {
            while slot < end {
                let gone = nextDeleted < deletedCount ? deletedSlot(nextDeleted) : end
                if gone < slot { throw pages.damage(at: base) }
                if gone == slot {
                    slot += 1
                    nextDeleted += 1
                    continue
                }
                let stop = min(end, gone)
                runs.append((false, slot..<stop))
                slot = stop
            }
        }
        for place in 0..<extraRows {
            let key = insertedSegment(RowSet.keyColumn).integer(place)
            try mainRun(until: min(try mainLowerBound(key, pages), mainRows))
            if let last = runs.last, last.isInserted, last.range.upperBound == place {
                runs[runs.count - 1].range = last.range.lowerBound..<(place + 1)
            } else {
                runs.append((true, place..<(place + 1)))
            }
        }
        try mainRun(until: mainRows)
        return runs
    }

    /// All main slots of a column, with patches applied.
    func decodeMain(
        _ column: Int, layout: TableLayout, into output: ColumnBuffer, from pages: PageReader
    ) throws(StorageError) {
        guard let position = position(of: layout.ids[column], near: column) else {
            for _ in 0..<rows { output.append(layout.missing[column]) }
            return
        }
        let rows = rows
        if segmentCount(position) == 0 {
            let start = output.extend(by: rows)
            strata_count_up(rows, UInt64(bitPattern: baseKey), 1, output.words + start)
            return
        }
        let start = output.count
        let first = firstSegment(position)
        for number in first..<(first + segmentCount(position)) {
            let segment = try segment(number, pages)
            try segment.require(output.kind, pages)
            segment.decode(into: output)
        }
        guard output.count == start + rows else { throw pages.damage(at: base) }
        for index in 0..<patched where patch(index).column == position {
            let patch = patch(index)
            try patch.segment.require(output.kind, pages)
            let values = ColumnBuffer(output.kind, capacity: patch.count)
            patch.segment.decode(into: values)
            guard values.count >= patch.count else { throw pages.damage(at: base) }
            for place in 0..<patch.count {
                let slot = patch.slot(place)
                guard slot < rows else { throw pages.damage(at: base) }
                output.copyValue(of: values, place, to: start + slot)
            }
        }
    }

    func decodeInserted(
        _ column: Int, layout: TableLayout, into output: ColumnBuffer, from pages: PageReader
    ) throws(StorageError) {
        guard let position = position(of: layout.ids[column], near: column) else {
            for _ in 0..<inserted { output.append(layout.missing[column]) }
            return
        }
        let segment = insertedSegment(position)
        try segment.require(output.kind, pages)
        segment.decode(into: output)
    }

    /// Whether every segment in this node has the kind of its column. The group has exactly the layout's columns.
    func hasKinds(of layout: TableLayout) -> Bool {
        for column in 0..<columns {
            let kind = layout.kinds[column].rawValue
            let first = firstSegment(column)
            for number in first..<(first + segmentCount(column)) {
                let descriptor = descriptor(number)
                if descriptor.node == Self.inThisNode, Segment(base + descriptor.offset).kindCode != kind {
                    return false
                }
            }
            if inserted > 0 && insertedSegment(column).kindCode != kind { return false }
        }
        for index in 0..<patched where patch(index).segment.kindCode != layout.kinds[patch(index).column].rawValue {
            return false
        }
        return true
    }

    /// Whether the group has exactly the layout's columns, in its order.
    func hasColumns(of layout: TableLayout) -> Bool {
        guard columns == layout.ids.count else { return false }
        for column in 0..<columns where columnID(column) != Int(layout.ids[column]) { return false }
        return true
    }
}
