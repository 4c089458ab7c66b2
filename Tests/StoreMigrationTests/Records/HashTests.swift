import Foundation
import Testing

@testable import StoreMigration

/// `RangeHashes` and `RecordHash`.
@Suite struct HashTests {
    @Test("values of different kinds, and neighbouring values, have different hashes")
    func recordHashes() {
        let model = RecordModel(
            "A", key: "id",
            [
                RecordField("a", .text, isOptional: true), RecordField("b", .text, isOptional: true),
                RecordField("c", .links(to: "A", isOrdered: false)), RecordField("d", .links(to: "A", isOrdered: true)),
            ])
        var hasher = RecordHash(model)
        let one = RecordKey.integer(1)
        let two = RecordKey.text("2")
        let rows: [[FieldValue]] = [
            [.null, .null, .links([]), .links([])], [.text(""), .null, .links([]), .links([])],
            [.integer(0), .null, .links([]), .links([])], [.real(0), .null, .links([]), .links([])],
            [.date(0), .null, .links([]), .links([])], [.data(Data()), .null, .links([]), .links([])],
            [.text("ab"), .text("c"), .links([]), .links([])], [.text("a"), .text("bc"), .links([]), .links([])],
            [.text("\u{E9}"), .null, .links([]), .links([])], [.text("e\u{301}"), .null, .links([]), .links([])],
            [.null, .null, .links([one]), .links([])], [.null, .null, .links([one, one]), .links([])],
            [.null, .null, .links([]), .links([one, two])], [.null, .null, .links([]), .links([two, one])],
        ]
        #expect(Set(rows.map { hasher.hash($0) }).count == rows.count)
        #expect(
            hasher.hash([.null, .null, .links([one, two]), .links([])])
                == hasher.hash([.null, .null, .links([two, one]), .links([])]), "no order, a multiset")
    }

    @Test("equal values have equal hashes, and each bit of a number counts")
    func bits() {
        var hasher = RecordHash(RecordModel("A", key: "id", [RecordField("a", .real, isOptional: true)]))
        let numbers = [
            0.0, -0.0, .nan, Double(nan: 1, signaling: false), Double.leastNonzeroMagnitude, 0.1, 0.1.nextUp, .infinity,
        ]
        let values =
            [FieldValue.null, .integer(0), .text(""), .data(Data())] + numbers.flatMap { [.real($0), .date($0)] }
        #expect(Set(values.map { hasher.hash([$0]) }).count == values.count)
        #expect(Set(values).count == values.count)
        for value in values { #expect(value == value && hasher.hash([value]) == hasher.hash([value])) }
    }

    @Test("sums follow each change, in any history")
    func changes() {
        var a = RangeHashes(["A", "B"])
        var b = RangeHashes(["A", "B"])
        for key in 0..<5_000 { a.set(RecordID("A", key), to: UInt64(key)) }
        for key in (0..<5_000).reversed() {
            b.set(RecordID("A", key), to: 7)
            b.set(RecordID("B", key), to: 8)
        }
        for key in 0..<5_000 {
            b.set(RecordID("A", key), to: UInt64(key))
            b.set(RecordID("B", key), to: nil)
        }
        #expect(a.count == 5_000 && b.count == 5_000)
        var steps = 0
        #expect(RangeHashes.differences(&a, &b, steps: &steps).isEmpty)
        #expect(steps == 1)
        b.set(RecordID("A", 77), to: 1)
        b.set(RecordID("A", 78), to: nil)
        b.set(RecordID("B", "text"), to: 78)
        #expect(
            RangeHashes.differences(&a, &b, steps: &steps)
                == [RecordID("A", 77), RecordID("A", 78), RecordID("B", "text")])
        #expect(steps < 300)
        #expect(a.hash(RecordID("A", 78)) == 78 && b.hash(RecordID("A", 78)) == nil)
    }

    @Test("two records with swapped values differ")
    func exchanged() {
        var a = RangeHashes(["A"])
        var b = RangeHashes(["A"])
        for key in 0..<2 {
            a.set(RecordID("A", key), to: UInt64(key))
            b.set(RecordID("A", key), to: UInt64(1 - key))
        }
        var steps = 0
        #expect(RangeHashes.differences(&a, &b, steps: &steps).count == 2)
    }
}
