import Testing

@testable import StrataStorage

private struct Key: Hashable, Comparable {
    var high: Int64
    var low: Int64

    init(_ high: Int64, _ low: Int64) {
        self.high = high
        self.low = low
    }

    static func < (a: Key, b: Key) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

private struct Entry: Equatable {
    var key: Key
    var count: UInt32
}

/// A tree and its expected contents.
private struct Checked {
    var nodes = MemoryNodes()
    var root = NodeReference.null
    var model: [Key: UInt32] = [:]
    var limits: StoreLimits

    var expected: [Entry] { model.map { Entry(key: $0.key, count: $0.value) }.sorted { $0.key < $1.key } }

    mutating func apply(_ changes: [(Key, Int32)]) throws {
        var operations = changes.map { EntryOperation(high: $0.0.high, low: $0.0.low, delta: $0.1) }
        try EntryTree.apply(&operations, to: &root, table: 7, writing: nodes, limits: limits)
        for (key, delta) in changes {
            let count = Int64(model[key] ?? 0) + Int64(delta)
            model[key] = count == 0 ? nil : UInt32(truncatingIfNeeded: count)
        }
    }

    func entries(_ root: NodeReference, from: Key = Key(.min, .min), through: Key = Key(.max, .max)) throws -> [Entry] {
        var found: [Entry] = []
        try EntryTree.forEach(
            in: root, from: (from.high, from.low), through: (through.high, through.low), reading: nodes
        ) { high, low, count in
            found.append(Entry(key: Key(high, low), count: count))
            return true
        }
        return found
    }

    /// Checks entries and counts, and that exactly the tree's nodes are live.
    func check(_ note: String, location: SourceLocation = #_sourceLocation) throws {
        var reached: Set<UInt32> = []
        var isReachedTwice = false
        var found: [Entry] = []
        var largest = 0
        try EntryTree.walk(root, reading: nodes) { reference in
            if !reached.insert(reference.page).inserted { isReachedTwice = true }
            if let page = try? nodes.node(reference, .entryLeaf) {
                largest = max(largest, EntryLeaf(page).count)
            }
        } visitEntry: { high, low, count in
            found.append(Entry(key: Key(high, low), count: count))
        }
        let comment = Comment(rawValue: note)
        let expected = expected
        #expect(found == expected, comment, sourceLocation: location)
        #expect(try entries(root) == expected, comment, sourceLocation: location)
        #expect(!isReachedTwice, comment, sourceLocation: location)
        #expect(reached == nodes.live, comment, sourceLocation: location)
        #expect(nodes.faults.isEmpty, comment, sourceLocation: location)
        #expect(nodes.changedPages.isEmpty, comment, sourceLocation: location)
        #expect(largest <= max(limits.entries, 2), comment, sourceLocation: location)
        #expect(
            try EntryTree.totalEntries(in: root, reading: nodes) == UInt64(expected.count), comment,
            sourceLocation: location)
    }
}

@Suite struct EntryTreeTests {
    private static func nearest(to key: Key, in model: [Key: UInt32]) -> Key? {
        model.keys.min { a, b in
            let distances = ((a.low &- key.low).magnitude, (b.low &- key.low).magnitude)
            return distances.0 < distances.1 || (distances.0 == distances.1 && a < b)
        }
    }

    @Test("keys of texts have the order of their first eight bytes") func prefixes() {
        let texts = [
            "", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abcdefgi", "b", "zzzzzzzzz", "\u{e9}", "日本語日本語",
        ]
        let bytes = texts.map { Array($0.utf8) }
        let keys = bytes.map { $0.withUnsafeBytes { IndexKey.high($0, isHashed: false) } }
        for (a, one) in bytes.enumerated() {
            for (b, other) in bytes.enumerated() {
                let (first, second) = (one.prefix(8), other.prefix(8))
                #expect((keys[a] == keys[b]) == (Array(first) == Array(second)))
                #expect((keys[a] < keys[b]) == first.lexicographicallyPrecedes(second), "\(texts[a]), \(texts[b])")
            }
        }
    }

