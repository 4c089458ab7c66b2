/// Finds the writer of a value: a hash table of operation indexes with open addressing, at most half full.
///
/// Size: 8 to 16 bytes per write.
struct WriterIndex {
    private var slots: [Int32]
    private let mask: Int

    /// Throws: `HistoryError.writtenTwice`, since a value must identify its writer.
    init(_ history: History) throws(HistoryError) {
        var writes = 0
        for operation in history.operations where !operation.kind.isRead { writes += 1 }
        var capacity = 16
        while capacity < writes * 2 { capacity *= 2 }
        mask = capacity - 1
        slots = [Int32](repeating: -1, count: capacity)
        for (index, operation) in history.operations.enumerated() where !operation.kind.isRead {
            var place = Self.hash(operation.key, operation.value) & mask
            while slots[place] >= 0 {
                let other = history.operations[Int(slots[place])]
                if other.key == operation.key && other.value == operation.value {
                    throw .writtenTwice(key: Int(operation.key), value: operation.value)
                }
                place = (place + 1) & mask
            }
            slots[place] = Int32(index)
        }
    }

    /// The operation that wrote the value to that key; nil for none.
    @inline(__always)
    func writer(_ operations: [History.Operation], key: Int32, value: Int64) -> Int? {
        var place = Self.hash(key, value) & mask
        while slots[place] >= 0 {
            let index = Int(slots[place])
            if operations[index].value == value && operations[index].key == key { return index }
            place = (place + 1) & mask
        }
        return nil
    }

    @inline(__always)
    private static func hash(_ key: Int32, _ value: Int64) -> Int {
        var x = UInt64(bitPattern: value) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(UInt32(bitPattern: key)) &* 0xC2B2_AE3D
        x = (x ^ x >> 32) &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: (x ^ x >> 29) >> 1)
    }
}

/// A history that cannot be judged, because it breaks the rules of recording of ``History``.
package enum HistoryError: Error, CustomStringConvertible, Equatable {
    case writtenTwice(key: Int, value: Int64)
    case mixedKey(Int)
    case initialValueWritten(key: Int)
    /// A log has a word that no actor writes at that place.
    case damagedLog(word: Int)

    package var description: String {
        switch self {
        case .writtenTwice(let key, let value): "the value \(value) was written to key \(key) twice"
        case .mixedKey(let key): "key \(key) is a register and a list"
        case .initialValueWritten(let key): "the initial value, which is never written, was written to key \(key)"
        case .damagedLog(let word): "word \(word) of a log is none that an actor writes there"
        }
    }
}
