import StrataFiles
import Testing

@testable import StrataStorage

/// Page allocation, compared with a model of every page.
@Suite struct SpaceTests {
    /// An allocator of pages in memory.
    struct Bench {
        let file: any File
        let allocator: PageAllocator

        init(growth: GrowthPolicy = .standard) throws {
            let files = MemoryFileSystem(capacity: 1 << 34)
            file = try files.open("file", .createNew)
            try file.truncate(to: Int64(Format.firstDataPage * Format.pageSize))
            allocator = PageAllocator(
                lock: SystemScheduling().makeMonitor("pages"),
                map: try PageMap(
                    file, reserve: 1 << 34, fileSystem: files, checks: .ofTrees, seed: NodeSeed(RandomID(1, 2))),
                file: file, growth: growth, pageCount: Format.firstDataPage, fileCapacity: Format.firstDataPage)
            try allocator.openMap(.null)
        }
    }

    @Test("no page is handed out twice, and none is lost", arguments: [1, 2, 3, 4] as [UInt64])
    func model(seed: UInt64) throws {
        let allocator = try Bench().allocator
        var random = SplitMix64(seed: seed)
        var owned: [Extent] = []
        var pages = Set<Int>()
        for round in 0..<3000 {
            // At times more pages than a region has.
            let largest = [1, 1, 1, 2, 5, 40, 700][Int(random.below(7))]
            let count = largest + Int(random.below(random.below(200) == 0 ? 40_000 : 300))
            if random.below(2) == 0 || owned.isEmpty {
                let runs = try allocator.allocate(count, largest: largest)
                #expect(runs.reduce(0) { $0 + max(0, $1.count - (largest - 1)) } >= count - (largest - 1))
                for run in runs {
                    #expect(run.count >= largest || run.count >= count, "seed \(seed) round \(round)")
                    for page in run where !pages.insert(page).inserted {
                        Issue.record("page \(page) twice, seed \(seed) round \(round)")
                    }
                    owned.append(Extent(run, birth: 1))
                }
            } else {
                let index = Int(random.below(UInt64(owned.count)))
                // Frees a part, so that holes have all sizes.
                let extent = owned.remove(at: index)
                let cut = extent.range.lowerBound + Int(random.below(UInt64(extent.pages) + 1))
                for part in [extent.range.lowerBound..<cut, cut..<extent.range.upperBound] where !part.isEmpty {
                    if random.below(3) == 0 {
                        owned.append(Extent(part, birth: 1))
                    } else {
                        allocator.giveBack([Extent(part, birth: 1)])
                        for page in part { pages.remove(page) }
                    }
                }
            }
            if round % 500 == 0 { try compare(allocator, pages) }
        }
        try compare(allocator, pages)
        #expect(allocator.space.regions.count > 1)
        // The end of the file is truncated, with its regions' nodes.
        allocator.giveBack(owned)
        for version in 1...20 {
            _ = try allocator.writeMap(UInt64(version)) { _, _ in }
        }
        try compare(allocator, [])
        #expect(allocator.counts.pages < 16, "seed \(seed): \(allocator.counts)")
        #expect(allocator.space.regions.count == 1)
    }

    private func compare(_ allocator: PageAllocator, _ pages: Set<Int>) throws {
        let (free, unreached, _, map, pageCount) = try allocator.snapshotForCheck()
        var own = Set(0..<Format.firstDataPage)
        for extent in map { own.formUnion(extent.range) }
        for page in 0..<pageCount {
            if free[page] == (pages.contains(page) || own.contains(page)) {
                Issue.record("page \(page): free \(free[page])")
                return
            }
            if unreached[page] == own.contains(page) {
                Issue.record("page \(page): unreached \(unreached[page])")
                return
            }
        }
        #expect(allocator.counts.free == free.count { $0 })
    }

    @Test("a file grows as its policy says")
    func growth() throws {
        let doubling = GrowthPolicy.doubling(upTo: 1 << 20, thenBy: 1 << 20)
        #expect(doubling.capacity(for: 3, current: 2) == 4)
        #expect(doubling.capacity(for: 257, current: 256) == 512)
        #expect(doubling.capacity(for: 513, current: 512) == 768)
        #expect(GrowthPolicy.fixed(1 << 20).capacity(for: 3, current: 2) == 258)
        #expect(GrowthPolicy.percent(50).capacity(for: 101, current: 100) == 150)
        // A file never grows to less than is needed, whatever the policy.
        #expect(GrowthPolicy.fixed(-5).capacity(for: 7, current: 2) == 7)
        #expect(GrowthPolicy.percent(0).capacity(for: 1000, current: 2) == 1000)
    }

    @Test("the free map of a file of several regions is read back as it was written")
    func manyRegions() throws {
        let fileSystem = CountingFileSystem(capacity: 1 << 32)
        var options = StoreOptions(fileSystem: fileSystem)
        options.mapReserve = 1 << 32
        var store = try Store.open(path: "store", options: options)
        try PlainTable.setUp(store)
        // Two long values of more than a region each, and one deleted again.
        for key in [1, 2, 3] as [Int64] {
            let transaction = try store.beginWrite()
            let bytes = [UInt8](repeating: UInt8(key), count: 70 << 20)
            try bytes.withUnsafeBytes { bytes in
                let cells: [Cell] = [.integer(key), .bytes(bytes)]
                try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
            }
            try transaction.commit()
        }
        try store.checkInvariants()
        try PlainTable.delete(store, [2])
        try store.checkInvariants()
        try store.close()
        store = try Store.open(path: "store", options: options)
        #expect(store.allocator.space.regions.isEmpty, "opening reads none of the map")
        try store.checkInvariants()
        #expect(try store.space().freeBytes > 60 << 20)
        try PlainTable.delete(store, [3])
        try store.close()
        store = try Store.open(path: "store", options: options)
        try store.checkInvariants()
        #expect(try store.space().fileBytes < 80 << 20)
        #expect(store.allocator.space.regions.count == 1)
        try store.close()
    }
}
