import Seeds
import Testing

@testable import FaultModel

@Suite struct FileDamageTests {
    /// Two files of three pages of four bytes and a short one, and of two.
    private let files = DamagedFiles([
        ("a", [1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 9]), ("b", [5, 5, 5, 5, 6, 6, 6, 6]),
    ])

    private func after(_ damage: FileDamage, older: DamagedFiles? = nil) -> [UInt8]? {
        guard let change = files.change(damage, pageSize: 4, older: older) else { return nil }
        return change.applied(to: files.files[change.file].bytes)
    }

    @Test("an address has one spelling")
    func addresses() {
        for text in ["bit:17", "zero:4", "age:0", "cut:12", "swap:0,4", "misdirect:8,4"] {
            #expect(FileDamage(text)?.description == text)
        }
        for text in ["bit:", "bit:1,2", "swap:1", "flip:3", "cut:-1", "zero:04", "cut:1 ", "misdirect:1,2,3", ""] {
            #expect(FileDamage(text) == nil, "\(text)")
        }
    }

    @Test("each fault changes exactly the bytes of its address")
    func changes() {
        #expect(after(FileDamage(.flip, 9)) == [1, 3, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 9])
        #expect(after(FileDamage(.zero, 12)) == [1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 0])
        #expect(after(FileDamage(.cut, 5)) == [1, 1, 1, 1, 2])
        #expect(after(FileDamage(.cut, 13)) == [])
        #expect(after(FileDamage(.swap, 0, 4)) == [2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 9])
        #expect(after(FileDamage(.misdirect, 13, 17)) == [5, 5, 5, 5, 5, 5, 5, 5])
        let older = DamagedFiles([("a", [1, 1, 1, 1, 7, 7]), ("b", [])])
        #expect(after(FileDamage(.age, 4), older: older) == [1, 1, 1, 1, 7, 7, 2, 2, 0, 0, 0, 0, 9])
    }

    @Test("a fault without a change, or out of range, is no damage")
    func nothing() {
        let older = DamagedFiles([("a", [1, 1, 1, 1]), ("b", [])])
        for damage in [FileDamage(.zero, 8), FileDamage(.cut, 21), FileDamage(.flip, 21 * 8)] {
            #expect(after(damage) == nil, "\(damage)")
        }
        // Pages of two files, overlapping pages, a page cut short by the file's end, and a page over itself.
        for damage in [FileDamage(.swap, 8, 13), .init(.swap, 0, 2), .init(.swap, 0, 12), .init(.misdirect, 4, 4)] {
            #expect(after(damage) == nil, "\(damage)")
        }
        #expect(after(FileDamage(.age, 0), older: older) == nil && after(FileDamage(.age, 13), older: older) == nil)
    }

    @Test("the damages of a seed are reproducible, distinct, and all change something")
    func choice() {
        var random = RandomStream(Seed(3))
        let bytes = (0..<20_000).map { _ in UInt8(random.below(256)) }
        let large = DamagedFiles([("x", bytes), ("y", Array(bytes.prefix(9_000)))])
        let older = DamagedFiles([("x", bytes.map { $0 ^ 1 }), ("y", [])])
        for kind in FileDamage.Kind.allCases {
            var lists: [[FileDamage]] = []
            for _ in 0..<2 {
                var random = RandomStream(Seed(5))
                lists.append(large.damages(kind, count: 4, pageSize: 4_096, older: older, random: &random))
            }
            #expect(lists[0] == lists[1] && lists[0].count == 4 && Set(lists[0]).count == 4, "\(kind)")
            #expect(lists[0].allSatisfy { large.change($0, pageSize: 4_096, older: older) != nil }, "\(kind)")
        }
    }

    @Test("with places by bytes, small and empty files take none of a large one's share")
    func byBytes() {
        let small = (0..<500).map { ("small\($0)", [UInt8](repeating: 1, count: 4)) }
        let files = DamagedFiles(small + [("empty", []), ("data", [UInt8](repeating: 1, count: 18_000))])
        func places(_ spread: DamagedFiles.Spread) -> [Int] {
            var random = RandomStream(Seed(2))
            return files.positions(count: 100, scale: 8, spread: spread, random: &random)
        }
        let byBytes = places(.bytes)
        #expect(byBytes.count == 100 && Set(byBytes).count == 100 && byBytes == byBytes.sorted())
        #expect(byBytes.count { files.file(at: $0 / 8)?.name == "data" } > 75)
        #expect(byBytes.contains { files.file(at: $0 / 8)?.name != "data" })
        #expect(places(.files).count { files.file(at: $0 / 8)?.name == "data" } <= 1)
        var random = RandomStream(Seed(2))
        let flips = files.damages(.flip, count: 9, pageSize: 4_096, older: nil, spread: .bytes, random: &random)
        #expect(flips.count == 9)
        // All of them, if there are no more.
        let two = DamagedFiles([("a", [1]), ("b", []), ("c", [1, 1])])
        #expect(two.positions(count: 99, scale: 1, spread: .bytes, random: &random) == [0, 1, 2])
    }

    @Test("every place means every bit, every length, every non-empty page")
    func every() {
        func count(_ kind: FileDamage.Kind) -> Int {
            var random = RandomStream(Seed(1))
            return files.damages(kind, count: nil, pageSize: 4, older: nil, random: &random).count
        }
        #expect(count(.flip) == 21 * 8 && count(.cut) == 21 && count(.zero) == 5)
        // a has two neighbours that differ, b one.
        #expect(count(.swap) == 3 && count(.age) == 0)
    }
}
