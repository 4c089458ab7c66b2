import Testing

@testable import StrataStorage

@Suite struct CollectionDamageTests {
    /// A tree of three levels that belongs to an older version.
    private static func tree(_ example: CollectionCase, seed: UInt64) throws -> CheckedCollection {
        var random = SplitMix64(seed: seed)
        var tree = try CheckedCollection(example)
        while tree.model.count < 60 { try tree.insertAny(example, 5, &random) }
        tree.editor.forgetPath()
        tree.nodes.commit()
        return tree
    }

    @Test("with any bit of a node flipped, reading and changing give the right elements or an error")
    func flips() throws {
        for (number, example) in CollectionCase.all.enumerated() where example.isTiny {
            let seed = UInt64(number)
            var random = SplitMix64(seed: seed)
            let sound = try Self.tree(example, seed: seed)
            let pages = sound.nodes.live.sorted()
            for _ in 0..<120 {
                let tree = try Self.tree(example, seed: seed)
                let page = pages[Int(random.below(UInt64(pages.count)))]
                let bit = 8 * Format.nodeHeaderSize + Int(random.below(UInt64(8 * (Format.pageSize - 24))))
                // Half of the flipped bits are in the header and the counts.
                tree.nodes.flip(page, bit: random.below(2) == 0 ? bit : 8 * Format.nodeHeaderSize + bit % 600)
                _ = try? tree.walk()
                _ = try? tree.pairs(tree.editor.root)
                for place in stride(from: 0, to: 60, by: 7) {
                    _ = try? CollectionTree.run(at: place, in: tree.editor.root, tree.shape, reading: tree.nodes)
                    _ = try? tree.find(tree.ordered(tree.model[place]))
                }
                let pair = example.pair(&random)
                _ = try? tree.editor.insert(tree.elements([pair]), at: Int(random.below(60)))
                _ = try? tree.editor.remove(10..<40)
                _ = try? tree.editor.clear()
            }
        }
    }

    @Test("randomly changed nodes are refused, or read and edited without a trap")
    func changedBytes() throws {
        var random = SplitMix64(seed: 11)
        for seed in try NodeFuzzing.collectionSeeds() {
            for _ in 0..<60 {
                var input = seed
                for _ in 0...random.below(3) {
                    // Three of four changes hit the headers of nodes and of segments.
                    let most = random.below(4) == 0 ? input.count : 60
                    let place = 2 + Int(random.below(UInt64(most - 2)))
                    let edges: [UInt8] = [0, 1, 255, UInt8(truncatingIfNeeded: random.next())]
                    input[place] = edges.randomElement(using: &random) ?? 0
                }
                input.withUnsafeBytes { FuzzTarget.node.run($0) }
            }
        }
    }

    @Test("a walk refuses well-formed nodes with wrong contents")
    func wrongContents() throws {
        let example = CollectionCase(contents: .numbers, form: .set, isTiny: true)
        typealias Change = (UnsafeMutableRawPointer) -> Void
        let leafChanges: [(String, Change)] = [
            ("a leaf of another row", { $0.putI64(CollectionLeaf.Field.owner, 5) }),
            ("a leaf of another column", { $0.put16(CollectionLeaf.Field.column, 5) }),
            ("a leaf with other bytes behind it", { $0.put8(Format.pageSize - 1, 1) }),
            ("a leaf that does not ascend", { $0.putI64(48, -1 << 40) }),
        ]
        let branchChanges: [(String, Change)] = [
            ("a branch of another row", { $0.putI64(CollectionBranch.ownerOffset, 5) }),
            ("a branch of another column", { $0.put16(30, 5) }),
            ("a branch that counts wrong", { CollectionBranch.add(1, $0, 0) }),
            ("a branch of another level", { $0.put16(26, 3) }),
            ("a branch with a wrong key", { CollectionBranch.setKey($0, 0, -1 << 60) }),
            (
                "a branch with one child twice",
                {
                    let second = CollectionBranch(UnsafeRawPointer($0)).entry(1)
                    CollectionBranch.set($0, 0, second)
                }
            ),
        ]
        let all =
            leafChanges.map { ($0, NodeKind.collectionLeaf) } + branchChanges.map { ($0, NodeKind.collectionBranch) }
        for ((name, change), kind) in all {
            let tree = try Self.tree(example, seed: 4)
            _ = try tree.walk()
            let page = try #require(tree.nodes.live.sorted().first { tree.nodes.kind($0) == kind })
            tree.nodes.edit(page, change)
            #expect(throws: StorageError.self, Comment(rawValue: name)) { try tree.walk() }
        }
    }

