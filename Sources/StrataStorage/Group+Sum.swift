import CStrataShim

extension Group {
    /// The sum of an integer column when nothing stands in the way: no inserted or deleted rows, no nulls.
    ///
    /// Patches are added as differences.
    func plainSum(_ layout: TableLayout, _ column: Int, _ pages: PageReader) throws(StorageError) -> UInt64? {
        guard inserted == 0, deleted == 0, let position = position(of: layout.ids[column], near: column),
            segmentCount(position) > 0
        else { return nil }
        var total: UInt64 = 0
        let first = firstSegment(position)
        for number in first..<(first + segmentCount(position)) {
            let segment = try segment(number, pages)
            guard segment.kindCode == SegmentKind.integer.rawValue,
                segment.flags & (Segment.hasNulls | Segment.hasExceptions) == 0
            else { return nil }
            total &+= UInt64(bitPattern: segment.integerBase) &* UInt64(segment.rows)
            if segment.width > 0 {
                total &+= strata_sum(segment.integerValues, segment.rows, Int32(segment.width))
            }
        }
        for index in 0..<patched where patch(index).column == position {
            let patch = patch(index)
            guard patch.segment.kindCode == SegmentKind.integer.rawValue,
                patch.segment.flags & Segment.hasNulls == 0
            else { return nil }
            for place in 0..<patch.count {
                let (segment, slot) = try mainSegment(position, patch.slot(place), pages)
                total &+= UInt64(bitPattern: patch.segment.integer(place))
                total &-= UInt64(bitPattern: segment.integer(slot))
            }
        }
        return total
    }
}
