/// A hash that is the same across runs, machines and versions, unlike the standard library's, which is seeded per
/// process.
package enum StableHash {
    /// FNV-1a over the bytes, then a finalizer so that short inputs spread over all 64 bits.
    package static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        return splitMix(hash)
    }

    package static func of(_ text: String) -> UInt64 {
        of(text.utf8)
    }

    /// The upper 48 bits of the hash as 12 hexadecimal digits: ids of cases and fixtures.
    package static func identifier(of text: String) -> String {
        let digits = String(of(text) >> 16, radix: 16)
        return String(repeating: "0", count: 12 - digits.utf8.count) + digits
    }
}
