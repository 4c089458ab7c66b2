import Testing

@testable import StrataStorage

/// The decisions of a checkpoint and an online compaction, without a disk.
@Suite struct CheckpointDecisionTests {
    @Test("pages that are written again count once")
    func countedOnce() {
        var dirty = DirtyPages()
        for _ in 0..<100 { dirty.insert(7..<10) }
        dirty.insert(9..<12)
        #expect(dirty.count == 5)
        #expect(dirty.takeRuns() == [7..<12])
        #expect(dirty.count == 0)
        #expect(dirty.takeRuns() == [])
    }

    @Test("runs end where chunks do, and have no page between those inserted")
    func runsOfPages() {
        var dirty = DirtyPages()
        // Pages far apart, pages across the border of a chunk, and a page exactly at a border.
        dirty.insert(1_000_000..<1_000_001)
        dirty.insert(510..<515)
        dirty.insert(1024..<1025)
        dirty.insert(2..<3)
        #expect(dirty.count == 8)
        #expect(dirty.takeRuns() == [2..<512, 512..<515, 1024..<1025, 1_000_000..<1_000_001])
    }

    @Test("a page counts as it does in a set, and lies in a run")
    func countsAsASet() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<50 {
            var dirty = DirtyPages()
            var expected: Set<Int> = []
            for _ in 0..<40 {
                let start = Int(random.next() % 6000)
                let run = start..<(start + 1 + Int(random.next() % 700))
                dirty.insert(run)
                expected.formUnion(run)
            }
            #expect(dirty.count == expected.count)
            let chunks = Set(expected.map { $0 / DirtyPages.chunkPages })
            let runs = dirty.takeRuns()
            #expect(runs.map { $0.lowerBound / DirtyPages.chunkPages } == chunks.sorted())
            for run in runs {
                #expect(expected.contains(run.lowerBound) && expected.contains(run.upperBound - 1))
                #expect(run.lowerBound / DirtyPages.chunkPages == (run.upperBound - 1) / DirtyPages.chunkPages)
            }
            #expect(expected.allSatisfy { page in runs.contains { $0.contains(page) } })
        }
    }

    @Test("a checkpoint never writes the slot in force")
    func slotInForce() {
        var checkpointer = Checkpointer(slot: HeaderSlot(storeID: RandomID(1, 2)), index: 1, writtenEnd: 2)
        var version = VersionState.empty
        version.version = 5
        checkpointer.noteWritten(4..<6)
        let first = checkpointer.plan(version, map: .null, pageCount: 6, then: .log(segment: 1, reach: 0))
        #expect(first.slotIndex == 0 && first.previous == 0 && first.dirty == [4..<6])
        #expect(first.slot.logRequired && first.slot.logHalf == 1)
        let answers = (0..<2).map { _ in checkpointer.takesFreedSegment() }
        #expect(answers == [true, false], "once for each checkpoint")
        version.version = 9
        let second = checkpointer.plan(version, map: .null, pageCount: 6, then: .clean)
        #expect(second.slotIndex == 1 && second.previous == 5 && second.dirty.isEmpty)
        #expect(second.slot.sequence == first.slot.sequence + 1 && second.slot.isClean)
        let (slot, index) = checkpointer.successor(second.slot)
        #expect(index == 0 && slot.sequence == second.slot.sequence + 1)
    }

    /// A compaction that requires a quarter of free pages, whose first pass starts after three commits.
    private func begun() -> OnlineCompaction {
        var compaction = OnlineCompaction(share: 0.25, minimum: 32, interval: 100)
        let begins = [
            OnlineCompaction.Space(pages: 1000, free: 100, held: 100),
            OnlineCompaction.Space(pages: 1000, free: 100, held: 300),
            OnlineCompaction.Space(pages: 1000, free: 900, held: 0),
        ].map { compaction.begins(afterCommits: 3, $0) }
        #expect(begins == [false, true, false], "too little to win; enough; one at a time")
        return compaction
    }

    @Test("a pass of a compaction goes through its steps")
    func stepsOfAPass() {
        var compaction = begun()
        var now = OnlineCompaction.Situation(definitions: VersionState.empty.definitions)
        var names: [String] = []
        func step(free: Int = 100, isCheckpointing: Bool = false, undurable: UInt64? = nil) {
            now.space = .init(pages: 1000, free: free, held: 400 - free)
            now.isCheckpointing = isCheckpointing
            now.undurable = undurable
            names.append(compaction.step(now).name)
        }
        step(isCheckpointing: true)
        step(undurable: 8)
        step()
        step(free: 400)
        #expect(compaction.limit == 650)
        step(isCheckpointing: true, undurable: 9)
        compaction.hasMoved(to: CompactionCursor(table: 2))
        step()
        compaction.hasMoved(to: nil)
        for _ in 0..<3 { step() }
        let goesOn = [5000, 3976, 3900].map { compaction.hasCut(to: $0) }
        compaction.end()
        step()
        let expected = [
            "nothing", "wait 8", "checkpoint", "nothing", "move 0 below 650", "move 2 below 650", "checkpoint",
            "checkpoint", "cut", "finish",
        ]
        #expect(names == expected)
        #expect(goesOn == [true, true, false])
        #expect(compaction.limit == nil)
        #expect(!compaction.mayBegin(afterCommits: 102) && compaction.mayBegin(afterCommits: 103))
    }

    @Test("a compaction ends with the schema, and is forgotten with the owner")
    func endOfACompaction() {
        var compaction = begun()
        let space = OnlineCompaction.Space(pages: 1000, free: 900, held: 0)
        var now = OnlineCompaction.Situation(space: space, definitions: VersionState.empty.definitions)
        var names = (0..<2).map { _ in compaction.step(now).name }
        now.definitions = SchemaDefinitions(StoreSchema())
        names.append(compaction.step(now).name)
        #expect(names == ["nothing", "nothing", "finish"])
        compaction.forget()
        #expect(!compaction.mayBegin(afterCommits: 0), "its last step is still to come")
        let last = compaction.step(now).name
        #expect(last == "finish")
        compaction.end()
        #expect(compaction.mayBegin(afterCommits: 0))
        #expect(!OnlineCompaction(share: nil, minimum: 1, interval: 1).mayBegin(afterCommits: 9))
    }
}

extension OnlineCompaction.Step {
    fileprivate var name: String {
        switch self {
        case .nothing: "nothing"
        case .waitUntilDurable(let version): "wait \(version)"
        case .checkpoint: "checkpoint"
        case .move(let cursor, let limit): "move \(cursor.table) below \(limit)"
        case .cut: "cut"
        case .finish: "finish"
        }
    }
}
