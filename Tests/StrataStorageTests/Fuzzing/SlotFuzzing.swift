import CXXHash

@testable import StrataStorage

/// Two header slots with valid checksums, and the choice between them.
enum SlotFuzzing {
    static func run(_ input: inout FuzzInput) {
        let choice = input.byte()
        var slots: [HeaderSlot.Decoded] = []
        for index in 0..<2 {
            var bytes = [UInt8](repeating: 0, count: Format.slotSize)
            for (place, byte) in input.run(Format.slotSize).enumerated() { bytes[place] = byte }
            _ = bytes.withUnsafeBytes { HeaderSlot.decode($0, at: index) }
            slots.append(decode(bytes, index, seals: choice >> (2 * index) & 3))
        }
        do {
            guard let found = try HeaderSlot.choose(slots[0], slots[1], path: "fuzz") else { return }
            guard case .valid(let slot) = slots[found.index] else {
                fatalError("broken: a slot that is none is chosen")
            }
            fuzzExpect(found.slot == slot, "the chosen slot is the one at its place")
            if case .valid(let other) = slots[1 - found.index] {
                fuzzExpect(other.sequence <= slot.sequence, "the newer slot is chosen")
                fuzzExpect(other.checkpoint <= slot.checkpoint, "no older checkpoint is served")
            }
        } catch {}
    }

    /// Decodes a slot after its magic, version, index and checksum were corrected.
    /// - Parameter seals: 1 seals the slot by the test's cipher, 2 only marks it as sealed, 3 keeps the fuzzer's
    ///   version and index.
    private static func decode(_ bytes: [UInt8], _ index: Int, seals: Int) -> HeaderSlot.Decoded {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return .empty }
            base.put64(0, Format.magic)
            if seals < 3 {
                base.put32(8, Format.version)
                base.put32(128, UInt32(index))
            }
            if seals == 2 { base.put32(8, Format.version | SealedSlot.versionBit) }
            base.put64(Format.slotSize - 8, XXH3_64bits(base, Format.slotSize - 8))
            if seals == 1 || seals == 2 {
                let cipher = TestCipher(key: 7)
                if seals == 1 {
                    let sealer = cipher.derived(for: SealedSlot.storeID(base))
                    SealedSlot.seal(base, index: index, sealer, Nonce(high: 1, low: 2))
                }
                _ = SealedSlot.open(base, index: index) { cipher.derived(for: $0) }
            }
            let decoded = HeaderSlot.decode(UnsafeRawBufferPointer(buffer), at: index)
            if case .valid(let slot) = decoded {
                let again = slot.encode(at: index).withUnsafeBytes { HeaderSlot.decode($0, at: index) }
                fuzzExpect(again == decoded, "a slot that is valid can be written and read back")
            }
            return decoded
        }
    }

    static func seeds() -> [[UInt8]] {
        let slot = HeaderSlotTests.sample().encode(at: 0)
        let other = HeaderSlotTests.sample(sequence: 10, checkpoint: 80, logRequired: false).encode(at: 1)
        return (0..<16).map { [UInt8($0)] + slot + other }
    }
}
