import Testing

@testable import Strata

/// The keys of a collection's rows, stored as bits or as a sequence of keys, compared with a sorted array.
@Suite struct RowSequenceTests {
    /// Keys as classes have them: numbered, with gaps, negative, far from each other.
    private static let kinds: [(name: String, key: @Sendable (Int) -> Int64)] = [
        ("numbered", { Int64($0) }), ("with gaps", { 3 * Int64($0) - 20_000 }),
        ("in clusters", { Int64($0 % 7) << 40 + Int64($0) }), ("far apart", { Int64($0) << 33 }),
    ]

    @Test("is what an array would be", arguments: 0..<4, [5, 700, 40_000])
    func likeAnArray(kind: Int, size: Int) {
        let (name, key) = Self.kinds[kind]
        var dice = Dice(state: UInt64(size + kind))
        func some() -> Int64 { key(Int.random(in: 0..<size, using: &dice)) }
        var model = Set((0..<size).filter { _ in Bool.random(using: &dice) }.map(key))
        var sequence = RowSequence(model.sorted(), ascends: true)
        if case .bits = sequence { #expect(kind < 3) } else { #expect(kind == 3 || size < 300 || size == 700) }
        for _ in 0..<30 {
            let gone = Set((0..<5).map { _ in some() }).intersection(model).sorted()
            let come = Set((0..<5).map { _ in some() }).subtracting(model).sorted()
            let before = sequence
            let keysBefore = model.sorted()
            sequence.exchange(gone, for: come)
            model.subtract(gone)
            model.formUnion(come)
            let keys = model.sorted()
            #expect(sequence.count == keys.count && sequence.keys == keys, "\(name), \(size)")
            #expect(before.keys == keysBefore, "a copy of \(name) keeps its keys")
            for _ in 0..<10 {
                let place = Int.random(in: -1...keys.count, using: &dice)
                #expect(sequence.key(at: place) == (keys.indices.contains(place) ? keys[place] : nil), "\(name)")
                let wanted = Set((0..<Int.random(in: 0..<20, using: &dice)).map { _ in some() }).sorted()
                let places = sequence.places(of: wanted)
                let there = wanted.filter { model.contains($0) }
                #expect(places.map(\.key) == there && places.map { keys[$0.place] } == there, "\(name)")
                #expect(wanted.allSatisfy { sequence.contains($0) == model.contains($0) }, "\(name)")
            }
            let all = (0..<size).map(key).sorted()
            #expect(sequence.places(of: all).map(\.place) == Array(keys.indices), "\(name)")
        }
        sequence.exchange(sequence.keys, for: [])
        #expect(sequence.count == 0 && sequence.keys == [] && sequence.key(at: 0) == nil)
        sequence.exchange([], for: [.min, -1, 0, .max])
        #expect(sequence.keys == [.min, -1, 0, .max] && sequence.contains(.max) && !sequence.contains(1))
    }

    @Test("rows that lie close take a bit each, and rows that do not no more than an array")
    func closeRowsTakeABit() {
        guard case .bits(let bits) = RowSequence((0..<100_000).map { Int64($0) }, ascends: true) else {
            Issue.record("numbered rows are no bits")
            return
        }
        #expect(!bits.isWasteful)
        if case .bits = RowSequence((0..<1000).map { Int64($0) << 20 }, ascends: true) { Issue.record("far apart") }
        if case .bits = RowSequence([3, 2, 1], ascends: false) { Issue.record("in another order") }
        var growing = RowSequence((0..<1000).map { Int64($0) }, ascends: true)
        for key in 1..<200 { growing.exchange([], for: [Int64(key) << 20]) }
        if case .bits = growing { Issue.record("bits for rows that came far apart") }
        #expect(growing.count == 1199)
    }
}
