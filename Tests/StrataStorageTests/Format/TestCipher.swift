@testable import StrataStorage

/// A cipher that hides and proves well enough for a test, without a library.
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
        for byte in sealed { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return SealTag(mixed(sum, 3), mixed(sum, 4))
    }

    private func apply(_ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawPointer, _ nonce: Nonce) {
        var random = SplitMix64(seed: mixed(nonce.high, UInt64(nonce.low)))
        for (index, byte) in source.enumerated() {
            target.storeBytes(
                of: byte ^ UInt8(truncatingIfNeeded: random.next()), toByteOffset: index, as: UInt8.self)
        }
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
