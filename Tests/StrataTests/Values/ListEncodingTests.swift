import Testing

@testable import Strata

/// The bytes of docs/file-format-objects.md, which must never change.
@Suite struct ListEncodingTests {
    private func roundTrip(_ values: [_StoredValue]) -> [_StoredValue]? {
        ListEncoding.encode(values).withUnsafeBytes { ListEncoding.decode($0) }
    }

    @Test("the layout is the documented one")
    func documentedLayout() {
        #expect(ListEncoding.encode([]) == [])
        #expect(ListEncoding.encode([.integer(1), .integer(-2)]) == [1, 0, 2, 0, 0, 0, 1, 0xFE])
        #expect(ListEncoding.encode([.integer(300)]) == [2, 0, 1, 0, 0, 0, 0x2C, 1])
        #expect(ListEncoding.encode([.null, .integer(5)]) == [1, 1, 2, 0, 0, 0, 0b01, 0, 5])
        #expect(ListEncoding.encode([.double(1)]) == [5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
        #expect(
            ListEncoding.encode([.text("ab"), .text("c")])
                == [6, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0x61, 0x62, 0x63])
        #expect(ListEncoding.encode([.bytes([9])]) == [7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9])
    }

    @Test("every kind is decoded as it was encoded")
    func everyKindRoundTrips() {
        let lists: [[_StoredValue]] = [
            [], [.integer(.min), .integer(.max), .null], [.integer(40_000), .integer(-3)], [.integer(1 << 40)],
            [.double(.infinity), .null, .double(-0.5)], [.text(""), .null, .text("日本語")],
            [.bytes([]), .bytes([0, 255])],
            [.null, .null, .null, .null, .null, .null, .null, .null, .integer(1)],
        ]
        for list in lists { #expect(roundTrip(list) == list) }
    }

    @Test("bytes of another layout, and truncated ones, are refused")
    func otherLayoutIsRefused() {
        let bytes = ListEncoding.encode([.text("abc"), .null, .text("defg")])
        for count in 1..<bytes.count {
            #expect(Array(bytes.prefix(count)).withUnsafeBytes { ListEncoding.decode($0) } == nil)
        }
        for place in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[place] ^= 1 << bit
                // Any result is allowed, but no flip may cause a read outside the bytes.
                _ = flipped.withUnsafeBytes { ListEncoding.decode($0) }
            }
        }
    }

    @Test("tags keep their numbers")
    func keptTags() {
        #expect(ColumnTag(_PropertyShape(.int), isPrimary: false).rawValue == 0)
        #expect(ColumnTag(_PropertyShape(.UUID, isOptional: true), isPrimary: true).rawValue == 12 | 1 << 12 | 1 << 13)
        #expect(ColumnTag(_PropertyShape(.object, collection: .list), isPrimary: false).rawValue == 7 | 1 << 8)
        #expect(ColumnTag(rawValue: 1 << 14) == nil)
        #expect(ColumnTag(rawValue: 200) == nil)
    }

    @Test("small strings are built as the standard library builds them")
    func smallStrings() {
        #expect(SmallString.isKnown)
        for text in ["", "a", "1234567", "12345678", "123456789", "fifteen letters", "sixteen letters!", "日本"] {
            let bytes = Array(text.utf8)
            #expect(bytes.withUnsafeBytes { SmallString.make($0) } == text)
            #expect(bytes.withUnsafeBytes { SmallString.make($0).utf8.count } == bytes.count)
        }
        let bad: [UInt8] = [0x61, 0xFF, 0x62]
        #expect(bad.withUnsafeBytes { SmallString.make($0) } == String(decoding: bad, as: UTF8.self))
    }
}
