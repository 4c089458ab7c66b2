import CStrataShim

/// Sum, count and extremes of integers. The sum wraps around at 64 bits.
package struct IntegerTotals: Sendable, Equatable {
    package internal(set) var sum: Int64 = 0
    /// Values that were not null.
    package internal(set) var count = 0
    package internal(set) var least = Int64.max
    package internal(set) var most = Int64.min

    @inline(__always)
    mutating func add(_ value: Int64, _ times: Int) {
        if times == 0 { return }
        sum &+= value &* Int64(times)
        count += times
        least = min(least, value)
        most = max(most, value)
    }
}

/// Sum, count and extremes of doubles. Additions are not in the order of the rows; extremes skip NaN.
package struct DoubleTotals: Sendable, Equatable {
    package internal(set) var sum = 0.0
    /// Values that were not null.
    package internal(set) var count = 0
    package internal(set) var least = Double.infinity
    package internal(set) var most = -Double.infinity
}

/// Parts of an aggregate: extremes take a pass of their own.
enum AggregatePart { case sum, extremes }

/// Totals to which segments and single values are added.
protocol ColumnTotals {
    static var kind: SegmentKind { get }
    /// Adds the selected rows of a segment, none of them null. Changes `bits`.
    mutating func add(_ segment: Segment, _ bits: UnsafeMutablePointer<UInt64>, _ part: AggregatePart)
    mutating func add(cell: Cell, _ times: Int)
}

extension IntegerTotals: ColumnTotals {
    static var kind: SegmentKind { .integer }

    mutating func add(cell: Cell, _ times: Int) { if !cell.isNull { add(cell.integerValue, times) } }

    mutating func add(_ segment: Segment, _ bits: UnsafeMutablePointer<UInt64>, _ part: AggregatePart) {
        let rows = segment.rows
        if segment.flags & Segment.hasExceptions != 0 {
            for index in 0..<segment.auxiliary {
                let (slot, value) = segment.exceptionAt(index)
                let one: UInt64 = 1 << UInt64(slot & 63)
                if bits[slot >> 6] & one == 0 { continue }
                bits[slot >> 6] &= ~one
                add(value, 1)
            }
        }
        let n = strata_bits_count(bits, Selection.words(rows))
        if n == 0 { return }
        count += n
        let frame = segment.integerBase
        let values = segment.integerValues
        let width = Int32(segment.width)
        switch part {
        case .sum:
            sum &+= frame &* Int64(n)
            sum &+= Int64(bitPattern: strata_sum_selected(values, rows, width, bits))
        case .extremes:
            let low = strata_least_selected(values, rows, width, bits)
            let high = strata_most_selected(values, rows, width, bits)
            if segment.isOrdered(through: high) {
                least = min(least, frame &+ Int64(bitPattern: low))
                most = max(most, frame &+ Int64(bitPattern: high))
            } else {
                for slot in 0..<rows where bits[slot >> 6] >> UInt64(slot & 63) & 1 != 0 {
                    least = min(least, segment.integer(slot))
                    most = max(most, segment.integer(slot))
                }
            }
        }
    }
}

extension DoubleTotals: ColumnTotals {
    static var kind: SegmentKind { .double }

    mutating func add(cell: Cell, _ times: Int) {
        if cell.isNull || times == 0 { return }
        count += times
        let value = cell.doubleValue
        sum += value * Double(times)
        if value < least { least = value }
        if value > most { most = value }
    }

    mutating func add(_ segment: Segment, _ bits: UnsafeMutablePointer<UInt64>, _ part: AggregatePart) {
        let n = strata_bits_count(bits, Selection.words(segment.rows))
        if n == 0 { return }
        count += n
        switch part {
        case .sum: sum += strata_sum_doubles_selected(segment.base + Segment.headSize, segment.rows, bits)
        case .extremes:
            strata_extreme_doubles_selected(segment.base + Segment.headSize, segment.rows, bits, &least, &most)
        }
    }
}

