import StrataFiles

@testable import StrataStorage

/// A free map with valid checksums, and an allocator that uses it.
///
/// One region, or two under a root. The fuzzer chooses the free pages, the second places of nodes, the counts of the
/// root, and the allocator's operations.
enum FreeMapFuzzing {
    private static let path = "map"
    private static let seed = NodeSeed(RandomID(1, 2))

    static func run(_ input: inout FuzzInput) {
        let choice = input.byte()
        let regions = 1 + choice & 1
        let used = input.below(SpaceRegion.pages)
        let pageCount = min((regions - 1) * SpaceRegion.pages + max(used, 16), regions * SpaceRegion.pages)
        do {
            let fileSystem = MemoryFileSystem(capacity: (pageCount + 4096) * Format.pageSize)
            let file = try fileSystem.open(path, .createNew)
            try file.truncate(to: Int64(pageCount * Format.pageSize))
            let map = try PageMap(
                file, reserve: (pageCount + 4096) * Format.pageSize, fileSystem: fileSystem, checks: .ofTrees,
                seed: seed)
            let allocator = PageAllocator(
                lock: SystemScheduling().makeMonitor("fuzz"), map: map, file: file, growth: .standard,
                pageCount: pageCount, fileCapacity: pageCount)
            let reference = try write(&input, file, regions: regions, pageCount: pageCount)
            _ = try? FreeMap(reference, PageReader(map))
            try allocator.openMap(reference)
            use(allocator, &input, pageCount)
        } catch {}
    }

    // MARK: The map

    private static func write(
        _ input: inout FuzzInput, _ file: any File, regions: Int, pageCount: Int
    ) throws -> NodeReference {
        var nodes: [(reference: NodeReference, free: Int)] = []
        for region in 0..<regions {
            var free = 0
            let reference = try writeNode(.freeMap, page: 2 + 2 * region, file) { node in
                FreeMapNode.putSpare(node, UInt32(3 + 2 * region))
                fill(node, &input, region: region, pageCount: pageCount)
                poke(node, &input)
                free = FreeMapNode.freeCount(UnsafeRawPointer(node))
            }
            nodes.append((reference, free))
        }
        if regions == 1 { return nodes[0].reference }
        return try writeNode(.freeMapRoot, page: 8, file) { node in
            node.put32(24, UInt32(nodes.count))
            node.put32(28, 9)
            for (index, entry) in nodes.enumerated() {
                let offset = FreeMapRoot.entriesOffset + index * FreeMapRoot.entrySize
                entry.reference.store(node, offset)
                node.put32(offset + 24, UInt32(entry.free))
                node.put32(offset + 28, 512)
            }
            poke(node, &input)
        }
    }

    /// Runs of free and used words; the map's own places and the pages past the contents are used.
    private static func fill(
        _ node: UnsafeMutableRawPointer, _ input: inout FuzzInput, region: Int, pageCount: Int
    ) {
        var word = 0
        for _ in 0..<(input.byte() % 24) {
            let count = 1 + input.byte()
            let pattern = input.byte()
            let bits = UInt64(pattern) &* 0x0101_0101_0101_0101
            for _ in 0..<count where word < SpaceRegion.wordCount {
                FreeMapNode.put(node, word, bits)
                word += 1
            }
        }
        let end = pageCount - region * SpaceRegion.pages
        for word in 0..<SpaceRegion.wordCount {
            var bits = FreeMapNode.word(UnsafeRawPointer(node), word)
            if region == 0 && word == 0 { bits &= ~0xFFF }
            if 64 * (word + 1) > end { bits &= end > 64 * word ? (1 << UInt64(end - 64 * word)) - 1 : 0 }
            FreeMapNode.put(node, word, bits)
        }
    }

    /// Up to three bytes anywhere.
    private static func poke(_ node: UnsafeMutableRawPointer, _ input: inout FuzzInput) {
        for _ in 0..<(input.byte() & 3) {
            let offset = Format.nodeHeaderSize + input.below(Format.pageSize - Format.nodeHeaderSize)
            node.put8(offset, input.byte())
        }
    }

    private static func writeNode(
        _ kind: NodeKind, page: Int, _ file: any File, _ body: (UnsafeMutableRawPointer) -> Void
    ) throws -> NodeReference {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Format.pageSize, alignment: Format.pageSize)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        guard let node = buffer.baseAddress else { return .null }
        NodeHeader.write(node, kind: kind, table: 0)
        body(node)
        var reference = NodeReference(page: UInt32(page), pages: 1, kind: kind, birth: 1)
        reference.checksum = NodeHeader.seal(node, count: buffer.count, birth: 1, seed: seed)
        try file.write(UnsafeRawBufferPointer(buffer), at: Int64(page * Format.pageSize))
        return reference
    }

    // MARK: The allocator

    /// Takes and returns runs: no page is handed out twice, and none that the map calls used.
    private static func use(_ allocator: PageAllocator, _ input: inout FuzzInput, _ pageCount: Int) {
        guard let before = try? allocator.snapshotForCheck() else { return }
        var mine: [Range<Int>] = []
        var taken = Set<Int>()
        for _ in 0..<(input.byte() % 16) {
            let pages = 1 + input.below(700)
            do {
                if input.byte() & 3 == 0, let run = mine.popLast() {
                    taken.subtract(run)
                    allocator.giveBack([Extent(run, birth: 2)])
                    continue
                }
                let largest = 1 + input.byte() % pages
                for run in try allocator.allocate(pages, largest: min(largest, pages)) {
                    mine.append(run)
                    for page in run {
                        fuzzExpect(taken.insert(page).inserted, "page \(page) is handed out twice")
                        fuzzExpect(page >= pageCount || before.free[page], "page \(page) was not free")
                    }
                }
            } catch {}
        }
        guard let after = try? allocator.snapshotForCheck() else { fatalError("broken: a map that was read") }
        for page in taken { fuzzExpect(!after.free[page], "page \(page) is handed out and free") }
    }

    static func seeds() -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for choice in 0..<2 as Range<UInt8> {
            let fill: [UInt8] = [3, 20, 0xFF, 9, 0x0F, 200, 0x11, 0]
            let root: [UInt8] = choice == 1 ? fill + [0] : []
            seeds.append([choice, 0, 40] + fill + root + [12] + (0..<60).map { UInt8($0 * 5 % 251) })
            seeds.append(
                [choice, 255, 60, 1, 255, 255, 1, 0, 7, 0] + root + [9] + (0..<40).map { UInt8($0 * 11 % 251) })
        }
        return seeds
    }
}
