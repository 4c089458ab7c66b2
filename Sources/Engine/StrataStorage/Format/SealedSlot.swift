import CXXHash

/// A header slot of an encrypted store.
///
/// Layout, 512 bytes: as a plain slot up to 32, but with bit 31 of the format version set, so that it is not taken for
/// a plain one; sealed 32 to 447; nonce @448, tag @460, key check u64 @476, zeros, XXH3 of the first 504 bytes u64
/// @504. Magic, version, the flag for a required log and the store id are readable without the key.
package enum SealedSlot {
    /// Set in the format version: the rest is sealed.
    package static let versionBit: UInt32 = 0x8000_0000
    private static let sealed = 32..<448
    private static let nonce = 448
    private static let tag = 460
    private static let keyCheck = 476
    private static let checksum = Format.slotSize - 8

    /// Result of opening 512 bytes.
    enum Opened {
        case plain
        case wrongKey
        /// Not a slot, or damaged: ``HeaderSlot/decode(_:)`` tells which.
        case other
        /// Intact: the bytes are those of a plain slot now.
        case opened
    }

    /// Seals the 512 bytes of a plain slot in place.
    static func seal(_ base: UnsafeMutableRawPointer, index: Int, _ cipher: any Cipher, _ nonce: Nonce) {
        base.put32(8, base.u32(8) | versionBit)
        let tag = cipher.seal(
            UnsafeRawBufferPointer(start: base + sealed.lowerBound, count: sealed.count), to: base + sealed.lowerBound,
            nonce: nonce, context: .slot(index))
        nonce.store(base, Self.nonce)
        tag.store(base, Self.tag)
        base.put64(keyCheck, cipher.keyCheck)
        base.put64(checksum, XXH3_64bits(base, checksum))
    }

    /// Fields that are readable without the key, even in a damaged slot. A log's header has the id at the same offset.
    package struct Traces: Equatable {
        package let storeID: RandomID
        package let keyCheck: UInt64

        /// - Parameter base: 512 bytes of the file.
        package init(_ base: UnsafeRawPointer) {
            storeID = SealedSlot.storeID(base)
            keyCheck = base.u64(SealedSlot.keyCheck)
        }
    }

    /// Id of the slot's store, if the bytes are a slot.
    static func storeID(_ base: UnsafeRawPointer) -> RandomID { RandomID(base, 16) }

    /// Opens 512 bytes in place.
    static func open(_ base: UnsafeMutableRawPointer, index: Int, _ cipher: (RandomID) -> any Cipher) -> Opened {
        guard base.u64(0) == Format.magic, base.u64(checksum) == XXH3_64bits(base, checksum) else { return .other }
        if base.u32(8) == Format.version { return .plain }
        guard base.u32(8) == Format.version | versionBit else { return .other }
        let cipher = cipher(storeID(base))
        guard base.u64(keyCheck) == cipher.keyCheck else { return .wrongKey }
        let isWhole = cipher.open(
            UnsafeRawBufferPointer(start: base + sealed.lowerBound, count: sealed.count), to: base + sealed.lowerBound,
            nonce: Nonce(base, nonce), tag: SealTag(base, tag), context: .slot(index))
        if !isWhole {
            // The checksum is right, so no bit flipped, but no holder of the key wrote these bytes. A wrong checksum
            // makes them decode as damaged.
            base.put64(checksum, ~base.u64(checksum))
            return .other
        }
        base.put32(8, Format.version)
        (base + sealed.upperBound).initializeMemory(as: UInt8.self, repeating: 0, count: checksum - sealed.upperBound)
        base.put64(checksum, XXH3_64bits(base, checksum))
        return .opened
    }
}
