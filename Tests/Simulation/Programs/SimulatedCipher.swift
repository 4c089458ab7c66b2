import FaultModel
import Seeds
import StrataStorage

/// Encrypts and authenticates well enough for a simulation, at a fraction of a real cipher's cost.
struct SimulatedCipher: Cipher {
    var key = Seed(7)

    func derived(for storeID: RandomID) -> any Cipher {
        SimulatedCipher(key: key.derived(storeID.first).derived(storeID.second))
    }

    var keyCheck: UInt64 { key.derived(part: "check").rawValue }

    private func stream(_ nonce: Nonce) -> RandomStream {
        RandomStream(key.derived(nonce.high).derived(UInt64(nonce.low)))
    }

    private func apply(_ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawPointer, _ nonce: Nonce) {
        var random = stream(nonce)
        var offset = 0
        while offset + 8 <= source.count {
            let word = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ random.next()
            target.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        var last = random.next()
        while offset < source.count {
            target.storeBytes(
                of: source[offset] ^ UInt8(truncatingIfNeeded: last), toByteOffset: offset, as: UInt8.self)
            last >>= 8
            offset += 1
        }
    }

    private func tag(_ sealed: UnsafeRawBufferPointer, _ nonce: Nonce, _ context: SealContext) -> SealTag {
        let words = context.words
        let about = key.derived(words.0).derived(words.1).derived(words.2).derived(words.3).derived(
            words.4
        ).derived(
            nonce.high &+ UInt64(nonce.low) << 32)
        let sum = about.derived(ByteDigest.hash(sealed))
        return SealTag(sum.derived(1).rawValue, sum.derived(2).rawValue)
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
