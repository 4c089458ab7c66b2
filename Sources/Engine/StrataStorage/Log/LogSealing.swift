package import StrataFiles

/// Sealing of the log's batches: a sealed payload is nonce, tag, and the encrypted records.
///
/// Checksums cover the sealed bytes, so a torn end is detected, and a single bit corrected, without the key.
package struct LogSealing: Sendable {
    let cipher: any Cipher
    private let randomBits: @Sendable () -> UInt64

    /// Nil in a plain store.
    package init?(_ cipher: (any Cipher)?, _ storeID: RandomID, _ fileSystem: any FileSystem) {
        guard let cipher else { return nil }
        self.cipher = cipher.derived(for: storeID)
        randomBits = { fileSystem.randomBits() }
    }

    /// Seals a payload of `payloadBytes` bytes into `batch`. Both buffers begin with space for a batch's header.
    ///
    /// `batch` may start at the same address as `plain`; it is ``Seal/size`` bytes longer.
    func seal(
        _ plain: UnsafeMutableRawPointer, _ payloadBytes: Int, to batch: UnsafeMutableRawBufferPointer,
        _ context: SealContext
    ) {
        guard let start = batch.baseAddress else { return }
        let payload = start + LogFormat.batchHeaderSize
        let nonce = Nonce.make(randomBits)
        (payload + Seal.size).copyMemory(from: plain + LogFormat.batchHeaderSize, byteCount: payloadBytes)
        #if Zoo
            if PlantedMistake.logUnsealed.isPlanted {
                payload.initializeMemory(as: UInt8.self, repeating: 0, count: Seal.size)
                return
            }
        #endif
        let tag = cipher.seal(
            UnsafeRawBufferPointer(start: payload + Seal.size, count: payloadBytes), to: payload + Seal.size,
            nonce: nonce, context: context)
        nonce.store(payload, 0)
        tag.store(payload, Nonce.size)
    }

    /// Decrypts a batch's payload in place.
    /// - Parameter log: the bytes of the whole log.
    /// - Returns: the records; nil if payload or header are not those that were sealed.
    package func open(
        _ batch: LogReplay.Batch, _ log: UnsafeMutableRawPointer, _ epoch: LogEpoch
    ) -> UnsafeRawBufferPointer? {
        open(
            log + batch.payloadOffset, batch.payloadBytes,
            .batch(
                epoch.tag, batch.firstLSN...batch.lastLSN, durableTo: batch.durableTo, previous: batch.previous))
    }

    /// Decrypts a payload in place.
    private func open(
        _ payload: UnsafeMutableRawPointer, _ payloadBytes: Int, _ context: SealContext
    ) -> UnsafeRawBufferPointer? {
        guard payloadBytes >= Seal.size else { return nil }
        let sealed = UnsafeRawBufferPointer(start: payload + Seal.size, count: payloadBytes - Seal.size)
        #if Zoo
            if PlantedMistake.logUnsealed.isPlanted { return sealed }
        #endif
        let isWhole = cipher.open(
            sealed, to: payload + Seal.size, nonce: Nonce(payload, 0), tag: SealTag(payload, Nonce.size),
            context: context)
        return isWhole ? sealed : nil
    }
}