    @Test(
        "a random history equals a dictionary, and changes no older node",
        arguments: TestSettings.seeds(6, of: 24))
    func randomHistory(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var limits = StoreLimits.tiny
        if seed % 4 == 3 { limits = StoreLimits() }
        let highs: Int64 = seed % 3 == 0 ? 3 : 40
        let lows: Int64 = seed % 4 == 3 ? 400 : 30
        var tree = Checked(limits: limits)
        var older: [(NodeReference, [Entry])] = []
        for batch in 0..<150 {
            let size = Int.random(in: 1...(batch % 10 == 0 ? 300 : 12), using: &generator)
            // Waves: the tree grows, then shrinks.
            let growth = batch / 25 % 2 == 0 ? 3 : 1
            var changes: [(Key, Int32)] = []
            var pending = tree.model
            for _ in 0..<size {
                let isInsertion = Int.random(in: 0..<4, using: &generator) < growth
                var key = Key(.random(in: 0..<highs, using: &generator), .random(in: -lows..<lows, using: &generator))
                if Int.random(in: 0..<50, using: &generator) == 0 {
                    key = Key([Int64.min, .max, -1].randomElement(using: &generator) ?? 0, key.low &* 1 << 55)
                }
                if isInsertion {
                    let delta = Int32.random(in: 0..<8, using: &generator) == 0 ? 70_000 : Int32(1)
                    changes.append((key, delta))
                    pending[key, default: 0] += UInt32(delta)
                } else if let victim = Self.nearest(to: key, in: pending),
                    let count = pending[victim]
                {
                    let taken = Bool.random(using: &generator) ? count : 1
                    changes.append((victim, -Int32(taken)))
                    pending[victim] = count == taken ? nil : count - taken
                }
            }
            try tree.apply(changes)
            try tree.check("seed \(seed), batch \(batch)")
            if Bool.random(using: &generator) {
                tree.nodes.commit()
                older.append((tree.root, tree.expected))
            }
        }
        for (root, entries) in older { #expect(try tree.entries(root) == entries) }
        try tree.apply(tree.model.map { ($0.key, -Int32($0.value)) })
        #expect(tree.root.isNull)
        try tree.check("seed \(seed), all deleted")
        #expect(tree.nodes.live.isEmpty)
    }

    @Test("ranges, lookups and counts agree with a filtered array", arguments: [UInt64(1), 2])
    func ranges(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var tree = Checked(limits: seed == 1 ? .tiny : StoreLimits())
        let corners: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for high in corners { for low in corners { try tree.apply([(Key(high, low), 1)]) } }
        try tree.apply((0..<900).map { (Key($0 % 30, $0), Int32($0 % 3 + 1)) })
        try tree.check("corners")
        let all = tree.expected
        let points = corners + [5, 29, 30, 600]
        for _ in 0..<400 {
            let from = Key(points.randomElement(using: &generator) ?? 0, points.randomElement(using: &generator) ?? 0)
            let through = Key(
                points.randomElement(using: &generator) ?? 0, points.randomElement(using: &generator) ?? 0)
            let expected = all.filter { $0.key >= from && $0.key <= through }
            #expect(try tree.entries(tree.root, from: from, through: through) == expected)
            let count = try EntryTree.count(
                in: tree.root, from: (from.high, from.low), through: (through.high, through.low), reading: tree.nodes)
            #expect(count == UInt64(expected.count))
            let key = (high: from.high, low: from.low)
            #expect(try EntryTree.count(at: key, in: tree.root, reading: tree.nodes) == tree.model[from] ?? 0)
        }
        for high in points {
            var lows: [Int64] = []
            try EntryTree.lookup(high, in: tree.root, reading: tree.nodes) { low, _ in
                lows.append(low)
                return true
            }
            #expect(lows == all.filter { $0.key.high == high }.map(\.key.low))
            #expect(try EntryTree.count(of: high, in: tree.root, reading: tree.nodes) == UInt64(lows.count))
        }
    }

    @Test("the body can stop the iteration")
    func stopping() throws {
        var tree = Checked(limits: .tiny)
        try tree.apply((0..<100).map { (Key($0, 0), 1) })
        var seen = 0
        let ended = try EntryTree.forEach(in: tree.root, reading: tree.nodes) { _, _, _ in
            seen += 1
            return seen < 37
        }
        #expect(seen == 37)
        #expect(!ended)
    }

    @Test("an empty tree has no node, and operations that cancel out create none")
    func empty() throws {
        var tree = Checked(limits: .tiny)
        #expect(try tree.entries(.null).isEmpty)
        #expect(try EntryTree.count(of: 0, in: .null, reading: tree.nodes) == 0)
        #expect(try EntryTree.totalEntries(in: .null, reading: tree.nodes) == 0)
        try tree.apply([])
        try tree.apply([(Key(1, 1), 1), (Key(2, 2), 0), (Key(1, 1), -1)])
        #expect(tree.root.isNull)
        #expect(tree.nodes.made == 0)
    }

    @Test("removing more than the count throws corrupt and names the page", arguments: [1, 20])
    func missing(others: Int64) throws {
        for limits in [StoreLimits.tiny, StoreLimits()] {
            for change in [(Key(5, 5), Int32(-3)), (Key(5, 6), -1), (Key(.max, 0), -1)] {
                var tree = Checked(limits: limits)
                try tree.apply([(Key(5, 5), 2)] + (0..<200).map { (Key($0, 1000), 1) })
                let changes = [change] + (0..<others).map { (Key(5, 10 + $0), 1) }
                #expect {
                    try tree.apply(changes)
                } throws: { error in
                    guard case .corrupt(let page, 0, .structure) = error as? StorageError else { return false }
                    return page.rawValue > 0
                }
            }
        }
        var tree = Checked(limits: .tiny)
        #expect(throws: StorageError.corrupt(page: PageNumber(0), offset: 0, reason: .structure)) {
            try tree.apply([(Key(1, 1), -1)])
        }
    }

    @Test("a count up to 32 bits is kept, and one more is refused")
    func largeCounts() throws {
        var tree = Checked(limits: .tiny)
        try tree.apply([(Key(0, 0), .max)])
        try tree.apply([(Key(0, 0), .max), (Key(0, 1), 1)])
        try tree.apply([(Key(0, 0), 1)])
        #expect(tree.model[Key(0, 0)] == .max)
        try tree.check("largest count")
        #expect(throws: StorageError.limit(.valueSize)) { try tree.apply([(Key(0, 0), 1)]) }
        var other = Checked(limits: .tiny)
        #expect(throws: StorageError.limit(.valueSize)) { try other.apply([(Key(0, 0), .max), (Key(0, 0), 1)]) }
    }

    @Test("sorted operations and shuffled ones make the same tree", arguments: [3, 900, 5_000])
    func sorting(count: Int) throws {
        var generator = SplitMix64(seed: UInt64(count))
        let keys = (0..<count).map { _ in
            Key(Int64(bitPattern: generator.next()) >> (count % 40), .random(in: -70_000...70_000, using: &generator))
        }
        var changes = keys.map { ($0, Int32(1)) }
        var shuffled = Checked(limits: StoreLimits())
        try shuffled.apply(changes)
        try shuffled.check("shuffled")
        changes.sort { $0.0 < $1.0 }
        var sorted = Checked(limits: StoreLimits())
        try sorted.apply(changes)
        #expect(sorted.expected == shuffled.expected)
        #expect(
            sorted.nodes.live.sorted().map(sorted.nodes.bytes) == shuffled.nodes.live.sorted().map(shuffled.nodes.bytes)
        )
    }

    @Test("appended entries fill their leaves, in one batch and one by one")
    func appending() throws {
        var bulk = Checked(limits: StoreLimits())
        try bulk.apply((0..<50_000).map { (Key($0, $0), 1) })
        try bulk.check("bulk")
        let leaves = 50_000 / StoreLimits().entries
        #expect(bulk.nodes.live.count <= leaves + 3)
        var single = Checked(limits: .tiny)
        for i in 0..<400 { try single.apply([(Key(Int64(i), 0), 1)]) }
        try single.check("one by one")
        #expect(single.nodes.live.count <= 80 + 20 + 5 + 2 + 1 + 2)
    }

    @Test("a change of one entry copies one path only")
    func onePath() throws {
        var tree = Checked(limits: StoreLimits())
        try tree.apply((0..<100_000).map { (Key($0, 0), 1) })
        tree.nodes.commit()
        let made = tree.nodes.made
        try tree.apply([(Key(50_000, 1), 1)])
        // The leaf and the branch above were full: both split.
        #expect(tree.nodes.made - made <= 5)
        tree.nodes.commit()
        try tree.apply([(Key(50_000, 2), 1)])
        #expect(tree.nodes.made - made <= 5 + 3)
        try tree.check("insertion")
    }

    @Test("a leaf with any bit flipped is refused or stays readable", arguments: [0, 1, 2])
    func flippedLeaf(shape: Int) throws {
        var tree = Checked(limits: StoreLimits())
        switch shape {
        case 0: try tree.apply((0..<40).map { (Key($0 % 3, $0 * 3), Int32($0 + 1)) })
        case 1: try tree.apply((0..<40).map { (Key($0 << 40, $0 &* 0x1357_9BDF_0246), 70_000) })
        default: try tree.apply((0..<40).map { (Key(9, $0 * 2000), 1) })
        }
        let page = tree.root.page
        let node = try tree.nodes.node(tree.root, .entryLeaf)
        let leafSize = EntryLeaf(node).size
        var refused = 0
        for bit in (Format.nodeHeaderSize * 8)..<((EntryLeaf.columnsOffset + leafSize) * 8) {
            tree.nodes.flip(page, bit: bit)
            defer { tree.nodes.flip(page, bit: bit) }
            guard EntryLeaf.validate(node, bytes: Format.pageSize) else {
                refused += 1
                continue
            }
            let leaf = EntryLeaf(node)
            #expect(leaf.counts + leaf.count * leaf.countWidth <= node + Format.pageSize)
            let found = try tree.entries(tree.root)
            #expect(found.count == leaf.count)
            #expect(zip(found, found.dropFirst()).allSatisfy { $0.key < $1.key })
            #expect(found.allSatisfy { $0.count >= 1 })
        }
        #expect(refused > 0)
        try tree.check("bits flipped back")
    }

    @Test("a branch with any bit flipped is refused or throws, and never reads elsewhere")
    func flippedBranch() throws {
        var tree = Checked(limits: .tiny)
        try tree.apply((0..<60).map { (Key($0 * 7, $0), 1) })
        tree.nodes.commit()
        let page = tree.root.page
        let expected = tree.expected
        for bit in (Format.nodeHeaderSize * 8)..<(Format.pageSize * 8) {
            tree.nodes.flip(page, bit: bit)
            defer { tree.nodes.flip(page, bit: bit) }
            var found = 0
            do {
                try EntryTree.walk(tree.root, reading: tree.nodes, visitNode: { _ in }) { _, _, _ in found += 1 }
                #expect(found == expected.count)
                #expect(try tree.entries(tree.root).count == expected.count)
            } catch StorageError.corrupt {
                _ = try? tree.entries(tree.root)
            }
        }
        try tree.check("bits flipped back")
    }

    @Test("the layouts of leaf and branch are the documented ones")
    func layouts() throws {
        var tree = Checked(limits: .tiny)
        try tree.apply([(Key(-2, 300), 1), (Key(-1, 4), 3)])
        let leaf = Array(tree.nodes.bytes(tree.root.page)[24..<57])
        let base: [UInt8] = [254, 255, 255, 255, 255, 255, 255, 255, 4, 0, 0, 0, 0, 0, 0, 0]
        #expect(leaf == [2, 0, 1, 2, 1, 0, 0, 0] + base + [0, 1, 40, 1, 0, 0, 0, 2, 0])
        try tree.apply((0..<6).map { (Key($0, 9), 1) })
        let branch = tree.nodes.bytes(tree.root.page)
        let bytes = branch.withUnsafeBytes { buffer in
            buffer.baseAddress.map { ($0.u16(24), $0.u8(26), $0.i64(32), $0.i64(704), $0.u64(1376), $0.u8(2048 + 6)) }
        }
        let values = try #require(bytes)
        #expect(values.0 == 2 && values.1 == 1 && values.2 == -2 && values.3 == 300)
        #expect(values.4 >= 1 && values.5 == Int(NodeKind.entryLeaf.rawValue))
    }
}
