import CStrataShim
import Testing

@testable import StrataStorage

/// Compares the C loops over packed values with plain loops in Swift, on buffers that end with the last value.
@Suite struct KernelTests {
    private static func bit(_ bits: [UInt64], _ at: Int) -> Bool { bits[at >> 6] >> UInt64(at & 63) & 1 != 0 }

    private static func value(_ bytes: [UInt8], _ index: Int, _ width: Int) -> UInt64 {
        (0..<width).reduce(0) { $0 | UInt64(bytes[index * width + $1]) << UInt64(8 * $1) }
    }

    /// A copy in an allocation of its exact size, so that a sanitizer detects an overread.
    private static func withExactCopy<T>(_ bytes: [UInt8], _ body: (UnsafeRawPointer) -> T) -> T {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        return body(copy.baseAddress.map { UnsafeRawPointer($0) } ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped)
    }

    @Test("a range of packed values sets the bits of exactly its rows", arguments: [1, 2, 4, 8], UInt64(1)...6)
    func ranges(width: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
            let count = Int(random.below(300))
            let bytes = (0..<(count * width)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let at = Int(random.below(130))
            let limits = [random.next(), random.next()].map { $0 >> UInt64(64 - 8 * width) }.sorted()
            var bits = [UInt64](repeating: 0, count: (at + count) / 64 + 2)
            Self.withExactCopy(bytes) {
                strata_select_range($0, count, Int32(width), limits[0], limits[1], &bits, at)
            }
            let expected = (0..<(bits.count * 64)).map { place in
                place >= at && place < at + count
                    && (limits[0]...limits[1]).contains(Self.value(bytes, place - at, width))
            }
            #expect((0..<(bits.count * 64)).map { Self.bit(bits, $0) } == expected, "seed \(seed), width \(width)")
        }
    }

    @Test("sums and extremes include exactly the selected values", arguments: [1, 2, 4, 8], UInt64(1)...6)
    func aggregates(width: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
            let count = Int(random.below(1500))
            let bytes = (0..<(count * width)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let every = random.below(3)
            let bits = (0..<Selection.words(count)).map { _ in every == 0 ? UInt64.max : random.next() & random.next() }
            let values = (0..<count).map { Self.value(bytes, $0, width) }
            let selected = values.indices.filter { Self.bit(bits, $0) }.map { values[$0] }
            let w = Int32(width)
            Self.withExactCopy(bytes) { base in
                #expect(strata_sum(base, count, w) == values.reduce(0, &+), "seed \(seed)")
                #expect(strata_sum_selected(base, count, w, bits) == selected.reduce(0, &+), "seed \(seed)")
                #expect(
                    strata_least_selected(base, count, w, bits) == selected.min() ?? UInt64.max >> UInt64(64 - 8 * w))
                #expect(strata_most_selected(base, count, w, bits) == selected.max() ?? 0)
                var words = [UInt64](repeating: 0, count: count)
                strata_widen(base, count, w, 5, &words)
                #expect(words == values.map { $0 &+ 5 })
            }
        }
    }

    @Test("bytes of any length are compared completely, and no byte after them", arguments: UInt64(1)...12)
    func bytes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for length in 0..<24 {
            let count = 1 + Int(random.below(150))
            let rows = (0..<count).map { _ in
                (0..<(length + Int(seed % 2) * Int(random.below(4)))).map { _ in 97 + UInt8(random.below(20) / 19) }
            }
            let wanted = Array(rows[Int(random.below(UInt64(count)))].prefix(length))
            for isExact in [true, false] {
                var bits = [UInt64](repeating: 0, count: count / 64 + 2)
                if seed % 2 == 0 {
                    Self.withExactCopy(rows.flatMap { $0 }) {
                        strata_select_fixed($0, count, length, wanted, wanted.count, &bits, 0)
                    }
                } else {
                    var offsets: [UInt8] = [0, 0]
                    var total = 0
                    for row in rows {
                        total += row.count
                        offsets += [UInt8(total & 255), UInt8(total >> 8)]
                    }
                    Self.withExactCopy(offsets + rows.flatMap { $0 }) {
                        strata_select_varied($0, count, wanted, wanted.count, isExact ? 1 : 0, &bits, 0)
                    }
                }
                let expected = rows.map { isExact ? $0 == wanted : $0.starts(with: wanted) }
                #expect(rows.indices.map { Self.bit(bits, $0) } == expected, "seed \(seed), length \(length)")
            }
        }
    }

    @Test("bits are copied, taken and scattered at any offset", arguments: UInt64(1)...12)
    func bitmaps(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<60 {
            let at = Int(random.below(130))
            let count = Int(random.below(200))
            let source = (0..<((at + count) / 64 + 2)).map { _ in random.next() }
            var copy = [UInt64](repeating: .max, count: Selection.words(count) + 1)
            strata_bits_copy(source, at, count, &copy)
            #expect((0..<count).allSatisfy { Self.bit(copy, $0) == Self.bit(source, at + $0) }, "seed \(seed)")
            #expect((count..<(Selection.words(count) * 64)).allSatisfy { !Self.bit(copy, $0) })
            let slots = (0..<(source.count * 64)).filter { _ in random.below(5) == 0 }
            let packed = slots.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
            var rest = source
            var taken = [UInt64](repeating: 0, count: Selection.words(slots.count) + 1)
            strata_bits_take(&rest, packed, slots.count, &taken)
            #expect(slots.indices.allSatisfy { Self.bit(taken, $0) == Self.bit(source, slots[$0]) })
            #expect(slots.allSatisfy { !Self.bit(rest, $0) })
            strata_bits_scatter(&rest, packed, slots.count, taken)
            #expect(rest == source, "seed \(seed)")
        }
    }
}
