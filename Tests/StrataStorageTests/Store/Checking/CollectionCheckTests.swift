import StrataFiles
import Testing

@testable import StrataStorage

/// The rules 13 to 21 of docs/file-format.md, each broken in a file whose checksums are right.
@Suite struct CollectionCheckTests {
    typealias Case = StoreCheckTests.Case

    private static let column = (numbers: 1, names: 2, members: 5, words: 6, ages: 7, friends: 8)

    /// One row with large collections of each form, and one with small ones.
    static func make() throws -> CraftedFile {
        let disk = FileImages.Disk()
        let store = try FileImages.open(disk)
        var history = CollectionHistory(seed: 9)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for target in 1...4 as ClosedRange<Int64> {
            try StoreHistory.withCells([.integer(target)]) {
                try transaction.insert(CollectionHistory.targets, key: RowKey(target), $0)
            }
            history.model.targets.insert(target)
        }
        for key in 1...2 as ClosedRange<Int64> {
            history.longest = 1
            try history.insertRow(transaction, key)
        }
        func integers(_ values: [Int64]) -> [CollectionPair] { values.map { CollectionPair(value: .integer($0)) } }
        func text(_ number: Int, _ length: Int) -> CollectionValue {
            .bytes((0..<length).map { _ in UInt8(97 + number) })
        }
        try history.set(transaction, 1, column.numbers, integers((0..<40).map { $0 % 7 }))
        try history.set(
            transaction, 1, column.names, (0..<16).map { CollectionPair(value: $0 % 5 == 0 ? .null : text($0, 90)) })
        try history.set(transaction, 1, column.members, integers((0..<40).map { 3 * $0 }))
        try history.set(transaction, 1, column.words, (0..<20).map { CollectionPair(value: text($0, 3)) })
        try history.set(
            transaction, 1, column.ages, (0..<20).map { CollectionPair(key: text($0, 2), value: .integer(Int64($0))) })
        try history.set(transaction, 1, column.friends, integers((0..<60).map { 1 + $0 % 4 }))
        try history.set(transaction, 2, column.words, (0..<20).map { CollectionPair(value: text($0, 4)) })
        try history.set(transaction, 2, column.members, integers([81, 82, 83]))
        try history.set(transaction, 2, column.numbers, integers([91, 92, 91]))
        try transaction.commit()
        try store.checkInvariants()
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.close()
        return CraftedFile(try disk.bytes(FileImages.path) ?? [])
    }

