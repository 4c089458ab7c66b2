import CStrataShim

extension Segment {
    /// Appends all rows to `column`, which must have this segment's kind. Bytes are borrowed.
    func decode(into column: ColumnBuffer) {
        let n = rows
        let start = column.extend(by: n)
        let words = column.words + start
        switch column.kind {
        case .integer: decodeIntegers(words, n)
        case .double: UnsafeMutableRawPointer(words).copyMemory(from: base + 8, byteCount: n * 8)
        case .bytes:
            decodePlaces(words, column.lengths + start, n)
            if flags & Self.hasLong != 0 {
                let offset = Self.headSize + (flags & Self.hasNulls != 0 ? Self.bitBytes(n) : 0)
                mark(base + offset, ColumnBuffer.Flag.long, in: column, from: start, count: n)
            }
        }
        if let nulls { mark(nulls, ColumnBuffer.Flag.null, in: column, from: start, count: n) }
    }

    private func decodeIntegers(_ words: UnsafeMutablePointer<UInt64>, _ n: Int) {
        strata_widen(integerValues, n, Int32(width), UInt64(bitPattern: integerBase), words)
        if flags & Self.hasExceptions == 0 { return }
        for index in 0..<auxiliary {
            let (slot, value) = exceptionAt(index)
            if slot < n { words[slot] = UInt64(bitPattern: value) }
        }
    }

    private func decodePlaces(
        _ words: UnsafeMutablePointer<UInt64>, _ lengths: UnsafeMutablePointer<UInt32>, _ n: Int
    ) {
        let start = base + bytesOffset
        if flags & Self.equalLength != 0 {
            strata_count_up(n, UInt64(UInt(bitPattern: start)), UInt64(auxiliary), words)
            lengths.update(repeating: UInt32(auxiliary), count: n)
        } else {
            strata_place_varied(start, n, words, lengths)
        }
    }

    /// Flags the rows whose bit is set.
    private func mark(_ bits: UnsafeRawPointer, _ flag: UInt8, in column: ColumnBuffer, from start: Int, count n: Int) {
        for first in stride(from: 0, to: n, by: 64) {
            var word = bits.u64(first >> 3)
            while word != 0 {
                let slot = first + word.trailingZeroBitCount
                if slot >= n { return }
                column.setFlag(start + slot, flag)
                word &= word - 1
            }
        }
    }
}
