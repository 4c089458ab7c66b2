import Testing

@testable import StrataStorage

/// The contents of collections in random histories.
struct CollectionCase: CustomTestStringConvertible, Sendable {
    enum Contents: String, CaseIterable, Sendable {
        case numbers, wide, optional, doubles, text, fixed, keyed
    }

    var contents: Contents
    var form: CollectionForm
    var isTiny: Bool

    static let all: [CollectionCase] = [true, false].flatMap { isTiny in
        Contents.allCases.flatMap { contents -> [CollectionCase] in
            if contents == .keyed { return [CollectionCase(contents: contents, form: .map, isTiny: isTiny)] }
            return [CollectionForm.list, .set].map { CollectionCase(contents: contents, form: $0, isTiny: isTiny) }
        }
    }

    var testDescription: String { "\(form) of \(contents.rawValue), \(isTiny ? "tiny" : "usual") limits" }
    var limits: StoreLimits { isTiny ? .tiny : StoreLimits() }

    var kind: SegmentKind {
        switch contents {
        case .numbers, .wide, .optional: .integer
        case .doubles: .double
        case .text, .fixed, .keyed: .bytes
        }
    }

    func value(_ random: inout SplitMix64) -> CollectionValue {
        switch contents {
        case .numbers: return .integer(.random(in: -1000...100_000, using: &random))
        case .wide:
            let widths: [Int64] = [1 << 7, 1 << 7, 1 << 15, 1 << 31, .max]
            let most = widths.randomElement(using: &random) ?? 1
            return .integer(.random(in: -most...most, using: &random))
        case .optional: return random.below(4) == 0 ? .null : .integer(.random(in: 0...300, using: &random))
        case .doubles: return .double(Double(Int64.random(in: -90_000...90_000, using: &random)) / 8)
        case .fixed: return .bytes((0..<16).map { $0 < 9 ? 7 : UInt8(truncatingIfNeeded: random.next()) })
        case .text, .keyed: return Self.text(&random, longest: isTiny ? 60 : 300)
        }
    }

    /// Texts, many with a common prefix, some empty and some in their own nodes.
    private static func text(_ random: inout SplitMix64, longest: Int) -> CollectionValue {
        let isLong = random.below(200) == 0
        let count = isLong ? 2_100 + Int(random.below(3_000)) : Int(random.below(UInt64(longest)))
        let start = random.below(2) == 0 ? Array("https://example.org/".utf8) : []
        return .bytes(Array((start + (0..<count).map { _ in UInt8(97 + random.below(26)) }).prefix(max(count, 3))))
    }

    func pair(_ random: inout SplitMix64) -> CollectionPair {
        let value = contents == .keyed && random.below(9) == 0 ? CollectionValue.null : value(&random)
        return CollectionPair(key: form == .map ? Self.text(&random, longest: 40) : .null, value: value)
    }
}

extension CheckedCollection {
    init(_ example: CollectionCase) throws { try self.init(example.form, example.kind, example.limits) }

    /// Inserts random elements: into a list at one random place, into a set or a map at the place of each. For a key
    /// that a map has, the value is set; a member that a set has is skipped.
    mutating func insertAny(_ example: CollectionCase, _ count: Int, _ random: inout SplitMix64) throws {
        if shape.form == .list {
            let edges = [
                0, model.count, min(model.count, Int(random.below(8))), Int.random(in: 0...model.count, using: &random),
            ]
            let place = edges.randomElement(using: &random) ?? 0
            try insert((0..<count).map { _ in example.pair(&random) }, at: place)
            return
        }
        for _ in 0..<count {
            let pair = example.pair(&random)
            let place = try find(ordered(pair))
            #expect(place == model.firstIndex { !CollectionValue.precedes(ordered($0), ordered(pair)) } ?? model.count)
            if place < model.count, ordered(model[place]) == ordered(pair) {
                if shape.form == .map { try set([pair], at: place) }
            } else {
                try insert([pair], at: place)
            }
        }
    }

