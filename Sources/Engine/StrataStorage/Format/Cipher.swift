/// Seals bytes, so that only a holder of the key can read them, or change them undetected.
///
/// The storage engine implements no cryptography: it chooses nonces and contexts, and stores nonce and tag. A cipher is
/// authenticated encryption with nonces of 96 bits and tags of 128 bits.
/// Concurrency: every member may be called from any thread.
package protocol Cipher: Sendable {
    /// The cipher under a key for one store, derived from this key, so that two stores under the same key share
    /// nothing.
    func derived(for storeID: RandomID) -> any Cipher

    /// Check value of a derived cipher, to tell a wrong key from damage. It reveals nothing about the key, and differs
    /// for another key.
    var keyCheck: UInt64 { get }

    /// Encrypts `plain` to as many bytes at `sealed`, which may be the same address.
    /// - Parameter context: identifies the bytes: opening them under another context fails.
    func seal(
        _ plain: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawPointer, nonce: Nonce, context: SealContext
    ) -> SealTag

    /// Decrypts `sealed` to as many bytes at `plain`, which may be the same address.
    /// - Returns: false if key, nonce, tag, context or a byte differs; the bytes at `plain` must then not be used.
    func open(
        _ sealed: UnsafeRawBufferPointer, to plain: UnsafeMutableRawPointer, nonce: Nonce, tag: SealTag,
        context: SealContext
    ) -> Bool
}

/// 96 bits that are used once under a key: random ones, incremented within one write.
///
/// The engine never derives a nonce from page and version: after a crash both repeat, with other contents.
package struct Nonce: Equatable, Sendable {
    package static let size = 12

    package var high: UInt64
    package var low: UInt32

    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    static func make(_ randomBits: () -> UInt64) -> Nonce {
        #if Zoo
            if PlantedMistake.nonceConstant.isPlanted { return Nonce(high: 1, low: 1) }
            if PlantedMistake.nonceCounted.isPlanted { return Nonce(high: PlantedMistake.next(), low: 0) }
        #endif
        return Nonce(high: randomBits(), low: UInt32(truncatingIfNeeded: randomBits()))
    }

    /// The nonce of the `index`-th part of one write.
    func advanced(by index: Int) -> Nonce { Nonce(high: high, low: low &+ UInt32(truncatingIfNeeded: index)) }

    init(_ base: UnsafeRawPointer, _ offset: Int) {
        high = base.u64(offset)
        low = base.u32(offset + 8)
    }

    func store(_ base: UnsafeMutableRawPointer, _ offset: Int) {
        base.put64(offset, high)
        base.put32(offset + 8, low)
    }
}

/// Authenticates sealed bytes.
package struct SealTag: Equatable, Sendable {
    package static let size = 16

    package var first: UInt64
    package var second: UInt64

    package init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    init(_ base: UnsafeRawPointer, _ offset: Int) {
        first = base.u64(offset)
        second = base.u64(offset + 8)
    }

    func store(_ base: UnsafeMutableRawPointer, _ offset: Int) {
        base.put64(offset, first)
        base.put64(offset + 8, second)
    }
}

/// Associated data of sealed bytes, little-endian: 24 bytes for a page (1, number, 0) and for a header slot (2, index,
/// 0), 40 for a log batch (the epoch's tag, first LSN, last LSN, durable-to, checksum of the previous header).
package struct SealContext: Equatable, Sendable {
    /// Zeros after ``byteCount``.
    package var words: (UInt64, UInt64, UInt64, UInt64, UInt64)
    /// Number of authenticated bytes.
    package var byteCount = 24

    package static func page(_ number: UInt64) -> SealContext { SealContext(words: (1, number, 0, 0, 0)) }
    package static func slot(_ index: Int) -> SealContext { SealContext(words: (2, UInt64(index), 0, 0, 0)) }
    package static func batch(
        _ tag: UInt64, _ lsns: ClosedRange<UInt64>, durableTo: UInt64, previous: UInt64
    ) -> SealContext {
        SealContext(words: (tag, lsns.lowerBound, lsns.upperBound, durableTo, previous), byteCount: 40)
    }

    package static func == (a: SealContext, b: SealContext) -> Bool { a.words == b.words }
}

/// Bytes that sealing adds to what it seals: nonce and tag.
package enum Seal {
    package static let size = Nonce.size + SealTag.size
}
