import Testing

@testable import StrataStorage

/// Which dead pages are kept for which versions, without an allocator.
@Suite struct ProtectionsTests {
    @Test("a dead extent is held by the newest version that reaches it, and by none if no version does") func newest() {
        var protections = Protections()
        for version in [3, 5, 9] as [UInt64] { protections.protect(version) }
        let hung = [
            // No protected version reaches the first two: one was created after 3 and freed by 5, the other was created
            // and freed by 9. Version 5 holds the third, version 9 the fourth.
            protections.hang(Extent(page: 2, pages: 1, birth: 4, freed: 5)),
            protections.hang(Extent(page: 3, pages: 1, birth: 9, freed: 9)),
            protections.hang(Extent(page: 4, pages: 2, birth: 3, freed: 9)),
            protections.hang(Extent(page: 6, pages: 4, birth: 9, freed: 10)),
        ]
        #expect(hung == [false, false, true, true])
        #expect(protections.hangingPages == 6 && protections.oldest == 3)
        // `unprotect(5)` returns the extent. Version 3 reaches it too, so it is hung on version 3 next.
        let fromFive = protections.unprotect(5)
        #expect(fromFive == [Extent(page: 4, pages: 2, birth: 3, freed: 9)])
        let isHungAgain = fromFive.allSatisfy { protections.hang($0) }
        #expect(isHungAgain && protections.hangingPages == 6)
        #expect(protections.unprotect(9).map(\.page) == [6])
        #expect(protections.unprotect(3).map(\.page) == [4])
        #expect(protections.hangingPages == 0 && protections.oldest == nil && protections.hanging == [])
    }

    @Test("a version protected twice is released twice; an unprotected one never") func twice() {
        var protections = Protections()
        protections.protect(4)
        protections.protect(4)
        let isHung = protections.hang(Extent(page: 2, pages: 3, birth: 1, freed: 7))
        #expect(isHung)
        #expect(protections.unprotect(4) == [] && protections.hangingPages == 3)
        #expect(protections.unprotect(5) == [])
        #expect(protections.unprotect(4).map(\.pages) == [3])
        #expect(protections.unprotect(4) == [])
    }

    /// Compares with a plain list of dead extents and of the versions that protect each.
    @Test("in any order exactly the extents that a version reaches are kept") func anyOrder() {
        for seed in UInt64(1)...150 {
            var random = SplitMix64(seed: seed)
            var protections = Protections()
            var counts: [UInt64: Int] = [:]
            var kept: [Extent] = []
            func isReached(_ extent: Extent) -> Bool {
                counts.keys.contains { $0 >= extent.birth && $0 < extent.freed }
            }
            for step in 0..<200 {
                let version = random.next() % 24
                switch random.next() % 4 {
                case 0:
                    protections.protect(version)
                    counts[version, default: 0] += 1
                case 1:
                    guard let count = counts[version] else { continue }
                    counts[version] = count > 1 ? count - 1 : nil
                    for extent in protections.unprotect(version) {
                        let isHung = protections.hang(extent)
                        #expect(isHung == isReached(extent), "seed \(seed), step \(step)")
                    }
                    kept.removeAll { !isReached($0) }
                default:
                    let freed = version + 1 + random.next() % 8
                    let extent = Extent(
                        page: UInt32(step + 2), pages: UInt32(1 + random.next() % 5), birth: version, freed: freed)
                    let isHung = protections.hang(extent)
                    #expect(isHung == isReached(extent), "seed \(seed), step \(step)")
                    if isHung { kept.append(extent) }
                }
                #expect(protections.oldest == counts.keys.min())
                #expect(protections.hangingPages == kept.reduce(0) { $0 + Int($1.pages) })
                #expect(Set(protections.hanging.map(\.page)) == Set(kept.map(\.page)), "seed \(seed), step \(step)")
            }
        }
    }
}