    func check(_ note: String, location: SourceLocation = #_sourceLocation) throws {
        let comment = Comment(rawValue: note)
        let found = try walk()
        #expect(editor.count == model.count, comment, sourceLocation: location)
        #expect(
            try CollectionTree.count(editor.root, shape, reading: nodes) == model.count, comment,
            sourceLocation: location)
        let isRight = try pairs(editor.root) == model
        #expect(isRight, comment, sourceLocation: location)
        #expect(found.pages == nodes.live, comment, sourceLocation: location)
        #expect(found.shared == 0, comment, sourceLocation: location)
        #expect(nodes.faults.isEmpty, comment, sourceLocation: location)
        #expect(found.leaves.allSatisfy { $0 <= limits.elements }, comment, sourceLocation: location)
        #expect(editor.root.isNull == model.isEmpty, comment, sourceLocation: location)
    }
}

@Suite struct CollectionTreeTests {
    /// To repeat one, leave only its case and seed in `arguments`.
    @Test(
        "a random history equals an array, and changes no older node", arguments: CollectionCase.all,
        TestSettings.seeds(1, of: 4))
    func randomHistory(_ example: CollectionCase, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var tree = try CheckedCollection(example)
        var twin = try CheckedCollection(example)
        twin.isForgetful = true
        var older: [(NodeReference, [CollectionPair])] = []
        let steps = example.isTiny ? 160 : 90
        for step in 0..<steps {
            // Waves: the tree grows, then shrinks.
            let growth: UInt64 = step / 30 % 2 == 0 ? 6 : 2
            var repeated = random
            try Self.change(&tree, example, growth, &random)
            try Self.change(&twin, example, growth, &repeated)
            let note = "\(example.testDescription), seed \(seed), step \(step)"
            try tree.check(note)
            let leaves = try tree.walk().leaves
            #expect(try twin.walk().leaves == leaves, "leaves with and without a path: \(note)")
            if !tree.model.isEmpty {
                let place = Int.random(in: 0..<tree.model.count, using: &random)
                let run = try CollectionTree.run(at: place, in: tree.editor.root, tree.shape, reading: tree.nodes)
                #expect(try tree.pairs(run)[place - run.first] == tree.model[place], Comment(rawValue: note))
            }
            if random.below(3) == 0 {
                tree.editor.forgetPath()
                tree.nodes.commit()
                older.append((tree.editor.root, tree.model))
            }
        }
        #expect(tree.nodes.changedPages.isEmpty)
        for (root, model) in older.suffix(40) {
            let isRight = try tree.pairs(root) == model
            #expect(isRight, "an older version")
        }
        if random.below(2) == 0 { try tree.clear() } else { try tree.remove(0..<tree.model.count) }
        try tree.check("emptied")
        #expect(tree.nodes.live.isEmpty)
    }

    private static func change(
        _ tree: inout CheckedCollection, _ example: CollectionCase, _ growth: UInt64, _ random: inout SplitMix64
    ) throws {
        let size = example.isTiny ? 12 : 700
        if random.below(8) < growth || tree.model.isEmpty {
            let count = random.below(3) == 0 ? 1 + Int(random.below(UInt64(size))) : 1 + Int(random.below(4))
            try tree.insertAny(example, tree.shape.form == .list ? count : min(count, 60), &random)
            return
        }
        let start = Int.random(in: 0..<tree.model.count, using: &random)
        let isLarge = random.below(6) == 0
        let end = min(tree.model.count, start + 1 + Int(random.below(isLarge ? UInt64(4 * size) : 3)))
        switch random.below(tree.shape.form == .list ? 4 : 2) {
        case 0 where tree.shape.form == .map, 2:
            try tree.set((start..<end).map { _ in example.pair(&random) }, at: start)
        case 3:
            try tree.move(start..<end, to: Int.random(in: 0...(tree.model.count - (end - start)), using: &random))
        default: try tree.remove(start..<end)
        }
    }

    // MARK: Shape