extension Group {
    @inline(__always)
    private var countsInserted: Bool {
        #if Zoo
            return !PlantedMistake.sumsWithoutInserted.isPlanted
        #else
            return true
        #endif
    }

    /// Adds a column's values of the selected rows, with patches, exceptions and nulls corrected. Removes patched rows
    /// from the selection.
    func aggregate<Totals: ColumnTotals>(
        _ selection: Selection, column: Int, layout: TableLayout, part: AggregatePart, into totals: inout Totals,
        spare: UnsafeMutablePointer<UInt64>, from reader: PageReader
    ) throws(StorageError) {
        guard let position = position(of: layout.ids[column], near: column) else {
            return totals.add(cell: layout.missing[column], selection.count)
        }
        func add(_ segment: Segment) throws(StorageError) {
            try segment.require(Totals.kind, reader)
            if let nulls = segment.nulls { strata_bits_clear(spare, 0, nulls, segment.rows) }
            totals.add(segment, spare, part)
        }
        for index in 0..<patched where patch(index).column == position {
            let patch = patch(index)
            strata_bits_take(selection.main, base + patch.slotsOffset, patch.count, spare)
            try add(patch.segment)
        }
        let first = firstSegment(position)
        for number in first..<(first + segmentCount(position)) {
            let segment = try segment(number, reader)
            strata_bits_copy(selection.main, descriptor(number).firstSlot, segment.rows, spare)
            try add(segment)
        }
        if inserted > 0, countsInserted {
            strata_bits_copy(selection.extra, 0, inserted, spare)
            try add(insertedSegment(position))
        }
    }

    /// The sum of an integer column over all rows, computed over whole segments; rows that must not count are
    /// subtracted.
    ///
    /// Nil if there are nulls or exceptions, if the group has no segment of the column, or if it has both deleted rows
    /// and patches of the column.
    func plainSum(_ layout: TableLayout, _ column: Int, _ pages: PageReader) throws(StorageError) -> UInt64? {
        guard let position = position(of: layout.ids[column], near: column), segmentCount(position) > 0 else {
            return nil
        }
        var total: UInt64 = 0
        var removedOffset = deletedOffset
        var removed = deleted
        for index in 0..<patched where patch(index).column == position {
            let patch = patch(index)
            guard removed == 0, let sum = patch.segment.plainSum else { return nil }
            total &+= sum
            removedOffset = patch.slotsOffset
            removed = patch.count
        }
        if inserted > 0, countsInserted {
            guard let sum = insertedSegment(position).plainSum else { return nil }
            total &+= sum
        }
        var next = 0
        let first = firstSegment(position)
        for number in first..<(first + segmentCount(position)) {
            let descriptor = descriptor(number)
            let segment = try segment(number, pages)
            guard let sum = segment.plainSum else { return nil }
            total &+= sum
            if next == removed { continue }
            let slots = base + removedOffset
            let end = Self.lowerBound(slots, removed, descriptor.firstSlot + descriptor.rows)
            let n = end - next
            total &-= UInt64(bitPattern: segment.integerBase) &* UInt64(n)
            total &-= strata_sum_at(
                segment.integerValues, Int32(segment.width), slots + 2 * next, n, descriptor.firstSlot)
            next = end
        }
        return total
    }
}

extension Segment {
    /// Whether deltas up to `delta` are ordered like their values: base + delta does not wrap around.
    func isOrdered(through delta: UInt64) -> Bool {
        delta <= UInt64(bitPattern: Int64.max) &- UInt64(bitPattern: integerBase)
    }

    /// The sum of all rows; nil for nulls, exceptions, or another kind.
    @inline(__always)
    var plainSum: UInt64? {
        guard kindCode == SegmentKind.integer.rawValue, flags & (Self.hasNulls | Self.hasExceptions) == 0 else {
            return nil
        }
        let frame = UInt64(bitPattern: integerBase) &* UInt64(rows)
        return width == 0 ? frame : frame &+ strata_sum(integerValues, rows, Int32(width))
    }
}
