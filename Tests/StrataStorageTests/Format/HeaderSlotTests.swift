import Testing

@testable import StrataStorage

@Suite struct HeaderSlotTests {
    static func sample(sequence: UInt64 = 9, checkpoint: UInt64 = 70, logRequired: Bool = true) -> HeaderSlot {
        HeaderSlot(
            storeID: RandomID(0x1111, 0x2222), sequence: sequence, checkpoint: TransactionID(checkpoint),
            root: NodeReference(page: 33, pages: 2, kind: .root, checksum: 0xABCD, birth: checkpoint),
            freeMap: NodeReference(page: 40, pages: 1, kind: .freeMapRoot, checksum: 0x77, birth: 3), pageCount: 50,
            logRequired: logRequired, salt: RandomID(0x3333, 0x4444), logHalf: 1, flags: 0)
    }

    private func decode(_ bytes: [UInt8], at index: Int = 0) -> HeaderSlot.Decoded {
        bytes.withUnsafeBytes { HeaderSlot.decode($0, at: index) }
    }

    private func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> UInt64 {
        bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    @Test("a slot reads back as it was written") func roundTrip() {
        let slot = Self.sample()
        let bytes = slot.encode(at: 0)
        #expect(bytes.count == 512)
        #expect(decode(bytes) == .valid(slot))
        let fresh = HeaderSlot(storeID: RandomID(1, 2))
        #expect(decode(fresh.encode(at: 0)) == .valid(fresh))
    }

    @Test("every field stands at its offset") func offsets() {
        var slot = Self.sample()
        slot.flags = HeaderSlot.withoutLog
        let bytes = slot.encode(at: 0)
        let expected: [(Int, Int, UInt64)] = [
            (0, 8, 0x0031_4154_4152_5453), (8, 4, 2), (12, 4, 1), (16, 8, 0x1111), (24, 8, 0x2222), (32, 8, 9),
            (40, 8, 70), (48, 4, 33), (52, 2, 2), (54, 1, 7), (56, 8, 0xABCD), (64, 8, 70), (72, 4, 40), (76, 2, 1),
            (78, 1, 10), (80, 8, 0x77), (88, 8, 3), (96, 8, 50), (104, 8, 0x3333), (112, 8, 0x4444), (120, 4, 1),
            (124, 4, 1), (128, 4, 0),
        ]
        for (offset, size, value) in expected { #expect(number(bytes, offset, size) == value, "offset \(offset)") }
        #expect(number(slot.encode(at: 1), 128, 4) == 1)
        #expect(bytes[132..<504].allSatisfy { $0 == 0 })
    }

    @Test("every flipped bit of a slot is detected") func singleBits() {
        let bytes = Self.sample().encode(at: 0)
        for position in bytes.indices {
            for bit in 0..<8 {
                var copy = bytes
                copy[position] ^= 1 << UInt8(bit)
                #expect(decode(copy) == (position < 8 ? .foreign : .damaged), "byte \(position) bit \(bit)")
            }
        }
    }

    @Test("one slot's bytes in the place of the other are damage") func places() {
        for index in 0...1 {
            let bytes = Self.sample().encode(at: index)
            #expect(decode(bytes, at: index) == .valid(Self.sample()))
            #expect(decode(bytes, at: 1 - index) == .damaged)
        }
    }

    @Test("a slot torn at any byte is not valid") func torn() {
        let new = Self.sample(sequence: 11, checkpoint: 90).encode(at: 0)
        let old = Self.sample(sequence: 9, checkpoint: 70).encode(at: 0)
        for cut in 0...512 {
            let mixed = Array(new[..<cut] + old[cut...])
            if mixed == new || mixed == old { continue }
            #expect(decode(mixed) == .damaged, "cut at \(cut)")
        }
    }

    @Test("zeros are empty, other bytes foreign, other versions unsupported") func others() {
        #expect(decode([UInt8](repeating: 0, count: 512)) == .empty)
        #expect(decode([]) == .empty)
        #expect(decode([UInt8](repeating: 65, count: 512)) == .foreign)
        #expect(decode([UInt8](repeating: 0, count: 100)) == .foreign)
        #expect(decode(Self.sample().encode(at: 0, version: 3)) == .unsupported(version: 3))
    }

    @Test("a slot with a valid checksum and impossible fields is damaged") func implausible() {
        var slot = Self.sample()
        slot.root.page = 49
        #expect(decode(slot.encode(at: 0)) == .damaged)
        slot = Self.sample()
        slot.root.kindCode = 2
        #expect(decode(slot.encode(at: 0)) == .damaged)
        slot = Self.sample()
        slot.logHalf = 2
        #expect(decode(slot.encode(at: 0)) == .damaged)
        slot = Self.sample()
        slot.pageCount = 1
        #expect(decode(slot.encode(at: 0)) == .damaged)
    }

    @Test("the newest valid slot is chosen, at either place") func newest() throws {
        let old = Self.sample(sequence: 4, checkpoint: 10)
        let new = Self.sample(sequence: 5, checkpoint: 20)
        let first = try #require(try HeaderSlot.choose(.valid(new), .valid(old), path: "p"))
        #expect(first == HeaderSlot.Choice(slot: new, index: 0, other: .valid(old)))
        let second = try #require(try HeaderSlot.choose(.valid(old), .valid(new), path: "p"))
        #expect(second == HeaderSlot.Choice(slot: new, index: 1, other: .valid(old)))
        #expect(!second.isOtherLost)
        let third = try #require(try HeaderSlot.choose(.damaged, .valid(old), path: "p"))
        #expect(third.slot == old && third.index == 1 && third.isOtherLost)
    }

    @Test("a crash between the two slots of a clean close leaves a clean newer slot") func closeHalfway() throws {
        let logged = Self.sample(sequence: 4, checkpoint: 10)
        let clean = Self.sample(sequence: 5, checkpoint: 20, logRequired: false)
        let choice = try #require(try HeaderSlot.choose(.valid(logged), .valid(clean), path: "p"))
        #expect(choice.slot == clean)
    }

    @Test("clean slots agree in everything but their sequence") func cleanSlots() throws {
        let a = Self.sample(sequence: 6, checkpoint: 20, logRequired: false)
        let b = Self.sample(sequence: 7, checkpoint: 20, logRequired: false)
        #expect(try HeaderSlot.choose(.valid(a), .valid(b), path: "p")?.slot == b)
        var other = b
        other.root.checksum += 1
        expectDiffering(a, other)
        other = b
        other.checkpoint = TransactionID(21)
        expectDiffering(a, other)
        other = b
        other.pageCount += 1
        expectDiffering(a, other)
    }

    @Test("a session without a log leaves slots that differ") func sessionWithoutLog() throws {
        let older = Self.sample(sequence: 6, checkpoint: 20, logRequired: false)
        var newer = Self.sample(sequence: 7, checkpoint: 21, logRequired: false)
        newer.flags = HeaderSlot.withoutLog
        #expect(try HeaderSlot.choose(.valid(older), .valid(newer), path: "p")?.slot == newer)
    }

    @Test("slots of two stores, or a newer slot with an older checkpoint, are never accepted") func strangers() {
        var other = Self.sample(sequence: 10)
        other.storeID = RandomID(5, 5)
        expectDiffering(Self.sample(), other)
        expectDiffering(Self.sample(sequence: 8, checkpoint: 80), Self.sample(sequence: 9, checkpoint: 70))
        expectDiffering(Self.sample(sequence: 8, checkpoint: 80), Self.sample(sequence: 8, checkpoint: 81))
    }

    private func expectDiffering(_ a: HeaderSlot, _ b: HeaderSlot) {
        for (first, second) in [(a, b), (b, a)] {
            do {
                _ = try HeaderSlot.choose(.valid(first), .valid(second), path: "p")
                Issue.record("was served")
            } catch {
                guard case .corrupt(_, _, .slotsDiffer) = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    @Test("without a valid slot the error names the reason") func noValidSlot() throws {
        #expect(try HeaderSlot.choose(.empty, .empty, path: "p") == nil)
        #expect(throws: StorageError.notAStore(path: "p")) { try HeaderSlot.choose(.foreign, .empty, path: "p") }
        #expect(throws: StorageError.corrupt(page: PageNumber(1), offset: 0, reason: .header)) {
            try HeaderSlot.choose(.empty, .damaged, path: "p")
        }
        #expect(throws: StorageError.unsupportedFormat(path: "p", version: 3)) {
            try HeaderSlot.choose(.valid(Self.sample()), .unsupported(version: 3), path: "p")
        }
    }
}
