import CXXHash

/// Repairs a header slot with one flipped bit: only the right bit makes its checksum verify.
package enum SlotMending {
    private static let checksum = Format.slotSize - 8

    /// Result of decoding 512 bytes with one bit corrected.
    package enum Found {
        case slot(HeaderSlot.Decoded)
        case wrongKey, notEncrypted
    }

    /// - Parameters:
    ///   - bytes: 512 bytes of the file; they are changed.
    ///   - index: which of the two slots they are, 0 or 1.
    ///   - cipher: the cipher under the caller's key; nil if the caller has none.
    /// - Returns: nil if the checksum verifies after no flip of a single bit.
    /// - Complexity: 4 032 hashes of 504 bytes.
    package static func decode(
        _ bytes: UnsafeMutableRawBufferPointer, at index: Int, _ cipher: (any Cipher)?
    ) -> Found? {
        guard bytes.count == Format.slotSize, let base = bytes.baseAddress, mend(base) else { return nil }
        if let cipher {
            switch SealedSlot.open(base, index: index, { cipher.derived(for: $0) }) {
            case .plain: return .notEncrypted
            case .wrongKey: return .wrongKey
            case .other, .opened: break
            }
        }
        return .slot(HeaderSlot.decode(UnsafeRawBufferPointer(bytes), at: index))
    }

    private static func mend(_ base: UnsafeMutableRawPointer) -> Bool {
        let found = XXH3_64bits(base, checksum)
        if (found ^ base.u64(checksum)).nonzeroBitCount == 1 {
            base.put64(checksum, found)
            return true
        }
        for offset in 0..<checksum {
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            for bit in 0..<8 {
                base.storeBytes(of: byte ^ 1 << UInt8(bit), toByteOffset: offset, as: UInt8.self)
                if XXH3_64bits(base, checksum) == base.u64(checksum) { return true }
            }
            base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
        return false
    }
}
