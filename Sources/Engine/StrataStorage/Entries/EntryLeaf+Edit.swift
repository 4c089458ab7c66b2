/// Changing single entries of a leaf in place, without decoding the others.
extension EntryLeaf {
    /// Outcome of an edit.
    enum Edit {
        case done
        /// The leaf must be rebuilt: no space, a wider column, or no entry left.
        case rebuild
        /// The entry to be removed is missing, or its count too low.
        case broken
    }

    /// Applies one operation to a leaf in the arena. An entry that needs a wider column is left to a rebuild.
    ///
    /// Complexity: O(log entries) and moving at most a page of bytes.
    static func edit(_ node: UnsafeMutableRawPointer, _ operation: EntryOperation, limit: Int) -> Edit {
        let leaf = EntryLeaf(UnsafeRawPointer(node))
        let i = leaf.lowerBound(operation.key)
        if i == leaf.count || leaf.key(i) != operation.key {
            return operation.delta > 0 ? leaf.insert(operation, at: i, node, limit: limit) : .broken
        }
        let count = Int64(leaf.count(i)) + Int64(operation.delta)
        if count < 0 { return .broken }
        if count == 0 {
            if leaf.count == 1 { return .rebuild }
            leaf.remove(at: i, node)
            return .done
        }
        // A count over 32 bits is left to the rebuild, too, which refuses it with an error.
        guard count <= UInt32.max, width(UInt64(count - 1)) <= leaf.countWidth else { return .rebuild }
        put(node + (leaf.counts - UnsafeRawPointer(node)), width: leaf.countWidth, at: i, UInt64(count - 1))
        return .done
    }

    private func insert(
        _ operation: EntryOperation, at i: Int, _ node: UnsafeMutableRawPointer, limit: Int
    ) -> Edit {
        let highDelta = UInt64(bitPattern: operation.high &- baseHigh)
        let lowDelta = UInt64(bitPattern: operation.low &- baseLow)
        let stored = UInt64(operation.count - 1)
        guard count < limit, size + entrySize <= Self.capacity, operation.high >= baseHigh, operation.low >= baseLow,
            Self.width(highDelta) <= highWidth, Self.width(lowDelta) <= lowWidth, Self.width(stored) <= countWidth
        else { return .rebuild }
        let first = node + Self.columnsOffset
        let second = first + count * highWidth
        let third = second + count * lowWidth
        let newSecond = second + highWidth
        let newThird = third + highWidth + lowWidth
        let rest = count - i
        // From the end to the start, so that no bytes are overwritten before they moved.
        (newThird + (i + 1) * countWidth).copyMemory(from: third + i * countWidth, byteCount: rest * countWidth)
        newThird.copyMemory(from: third, byteCount: i * countWidth)
        (newSecond + (i + 1) * lowWidth).copyMemory(from: second + i * lowWidth, byteCount: rest * lowWidth)
        newSecond.copyMemory(from: second, byteCount: i * lowWidth)
        (first + (i + 1) * highWidth).copyMemory(from: first + i * highWidth, byteCount: rest * highWidth)
        Self.put(first, width: highWidth, at: i, highDelta)
        Self.put(newSecond, width: lowWidth, at: i, lowDelta)
        Self.put(newThird, width: countWidth, at: i, stored)
        node.put16(24, count + 1)
        return .done
    }

    private func remove(at i: Int, _ node: UnsafeMutableRawPointer) {
        let first = node + Self.columnsOffset
        let second = first + count * highWidth
        let third = second + count * lowWidth
        let newSecond = second - highWidth
        let newThird = third - highWidth - lowWidth
        let rest = count - i - 1
        (first + i * highWidth).copyMemory(from: first + (i + 1) * highWidth, byteCount: rest * highWidth)
        newSecond.copyMemory(from: second, byteCount: i * lowWidth)
        (newSecond + i * lowWidth).copyMemory(from: second + (i + 1) * lowWidth, byteCount: rest * lowWidth)
        newThird.copyMemory(from: third, byteCount: i * countWidth)
        (newThird + i * countWidth).copyMemory(from: third + (i + 1) * countWidth, byteCount: rest * countWidth)
        (first + size - entrySize).initializeMemory(as: UInt8.self, repeating: 0, count: entrySize)
        node.put16(24, count - 1)
    }

    @inline(__always)
    private static func put(_ column: UnsafeMutableRawPointer, width: Int, at i: Int, _ value: UInt64) {
        switch width {
        case 0: break
        case 1: column.put8(i, Int(truncatingIfNeeded: value))
        case 2: column.put16(2 * i, Int(truncatingIfNeeded: value))
        case 4: column.put32(4 * i, UInt32(truncatingIfNeeded: value))
        default: column.put64(8 * i, value)
        }
    }
}
