/// The canonical hash of a row: its cells in the order of the class, each with its kind, so that null, 0 and empty
/// bytes differ. It depends only on the values, not on their storage.
package struct RowHash {
    private(set) package var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init() {}

    @inline(__always)
    private mutating func mix(_ word: UInt64) {
        let product = (value ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        value = product.high ^ product.low &+ 0x9E37_79B9_7F4A_7C15
    }

    @inline(__always) package mutating func addNull() { mix(1) }

    /// Distinguishes values of different kinds with equal bytes.
    @inline(__always) package mutating func add(kind: UInt8) { mix(5 | UInt64(kind) << 8) }

    @inline(__always)
    package mutating func add(integer: Int64) {
        mix(2)
        mix(UInt64(bitPattern: integer))
    }

    /// By its bits: 0.0 and -0.0 differ, and a date differs from its neighbour.
    @inline(__always)
    package mutating func add(double: Double) {
        mix(3)
        mix(double.bitPattern)
    }

    @inline(__always)
    package mutating func add(bytes: UnsafeRawBufferPointer) {
        mix(4 | UInt64(bytes.count) << 8)
        var place = 0
        while bytes.count - place >= 8 {
            mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        if place == bytes.count { return }
        var last: UInt64 = 0
        while place < bytes.count {
            last = last << 8 | UInt64(bytes[place])
            place += 1
        }
        mix(last)
    }
}
