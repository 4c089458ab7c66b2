import Platform

@testable import StrataStorage

/// A simple cipher for tests, without a library.
struct TestCipher: Cipher {
    var key: UInt64
    var storeID = RandomID(0, 0)

    func derived(for storeID: RandomID) -> any Cipher { TestCipher(key: key, storeID: storeID) }
    var keyCheck: UInt64 { mixed(1, 2) }

    private func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
        var random = SplitMix64(seed: key ^ storeID.first &* 3 ^ storeID.second ^ a &* 0x9E37_79B9 ^ b)
        return random.next() ^ random.next()
    }

    private func tag(
        _ sealed: UnsafeRawBufferPointer, _ nonce: Nonce, _ context: SealContext
    ) -> SealTag {
        var sum = mixed(nonce.high, UInt64(nonce.low))
        let words = context.words
        for word in [words.0, words.1, words.2, words.3, words.4] { sum = mixed(sum, word) }
        var offset = 0
        while offset < sealed.count {
            sum = (sum ^ Self.word(sealed, offset)) &* 0x0000_0100_0000_01B3
            offset += 8
        }
        return SealTag(mixed(sum, 3), mixed(sum, 4))
    }

    private func apply(_ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawPointer, _ nonce: Nonce) {
        var random = SplitMix64(seed: mixed(nonce.high, UInt64(nonce.low)))
        var offset = 0
        while offset < source.count {
            var word = Self.word(source, offset) ^ random.next()
            memcpy(target + offset, &word, min(8, source.count - offset))
            offset += 8
        }
    }

    /// Reads eight bytes at once, padded with zeros: without optimization, a call for each byte would dominate the
    /// tests' time.
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        guard offset + 8 > bytes.count else { return bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        var word: UInt64 = 0
        memcpy(&word, bytes.baseAddress! + offset, bytes.count - offset)
        return word
    }

    func seal(
        _ plain: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawPointer, nonce: Nonce, context: SealContext
    ) -> SealTag {
        apply(plain, sealed, nonce)
        return tag(UnsafeRawBufferPointer(start: sealed, count: plain.count), nonce, context)
    }

    func open(
        _ sealed: UnsafeRawBufferPointer, to plain: UnsafeMutableRawPointer, nonce: Nonce, tag: SealTag,
        context: SealContext
    ) -> Bool {
        let isWhole = self.tag(sealed, nonce, context) == tag
        apply(sealed, plain, nonce)
        return isWhole
    }
}
