import Testing

@testable import StrataStorage

@Suite struct VersionMapTests {
    @Test("a map of versions holds what a dictionary holds")
    func likeADictionary() {
        for seed in UInt64(1)...50 {
            var random = SplitMix64(seed: seed)
            var map = VersionMap<Int>()
            var expected: [UInt64: Int] = [:]
            for step in 0..<200 {
                let version = random.next() % 40
                switch random.next() % 4 {
                case 0:
                    let removed = map.removeValue(forKey: version)
                    #expect(removed == expected.removeValue(forKey: version), "seed \(seed), step \(step)")
                case 1:
                    map[version]? += 1
                    expected[version]? += 1
                case 2:
                    map[version] = nil
                    expected[version] = nil
                default:
                    map[version] = step
                    expected[version] = step
                }
                #expect(map.versions == expected.keys.sorted(), "seed \(seed), step \(step)")
                #expect(map.values == expected.sorted { $0.key < $1.key }.map(\.value), "seed \(seed), step \(step)")
                #expect(map[version] == expected[version], "seed \(seed), step \(step)")
            }
        }
    }
}

@Suite struct ArenaTests {
    @Test("a new node is zero, whatever stood there before")
    func newNodeIsZero() throws {
        let arena = try Arena(capacity: 1 << 26)
        func isZero(_ reference: NodeReference) -> Bool {
            let node = UnsafeRawBufferPointer(start: arena.pointer(reference.arenaIndex), count: reference.byteCount)
            return node[Format.nodeHeaderSize...].allSatisfy { $0 == 0 }
        }
        for round in 0..<4 {
            var made: [NodeReference] = []
            for pages in [1, 3, 2, 20, 1, 1] {
                let reference = try arena.make(.group, pages: pages)
                #expect(isZero(reference), "round \(round)")
                let node = UnsafeMutableRawBufferPointer(
                    start: arena.pointer(reference.arenaIndex), count: reference.byteCount)
                node.initializeMemory(as: UInt8.self, repeating: 0xAA)
                made.append(reference)
            }
            arena.drop(made[1].arenaIndex)
            arena.drop(made[3].arenaIndex)
            #expect(try isZero(arena.make(.group, pages: 3)), "round \(round)")
            #expect(try isZero(arena.make(.group, pages: 20)), "round \(round)")
            // The reset keeps fewer pages than were used in one round, and more in the next.
            arena.reset(keep: round.isMultiple(of: 2) ? 5 * Format.pageSize : 8 << 20)
        }
    }
}