    @Test("malformed nodes of each kind are refused")
    func crafted() throws {
        let example = CollectionCase(contents: .keyed, form: .map, isTiny: true)
        typealias Change = (UnsafeMutableRawPointer) -> Void
        let leafChanges: [(String, Change)] = [
            ("no elements", { $0.put16(CollectionLeaf.Field.count, 0) }),
            ("more elements than rows", { $0.put16(CollectionLeaf.Field.count, 4_000) }),
            ("another form", { $0.put8(CollectionLeaf.Field.form, 3) }),
            ("a set, so that the keys are the elements", { $0.put8(CollectionLeaf.Field.form, 1) }),
            ("flags of trees without any", { $0.put8(CollectionLeaf.Field.flags, 2) }),
            ("more bytes in use", { $0.put16(CollectionLeaf.Field.used, 4_096) }),
            ("null keys", { $0.put8(CollectionLeaf.segmentOffset + 1, Segment.hasNulls) }),
            ("keys that are numbers", { $0.put8(CollectionLeaf.segmentOffset, 1) }),
            ("more keys than values", { $0.put16(CollectionLeaf.segmentOffset + 2, 6) }),
        ]
        let branchChanges: [(String, Change)] = [
            ("no children", { $0.put16(24, 0) }),
            ("too many children", { $0.put16(24, 102) }),
            ("level 0", { $0.put16(26, 0) }),
            ("level 13", { $0.put16(26, 13) }),
            ("another form", { $0.put8(28, 3) }),
            ("an unknown flag", { $0.put8(29, 16) }),
            ("a child without elements", { $0.put64(CollectionBranch.countsOffset, 0) }),
            ("a child with too many elements", { $0.put64(CollectionBranch.countsOffset, 1 << 49) }),
            ("keys that descend", { CollectionBranch.setKey($0, 0, .max) }),
            ("a null reference", { CollectionBranch.setReference($0, 0, .null) }),
            ("a list with keys", { $0.put8(28, 0) }),
        ]
        let tree = try Self.tree(example, seed: 6)
        let all =
            leafChanges.map { ($0, NodeKind.collectionLeaf) } + branchChanges.map { ($0, NodeKind.collectionBranch) }
        for ((name, change), kind) in all {
            let page = try #require(tree.nodes.live.sorted().first { tree.nodes.kind($0) == kind })
            var bytes = tree.nodes.bytes(page)
            try bytes.withUnsafeMutableBytes { buffer in
                let node = try #require(buffer.baseAddress)
                let isSound = NodeChecks.ofTrees.isWellFormed(node, kind, Format.pageSize)
                #expect(isSound)
                change(node)
                let isBelieved = NodeChecks.ofTrees.isWellFormed(node, kind, Format.pageSize)
                #expect(!isBelieved, Comment(rawValue: name))
            }
        }
    }

    @Test("a child with fewer elements than its parent counts is refused before an access past its end")
    func fewerElements() throws {
        let tree = try CheckedCollection(.list, .integer, .tiny)
        let ten = tree.elements((0..<10).map { CollectionPair(value: .integer($0)) })
        try tree.editor.insert(ten, at: 0)
        tree.nodes.edit(tree.editor.root.page) { CollectionBranch.add(4, $0, 0) }
        let two = tree.elements((0..<2).map { CollectionPair(value: .integer($0)) })
        for change in [false, true] {
            let editor = try CollectionEditor(tree.editor.root, tree.shape, writing: tree.nodes, limits: .tiny)
            let error = #expect(throws: StorageError.self) {
                if change { try editor.remove(7..<8) } else { try editor.insert(two, at: 8) }
            }
            #expect(error?.isDamage == true)
        }
    }

    @Test("a change of a leaf that no encoding fits is refused")
    func fullToTheLastByte() throws {
        let tree = try CheckedCollection(.map, .integer, StoreLimits())
        let key = CollectionValue.bytes([UInt8](repeating: 7, count: 4_032))
        let elements = tree.elements([CollectionPair(key: key, value: .integer(5))])
        let (reference, node) = try tree.nodes.makeNode(.collectionLeaf, pages: 1, table: 7)
        #expect(CollectionLeaf.encode(elements, in: 0..<1, frame: .tight, shape: tree.shape, into: node))
        #expect(CollectionLeaf(node).used == Format.pageSize)
        let editor = try CollectionEditor(reference, tree.shape, writing: tree.nodes, limits: StoreLimits())
        let error = #expect(throws: StorageError.self) { try editor.set(.integer(70_000), at: 0) }
        #expect(error?.isDamage == true)
    }

    @Test("leaves and branches have the documented layout")
    func layout() throws {
        var tree = try CheckedCollection(.list, .integer, StoreLimits())
        try tree.insert((0..<600).map { CollectionPair(value: .integer(Int64($0) << 33)) }, at: 0)
        let root = try tree.nodes.node(tree.editor.root, .collectionBranch)
        #expect(root.u32(4) == 7)
        #expect([root.u16(24), root.u16(26), root.u8(28), root.u8(29), root.u16(30)] == [2, 1, 0, 0, 3])
        #expect([root.i64(32), root.i64(840), root.i64(848), root.i64(4_072)] == [0, 505, 95, 99])
        #expect(root.u8(1_648 + 6) == 11)
        let leaf = try tree.nodes.node(CollectionBranch(root).reference(0), .collectionLeaf)
        #expect([leaf.u16(24), leaf.u8(26), leaf.u8(27), leaf.u16(28), leaf.u16(30)] == [505, 0, 0, 3, 4_096])
        #expect(leaf.i64(32) == 99)
        #expect(leaf.u8(40) == 1)
    }
}