    @Test("appends, prepends and bulk builds leave full leaves", arguments: [Int64(20), 40])
    func fullLeaves(bits: Int64) throws {
        let most = Int64(1) << bits
        for way in ["append", "prepend", "build", "pieces"] {
            var random = SplitMix64(seed: 5)
            let tree = try CheckedCollection(.list, .integer, StoreLimits())
            tree.nodes.verifies = false
            let values = (0..<30_000).map { _ in
                CollectionPair(value: .integer(.random(in: 0..<most, using: &random)))
            }
            switch way {
            case "append", "prepend":
                for (index, pair) in values.enumerated() {
                    try pair.value.withCell { try tree.editor.insert($0, at: way == "append" ? index : 0) }
                }
            case "build": try tree.editor.insert(tree.elements(values), at: 0)
            default:
                for start in stride(from: 0, to: values.count, by: 777) {
                    let part = Array(values[start..<min(start + 777, values.count)])
                    try tree.editor.insert(tree.elements(part), at: start)
                }
            }
            let found = try tree.walk()
            // One leaf is not full yet, and is not counted.
            let full = 100 * Double(found.used) / Double((found.leaves.count - 1) * CollectionLeaf.capacity)
            #expect(full >= 99, "\(way) of \(bits) bits: \(found.fill) %")
            #expect(found.leaves.count <= 30_000 / (bits == 20 ? 1_010 : 505) + 1, "\(way) of \(bits) bits")
        }
    }

    @Test("random inserts leave leaves that are three quarters full", arguments: [true, false])
    func randomInserts(isText: Bool) throws {
        var random = SplitMix64(seed: 9)
        let tree = try CheckedCollection(.list, isText ? .bytes : .integer, StoreLimits())
        tree.nodes.verifies = false
        for count in 0..<60_000 {
            let value: CollectionValue =
                isText
                ? .bytes((0..<(4 + Int(random.below(20)))).map { _ in UInt8(97 + random.below(26)) })
                : .integer(.random(in: 0..<1 << 40, using: &random))
            try value.withCell { try tree.editor.insert($0, at: Int.random(in: 0...count, using: &random)) }
        }
        let found = try tree.walk()
        #expect(found.fill >= 75, "\(found.fill) %")
        #expect(found.height == 1 + (found.leaves.count > 101 ? 1 : 0))
    }

    @Test("a change of one element writes a leaf and the branches above it")
    func nodesPerChange() throws {
        var random = SplitMix64(seed: 3)
        let tree = try CheckedCollection(.list, .integer, StoreLimits())
        tree.nodes.verifies = false
        let values = (0..<120_000).map { CollectionPair(value: .integer(Int64($0) << 20)) }
        try tree.editor.insert(tree.elements(values), at: 0)
        // Leaves partly full, as after many changes.
        for _ in 0..<30_000 {
            try tree.editor.insert(.integer(1 << 40), at: .random(in: 0...tree.editor.count, using: &random))
        }
        let height = try tree.walk().height
        #expect(height == 2)
        var more = 0
        for step in 0..<600 {
            tree.editor.forgetPath()
            tree.nodes.commit()
            let before = tree.nodes.made
            let place = Int.random(in: 0..<tree.editor.count, using: &random)
            switch step % 3 {
            case 0: try tree.editor.set(.integer(1 << 41), at: place)
            case 1: try tree.editor.remove(place..<(place + 1))
            default: try tree.editor.insert(.integer(1 << 42), at: place)
            }
            let made = tree.nodes.made - before
            if made > 1 + height {
                more += 1
                #expect(step % 3 == 2 && made <= 3 + height, "\(made) nodes for one change")
            }
        }
        #expect(more < 20, "\(more) of 200 inserts cut a leaf or evened it out")
    }

    @Test("places out of range are refused, and nothing changes")
    func noSuchPlace() throws {
        var tree = try CheckedCollection(.list, .integer, .tiny)
        try tree.insert((0..<20).map { CollectionPair(value: .integer($0)) }, at: 0)
        let five = tree.elements((0..<5).map { CollectionPair(value: .integer($0)) })
        let refused = StorageError.misuse(.noSuchPlace)
        #expect(throws: refused) { try tree.editor.insert(five, at: 21) }
        #expect(throws: refused) { try tree.editor.insert(five, at: -1) }
        #expect(throws: refused) { try tree.editor.set(five, at: 16) }
        #expect(throws: refused) { try tree.editor.remove(15..<21) }
        #expect(throws: refused) { try tree.editor.move(0..<5, to: 16) }
        for place in [-1, 20] {
            #expect(throws: refused) {
                try CollectionTree.run(at: place, in: tree.editor.root, tree.shape, reading: tree.nodes)
            }
        }
        try tree.check("after refusals")
    }
}
