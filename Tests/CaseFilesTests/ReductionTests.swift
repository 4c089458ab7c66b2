import Testing

@testable import CaseFiles

@Suite struct ReductionTests {
    /// Any two or three elements that cause a failure are exactly the result.
    @Test("the result fails, and does not without any of its elements", arguments: [1, 2, 5, 17, 64])
    func minimal(length: Int) {
        let list = Array(0..<length)
        for first in Set([0, length / 3, length - 1]) {
            for second in Set([0, length / 2, length - 1]) {
                let needed: Set<Int> = [first, second]
                var tried = 0
                let found = Reduction.subset(of: list) { candidate in
                    tried += 1
                    return needed.isSubset(of: candidate)
                }
                #expect(found == needed.sorted(), "\(length): \(needed)")
                #expect(tried <= length * length + 3 * length + 2, "\(length): \(tried) candidates")
            }
        }
    }

    @Test("a failure that depends on counts: the result is minimal")
    func parity() {
        // Fails if at least 3 are even and at least one is odd.
        func fails(_ list: [Int]) -> Bool { list.count { $0 % 2 == 0 } >= 3 && list.contains { $0 % 2 == 1 } }
        let found = Reduction.subset(of: Array(0..<40), keeps: fails)
        #expect(fails(found) && found.count == 4)
        for place in found.indices {
            var without = found
            without.remove(at: place)
            #expect(!fails(without))
        }
        #expect(found == found.sorted())
    }

    @Test("an input that fails even when it is empty, and one that never fails again, end the reduction")
    func ends() {
        #expect(Reduction.subset(of: [1, 2, 3]) { _ in true }.isEmpty)
        #expect(Reduction.subset(of: [1, 2, 3]) { _ in false } == [1, 2, 3])
        #expect(Reduction.subset(of: [Int]()) { _ in true }.isEmpty)
    }

    @Test("a search that stops early returns a failing input")
    func budget() {
        var left = 5
        let found = Reduction.subset(of: Array(0..<64)) { candidate in
            left -= 1
            return left >= 0 && candidate.contains(10) && candidate.contains(50)
        }
        #expect(found.contains(10) && found.contains(50))
    }

    @Test("numbers are reduced to the smallest that fails")
    func numbers() {
        for least in [0, 1] {
            for bound in [least, 2, 9, 1_000] where bound >= least {
                var tried = 0
                let found = Reduction.number(1_000, least: least) { value in
                    tried += 1
                    return value >= bound
                }
                #expect(found == bound)
                #expect(tried <= 11)
            }
        }
        #expect(Reduction.number(0) { _ in true } == 0)
        #expect(Reduction.number(7) { _ in false } == 7)
    }
}