    @Test("an undamaged store with collections is sound") func sound() throws {
        let file = try Self.make()
        #expect(file.finding() == nil)
        for column in [1, 2, 5, 6, 7, 8] { #expect(Self.root(file, column) != nil, "column \(column) is no tree") }
    }

    @Test("the check finds a violation of each rule for collections", arguments: cells + nodes + elements)
    func broken(_ one: Case) throws {
        var file = try Self.make()
        try #require(one.craft(&file), "nothing to break")
        let finding = file.finding()
        #expect(finding?.contains(one.expected) == true, "\(finding ?? "sound")")
    }

    // MARK: Finding nodes

    private static func id(_ column: Int) -> Int {
        Int(CollectionHistory.schema.tables[CollectionHistory.owners].columns[column].id.rawValue)
    }

    private static func branch(_ file: CraftedFile, _ column: Int, level: Int = 1) -> Int? {
        file.node(.collectionBranch) {
            CollectionBranch($0).column == id(column) && CollectionBranch($0).level == level
                && CollectionBranch($0).count > 1
        }
    }

    private static func leaf(
        _ file: CraftedFile, _ column: Int, where fits: (CollectionLeaf) -> Bool = { _ in true }
    ) -> Int? {
        file.node(.collectionLeaf) { CollectionLeaf($0).column == id(column) && fits(CollectionLeaf($0)) }
    }

    /// The root of a tree, and the place of the cell that refers to it.
    private static func root(
        _ file: CraftedFile, _ column: Int, row: Int64 = 1
    ) -> (node: Int, place: (offset: Int, owner: Int))? {
        for (index, node) in file.nodes.enumerated() where node.reference.is(.collectionBranch) {
            let isRows = file.bytes.withUnsafeBytes { buffer in
                guard let base = buffer.baseAddress else { return false }
                let branch = CollectionBranch(base + node.start)
                return branch.column == id(column) && branch.owner == row
            }
            guard isRows,
                let place = node.places.first(where: { place in
                    place.owner >= 0 && [.group, .segments].contains { file.nodes[place.owner].reference.is($0) }
                })
            else { continue }
            return (index, place)
        }
        return nil
    }

    /// Changes the cell of a column's tree.
    private static func editCell(
        _ file: inout CraftedFile, _ column: Int, _ body: (UnsafeMutableRawPointer) -> Void
    ) -> Bool {
        guard let place = root(file, column)?.place else { return false }
        let offset = place.offset - file.nodes[place.owner].start
        return file.edit(place.owner) { body($0 + offset) }
    }

    // MARK: Cells

    static let cells = [
        Case("13: a cell counts the elements below its root", "counts 41 elements where 40 are") { file in
            editCell(&file, column.numbers) { $0.put64(24, $0.u64(24) + 1) }
        },
        Case("13: a cell that leads to a tree counts at least one", "structure") { file in
            editCell(&file, column.numbers) { $0.put64(24, 0) }
        },
        Case("20: no version has a handle in a live cell", "was being changed") { file in
            editCell(&file, column.numbers) { CollectionCell.handle(birth: 1 << 40).store($0) }
        },
        Case("15: the tree of a cell is that of its column", "structure") { file in
            guard let other = root(file, column.members) else { return false }
            let bytes = Array(file.bytes[other.place.offset..<(other.place.offset + LongValue.size)])
            return editCell(&file, column.numbers) { cell in
                for (index, byte) in bytes.enumerated() { cell.put8(index, Int(byte)) }
            }
        },
        Case("15: the tree of a cell is that of its row", "structure") { file in
            guard let other = root(file, column.words, row: 2) else { return false }
            let bytes = Array(file.bytes[other.place.offset..<(other.place.offset + LongValue.size)])
            return editCell(&file, column.words) { cell in
                for (index, byte) in bytes.enumerated() { cell.put8(index, Int(byte)) }
            }
        },
        Case("a collection in its row is of its column's layout", "contradicts itself") { file in
            file.replace([1, 0, 3, 0, 0, 0, 91, 92, 91], by: [1, 0, 9])
        },
        Case("17: a set in its row ascends", "does not ascend") { file in
            file.replace([1, 0, 3, 0, 0, 0, 81, 82, 83], by: [1, 0, 3, 0, 0, 0, 81, 83, 83])
        },
    ]

    // MARK: Nodes

    static let nodes = [
        Case("14: levels fall by one", "structure") { file in
            file.edit(branch(file, column.numbers, level: 2)) { $0.put16(26, 3) }
        },
        Case("14: no level comes again below itself", "structure") { file in
            file.edit(branch(file, column.numbers)) { $0.put16(26, 2) }
        },
        Case("14: a branch counts each child exactly", "structure") { file in
            file.edit(branch(file, column.numbers)) {
                $0.put64(CollectionBranch.countsOffset, $0.u64(CollectionBranch.countsOffset) + 1)
                $0.put64(CollectionBranch.countsOffset + 8, $0.u64(CollectionBranch.countsOffset + 8) - 1)
            }
        },
        Case("14: the flags of a branch are a superset", "structure") { file in
            file.edit(branch(file, column.names)) { $0.put8(29, 0) }
        },
        Case("a node has one parent", "another node's") { file in
            file.edit(branch(file, column.numbers)) {
                CollectionBranch.setReference($0, 1, CollectionBranch($0).reference(0))
            }
        },
        Case("15: the form of each node is the column's", "structure") { file in
            file.edit(leaf(file, column.numbers)) { $0.put8(CollectionLeaf.Field.form, 1) }
        },
        Case("15: a leaf names the column of its cell", "structure") { file in
            file.edit(leaf(file, column.numbers)) { $0.put16(CollectionLeaf.Field.column, 77) }
        },
        Case("15: a leaf names the row of its cell", "structure") { file in
            file.edit(leaf(file, column.numbers)) { $0.putI64(CollectionLeaf.Field.owner, 2) }
        },
        Case("15: a branch names the row of its cell", "structure") { file in
            file.edit(branch(file, column.numbers)) { $0.putI64(CollectionBranch.ownerOffset, 2) }
        },
        Case("15: each node is its table's", "another table") { file in
            guard let leaf = leaf(file, column.numbers) else { return false }
            file.setTable(leaf, 2)
            return true
        },
        Case("16: behind what a leaf uses there are zeros", "structure") { file in
            file.edit(leaf(file, column.numbers)) { $0.put8(Format.pageSize - 1, 1) }
        },
        Case("16: a leaf has as many elements as its segment", "structure") { file in
            file.edit(leaf(file, column.numbers)) {
                $0.put16(CollectionLeaf.Field.count, CollectionLeaf(UnsafeRawPointer($0)).count + 1)
            }
        },
        Case("no node is younger than its version", "younger") { file in
            guard let leaf = leaf(file, column.numbers) else { return false }
            file.setBirth(leaf, 1 << 40)
            return true
        },
    ]

    // MARK: Elements

    /// Makes the second element of a leaf the same as the first.
    private static func repeatFirst(_ node: UnsafeMutableRawPointer) {
        let segment = CollectionLeaf(UnsafeRawPointer(node)).ordered
        let offset = segment.base - UnsafeRawPointer(node)
        if segment.kind == .integer {
            let width = segment.width
            let start = offset + Segment.integersOffset
            for byte in 0..<width { node.put8(start + width + byte, UnsafeRawPointer(node).u8(start + byte)) }
        } else {
            let (first, second) = (segment.bytes(0), segment.bytes(1))
            guard let from = first.baseAddress, let to = second.baseAddress else { return }
            for byte in 0..<min(first.count, second.count) {
                node.put8(to - UnsafeRawPointer(node) + byte, from.u8(byte))
            }
        }
    }

    static let elements = [
        Case("17: a set ascends", "structure") { file in
            file.edit(leaf(file, column.members) { $0.count > 1 && $0.values.width > 0 }, repeatFirst)
        },
        Case("17: a set of texts ascends", "structure") { file in
            file.edit(leaf(file, column.words) { $0.count > 1 }, repeatFirst)
        },
        Case("17: the keys of a map ascend", "structure") { file in
            file.edit(leaf(file, column.ages) { $0.count > 1 }, repeatFirst)
        },
        Case("17: the keys of a branch are those of the first elements below", "structure") { file in
            file.edit(branch(file, column.members)) {
                $0.putI64(CollectionBranch.keysOffset + 8, CollectionBranch($0).key(1) - 1)
            }
        },
        Case("18: nulls stand only where they may", "structure") { file in
            let name = Array("names".utf8)
            let head: [UInt8] = [UInt8(name.count), 0, 0, 0] + name
            return file.replace([3 | 128] + head, by: [3] + head, in: .schema)
        },
        Case("19: a long element leads to a value", "structure") { file in
            file.edit(leaf(file, column.names) { $0.flags & CollectionLeaf.hasLong != 0 }) { node in
                guard let base = longElement(node) else { return }
                let offset = base - UnsafeRawPointer(node)
                node.put8(offset + 6, Int(NodeKind.collectionLeaf.rawValue))
            }
        },
        Case("19: no two elements have one value", "another node's") { file in
            file.edit(leaf(file, column.names) { longs($0).count > 1 }) { node in
                let places = longs(CollectionLeaf(UnsafeRawPointer(node))).map { $0 - UnsafeRawPointer(node) }
                for byte in 0..<LongValue.size {
                    node.put8(places[1] + byte, UnsafeRawPointer(node).u8(places[0] + byte))
                }
            }
        },
        Case("21: the links of a collection are those of the backlinks", "friends") { file in
            file.edit(leaf(file, column.friends) { $0.values.width > 0 }) { node in
                let values = CollectionLeaf(UnsafeRawPointer(node)).values
                let offset = values.base - UnsafeRawPointer(node) + Segment.integersOffset
                node.put8(offset, UnsafeRawPointer(node).u8(offset) ^ 1)
            }
        },
    ]

    /// The places of the descriptors of long elements.
    private static func longs(_ leaf: CollectionLeaf) -> [UnsafeRawPointer] {
        let values = leaf.values
        guard values.flags & Segment.hasLong != 0 else { return [] }
        return (0..<values.rows).compactMap { values.isLong($0) ? values.bytes($0).baseAddress : nil }
    }

    private static func longElement(_ node: UnsafeMutableRawPointer) -> UnsafeRawPointer? {
        longs(CollectionLeaf(UnsafeRawPointer(node))).first
    }
}
