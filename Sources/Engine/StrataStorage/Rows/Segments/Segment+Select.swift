import CStrataShim

extension Segment {
    /// Sets the bits, from `bit` on, of the rows that pass. All of them must be zero before.
    ///
    /// Constants are converted to the packed encoding, so that no value is decoded.
    /// - Parameter isStale: identifies rows that do not count. Nodes of their long values may be gone, so they are not
    ///   read.
    func select(
        _ test: ColumnTest, _ bits: UnsafeMutablePointer<UInt64>, at bit: Int, _ reader: PageReader,
        isStale: (Int) -> Bool = { _ in false }
    ) throws(StorageError) {
        switch test {
        case .null:
            if let nulls { strata_bits_set(bits, bit, nulls, rows) }
            return
        case .integers(let range): selectIntegers(range, bits, bit)
        case .members(let set):
            for slot in 0..<rows where set.contains(integer(slot)) { Self.put(bits, bit + slot, true) }
        case .doubles(let range):
            strata_select_doubles(base + 8, rows, range.lowerBound, range.upperBound, bits, bit)
        case .doubleMembers(let set):
            for slot in 0..<rows where set.contains(Int64(bitPattern: double(slot).bitPattern)) {
                Self.put(bits, bit + slot, true)
            }
        case .bytes(let test): try selectBytes(test, into: bits, at: bit, from: reader, isStale: isStale)
        case .collection(let matcher, let column):
            return try selectCollections(matcher, column: column, into: bits, at: bit, from: reader, isStale: isStale)
        }
        if let nulls { strata_bits_clear(bits, bit, nulls, rows) }
    }

    /// The null bits, or nil when no row is null.
    @inline(__always)
    var nulls: UnsafeRawPointer? { flags & Self.hasNulls == 0 ? nil : base + nullOffset }

    private func selectIntegers(_ range: ClosedRange<Int64>, _ bits: UnsafeMutablePointer<UInt64>, _ bit: Int) {
        let largest: UInt64 = width == 8 ? .max : 1 << UInt64(8 * width) - 1
        // Values are base + delta, modulo 2^64, so the deltas that pass form an arc of a circle.
        let low = Self.distance(integerBase, range.lowerBound)
        let (high, wraps) = low.addingReportingOverflow(Self.distance(range.lowerBound, range.upperBound))
        if low <= largest {
            selectDeltas(low...(wraps ? largest : min(high, largest)), largest: largest, into: bits, at: bit)
        }
        if wraps { selectDeltas(0...min(high, largest), largest: largest, into: bits, at: bit) }
        guard flags & Self.hasExceptions != 0 else { return }
        for index in 0..<auxiliary {
            let (slot, value) = exceptionAt(index)
            Self.put(bits, bit + slot, range.contains(value))
        }
    }

    private func selectDeltas(
        _ range: ClosedRange<UInt64>, largest: UInt64, into bits: UnsafeMutablePointer<UInt64>, at bit: Int
    ) {
        if range == 0...largest {
            strata_bits_fill(bits, bit, rows)
        } else {
            strata_select_range(integerValues, rows, Int32(width), range.lowerBound, range.upperBound, bits, bit)
        }
    }

    /// The distance from `low` up to `high`, modulo 2^64.
    @inline(__always)
    private static func distance(_ low: Int64, _ high: Int64) -> UInt64 {
        UInt64(bitPattern: high) &- UInt64(bitPattern: low)
    }

    @inline(__always)
    private static func put(_ bits: UnsafeMutablePointer<UInt64>, _ bit: Int, _ isSet: Bool) {
        let one: UInt64 = 1 << UInt64(bit & 63)
        bits[bit >> 6] = isSet ? bits[bit >> 6] | one : bits[bit >> 6] & ~one
    }

    /// The `index`-th exception: its slot and its value.
    @inline(__always)
    func exceptionAt(_ index: Int) -> (slot: Int, value: Int64) {
        let start = exceptionOffset
        return (base.u16(start + 2 * index), base.i64(start + aligned8(2 * auxiliary) + 8 * index))
    }

    // MARK: Bytes

    private func selectBytes(
        _ test: RowFilter.BytesTest, into bits: UnsafeMutablePointer<UInt64>, at bit: Int, from reader: PageReader,
        isStale: (Int) -> Bool
    ) throws(StorageError) {
        switch test {
        case .equal(let wanted): selectPrefix(wanted, isExact: true, bits, bit)
        case .prefix(let wanted): selectPrefix(wanted, isExact: false, bits, bit)
        case .oneOf, .contains, .ordered, .matches:
            for slot in 0..<rows where !isLong(slot) && test.holds(bytes(slot)) { Self.put(bits, bit + slot, true) }
        }
        if flags & Self.hasLong == 0 { return }
        for slot in 0..<rows where isLong(slot) {
            Self.put(bits, bit + slot, isStale(slot) ? false : test.holds(try reader.long(bytes(slot))))
        }
    }

    private func selectCollections(
        _ matcher: CollectionMatcher, column: UInt16, into bits: UnsafeMutablePointer<UInt64>, at bit: Int,
        from reader: PageReader,
        isStale: (Int) -> Bool
    ) throws(StorageError) {
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        for slot in 0..<rows where !isStale(slot) {
            let isEmpty = isNull(slot)
            let holds = try matcher.holds(
                isEmpty ? empty : bytes(slot), !isEmpty && isLong(slot), column, reader)
            if holds { Self.put(bits, bit + slot, true) }
        }
    }

    private func selectPrefix(
        _ wanted: [UInt8], isExact: Bool, _ bits: UnsafeMutablePointer<UInt64>, _ bit: Int
    ) {
        #if Zoo
            if isExact, wanted.count >= 64, PlantedMistake.longTextsEqual.isPlanted {
                return selectAlike(wanted, bits, bit)
            }
        #endif
        wanted.withUnsafeBytes { wanted in
            let start = base + bytesOffset
            if flags & Self.equalLength == 0 {
                strata_select_varied(start, rows, wanted.baseAddress, wanted.count, isExact ? 1 : 0, bits, bit)
            } else if isExact ? wanted.count == auxiliary : wanted.count <= auxiliary {
                strata_select_fixed(start, rows, auxiliary, wanted.baseAddress, wanted.count, bits, bit)
            }
        }
    }

    #if Zoo
        /// Texts of one length that are equal except for their last byte.
        private func selectAlike(_ wanted: [UInt8], _ bits: UnsafeMutablePointer<UInt64>, _ bit: Int) {
            for slot in 0..<rows where !isLong(slot) {
                let own = bytes(slot)
                let isAlike = own.count == wanted.count && own.dropLast().elementsEqual(wanted.dropLast())
                if isAlike { Self.put(bits, bit + slot, true) }
            }
        }
    #endif
}
