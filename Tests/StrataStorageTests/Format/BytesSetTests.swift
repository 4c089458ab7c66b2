import Testing

@testable import StrataStorage

@Suite struct BytesSetTests {
    @Test("a set holds what was put into it, each value once, and nothing else", arguments: [0, 1, 2, 3, 64, 5000])
    func members(count: Int) {
        let values = (0..<count).map { Array("value \($0 % max(1, count - 1))".utf8) } + (count > 2 ? [[]] : [])
        let set = BytesSet(values)
        #expect(set.count == Set(values).count && Set(set.values) == Set(values))
        for value in values { #expect(value.withUnsafeBytes { set.contains($0) }) }
        for other in ["value", "value x", "value 99999", "another"] {
            #expect(!Array(other.utf8).withUnsafeBytes { set.contains($0) })
        }
        #expect(set.contains(UnsafeRawBufferPointer(start: nil, count: 0)) == values.contains([]))
    }
}
