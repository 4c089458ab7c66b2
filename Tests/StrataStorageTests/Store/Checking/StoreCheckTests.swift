import StrataFiles
import Testing

@testable import StrataStorage

/// The rules of docs/file-format.md, each broken in a file whose checksums are right.
@Suite struct StoreCheckTests {
    /// One broken rule.
    struct Case: Sendable, CustomTestStringConvertible {
        var rule: String
        /// Part of the expected error.
        var expected: String
        /// Returns false if the file has nothing to break.
        var craft: @Sendable (inout CraftedFile) -> Bool

        init(_ rule: String, _ expected: String, _ craft: @escaping @Sendable (inout CraftedFile) -> Bool) {
            self.rule = rule
            self.expected = expected
            self.craft = craft
        }

        var testDescription: String { rule }
    }

    @Test("an undamaged store is sound")
    func sound() throws {
        #expect(try CheckedStore.make().finding() == nil)
    }

    @Test("the check accepts indexes of each type over nulls, both zeros, NaN, and texts around eight bytes")
    func indexes() throws {
        let types: [(ColumnType, IndexKind)] = [
            (.integer, .ordered), (.double, .ordered), (.bytes, .ordered), (.integer, .hash), (.double, .hash),
            (.bytes, .hash),
        ]
        var columns = types.enumerated().map { place, kind in
            ColumnDefinition(
                id: ColumnID(UInt16(place + 1)), name: "c\(place)", type: kind.0, isOptional: true, index: kind.1)
        }
        columns.append(ColumnDefinition(id: ColumnID(7), name: "link", type: .link, target: TableID(1)))
        let schema = StoreSchema(userVersion: 1, table: "All", columns)
        let numbers: [Value] = [.null, .integer(0), .integer(-5), .integer(.max), .integer(.min + 1), .integer(7)]
        let doubles: [Value] = [.null] + [0, -0.0, 1.5, -1.5, .nan, .infinity].map { .double($0.bitPattern) }
        let texts: [Value] = [.null] + ["", "a", "eight by", "nine byte", "eight bz"].map { .bytes(Array($0.utf8)) }
        let store = try FileImages.open(FileImages.Disk())
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        for key in 0..<60 {
            let (number, double, text) = (numbers[key % 6], doubles[key % 7], texts[key % 6])
            let row = [number, double, text, number, double, text, key % 3 == 0 ? .null : .integer(Int64(key / 2))]
            try StoreHistory.withCells(row[...]) { try transaction.insert(0, key: RowKey(Int64(key)), $0) }
        }
        try transaction.commit()
        try store.checkInvariants()
        try store.close()
    }

    @Test(
        "the check finds a violation of each rule",
        arguments: trees + groups + entries + values + space)
    func broken(_ one: Case) throws {
        var file = try CheckedStore.make()
        try #require(one.craft(&file), "nothing to break")
        let finding = file.finding()
        #expect(finding?.contains(one.expected) == true, "\(finding ?? "sound")")
    }

    private static func branch(_ file: CraftedFile, level: Int) -> Int? {
        file.node(.branch, of: 1) { Branch($0).level == level && Branch($0).count > 2 }
    }

    static let trees = [
        Case("rows stand at or above the separator on their left", "is below the separator on its left") { file in
            file.edit(branch(file, level: 1)) { $0.putI64(Branch.keysOffset + 8, Branch($0).key(2) - 1) }
        },
        Case("rows stand below the separator on their right", "is not below the separator on its right") { file in
            file.edit(branch(file, level: 1)) { $0.putI64(Branch.keysOffset + 8, Branch($0).key(0) + 1) }
        },
        Case("keys of a branch lie within the bounds of the branches above", "separator") { file in
            file.edit(branch(file, level: 2)) { $0.putI64(Branch.keysOffset + 8, Branch($0).key(0) + 1) }
        },
        Case("keys of a branch ascend", "structure") { file in
            file.edit(branch(file, level: 1)) { $0.putI64(Branch.keysOffset + 8, Branch($0).key(0)) }
        },
        Case("a branch counts the rows of each child", "counts") { file in
            file.edit(branch(file, level: 1)) { Branch.setRows($0, 0, Branch($0).rows(0) + 1) }
        },
        Case("levels fall by one from branch to branch", "has level") { file in
            let top = file.node(.branch, of: 1) { Branch($0).level > 1 }
            return file.edit(top) { $0.put16(26, Branch($0).level + 1) }
        },
        Case("groups stand below level 1", "structure") { file in
            file.edit(branch(file, level: 1)) { $0.put16(26, 2) }
        },
        Case("no node is reached twice", "another node's") { file in
            file.edit(branch(file, level: 1)) { Branch.setReference($0, 1, Branch($0).reference(0)) }
        },
        Case("no node is younger than its version", "younger") { file in
            guard let group = file.node(.group, of: 1) else { return false }
            file.setBirth(group, 1 << 40)
            return true
        },
        Case("a version is below 2^62", "structure") { file in
            guard let group = file.node(.group, of: 1) else { return false }
            file.setBirth(group, .max)
            return true
        },
        Case("a reference leads to the kind that its place says", "structure") { file in
            file.edit(branch(file, level: 1)) { node in
                var reference = Branch(node).reference(1)
                reference.kindCode = NodeKind.value.rawValue
                Branch.setReference(node, 1, reference)
            }
        },
        Case("the next key is above all keys", "next key") { file in
            file.edit(file.node(.root)) { $0.putI64(RootNode.tablesOffset + 8, 100) }
        },
        Case("the root has the version of its slot", "structure") { file in
            file.edit(file.node(.root)) { $0.put64(24, $0.u64(24) + 1) }
        },
        Case("a table has a tree for each index and link column", "structure") { file in
            file.edit(file.node(.root)) { $0.put16(RootNode.tablesOffset + 40, 99) }
        },
    ]

    private static func changed(_ file: CraftedFile) -> Int? {
        file.node(.group, of: 1) { Group($0).patched > 1 && Group($0).inserted > 1 && Group($0).deleted > 1 }
    }

    static let groups = [
        Case("a group is its table's", "another table's") { file in
            guard let group = file.node(.group, of: 1) else { return false }
            file.setTable(group, 2)
            return true
        },
        Case("patched slots stand in the filter", "filter") { file in
            file.edit(changed(file)) { node in
                for word in 0..<8 { node.put64(Group.filterOffset + 8 * word, 0) }
            }
        },
        Case("a column has one list of patches", "twice") { file in
            file.edit(changed(file)) { node in
                let group = Group(UnsafeRawPointer(node))
                node.put16(group.patchesOffset + Group.patchSize, group.patch(0).column)
            }
        },
        Case("keys are not patched", "twice") { file in
            file.edit(changed(file)) { node in
                let group = Group(UnsafeRawPointer(node))
                node.put16(group.patchesOffset, RowSet.keyColumn)
            }
        },
        Case("patched slots ascend", "structure") { file in
            file.edit(changed(file)) { node in
                let patch = Group(UnsafeRawPointer(node)).patch(0)
                node.put16(patch.slotsOffset + 2, patch.slot(0))
            }
        },
        Case("deleted slots ascend", "structure") { file in
            file.edit(changed(file)) { node in
                let group = Group(UnsafeRawPointer(node))
                node.put16(group.deletedOffset + 2, group.deletedSlot(0))
            }
        },
        Case("a deleted row that comes back is counted", "counts") { file in
            file.edit(changed(file)) { $0.put16(28, Group($0).deleted - 1) }
        },
        Case("keys of inserted rows ascend", "ascend") { file in
            file.edit(changed(file)) { node in
                // The two keys differ from the base in one byte each; the first becomes the larger one.
                let keys = Group(UnsafeRawPointer(node)).insertedSegment(RowSet.keyColumn)
                node.put8(keys.base - UnsafeRawPointer(node) + 16, 255)
            }
        },
        Case("keys of main rows ascend", "ascend") { file in
            let node = file.node(.group, of: 1) { group in
                let group = Group(group)
                return !group.isDense && group.isSmall && group.rows > 2
            }
            return file.edit(node) { node in
                let group = Group(UnsafeRawPointer(node))
                let keys = group.descriptor(group.firstSegment(RowSet.keyColumn))
                node.put8(keys.offset + 17, 0)
            }
        },
        Case("rows are not younger than their version", "created after") { file in
            let node = file.node(.group, of: 1) { Group($0).isSmall }
            return file.edit(node) { node in
                let group = Group(UnsafeRawPointer(node))
                let created = group.descriptor(group.firstSegment(RowSet.createdColumn))
                node.putI64(created.offset + 8, 1 << 40)
            }
        },
        Case("a group has a column once", "twice") { file in
            file.edit(file.node(.group, of: 1)) { node in
                let group = Group(UnsafeRawPointer(node))
                node.put16(group.columnsOffset + 3 * Group.columnSize, group.columnID(2))
            }
        },
        Case("segments are of their column's kind", "another kind") { file in
            file.edit(file.node(.group, of: 1)) { node in
                let group = Group(UnsafeRawPointer(node))
                let ids = (group.columnID(3), group.columnID(5))
                node.put16(group.columnsOffset + 3 * Group.columnSize, ids.1)
                node.put16(group.columnsOffset + 5 * Group.columnSize, ids.0)
            }
        },
        Case("no row behind a segment's last one is null", "behind its last one") { file in
            func nulls(_ node: UnsafeRawPointer) -> Segment? {
                let group = Group(node)
                let segment = Segment(node + group.descriptor(group.firstSegment(3)).offset)
                return group.isSmall && segment.flags & Segment.hasNulls != 0 && segment.rows < 8 ? segment : nil
            }
            return file.edit(file.node(.group, of: 1) { nulls($0) != nil }) { node in
                guard let segment = nulls(UnsafeRawPointer(node)) else { return }
                let offset = segment.base - UnsafeRawPointer(node) + segment.nullOffset
                node.put8(offset, node.u8(offset) | 0x80)
            }
        },
        Case("a column that is not optional has no nulls", "is null, and has to have a value") { file in
            // Exchanging the ids gives the required column "a" the values of the optional column "b".
            file.edit(file.node(.group, of: 1) { Group($0).isSmall }) { node in
                let group = Group(UnsafeRawPointer(node))
                let ids = (group.columnID(2), group.columnID(3))
                node.put16(group.columnsOffset + 2 * Group.columnSize, ids.1)
                node.put16(group.columnsOffset + 3 * Group.columnSize, ids.0)
            }
        },
        Case("segments of a column follow one another", "structure") { file in
            file.edit(file.node(.group, of: 1)) { node in
                let group = Group(UnsafeRawPointer(node))
                node.put16(group.segmentsOffset, 1)
            }
        },
        Case("a node of segments has those that the group says", "structure") { file in
            file.edit(file.node(.segments, of: 1)) { $0.put16(SegmentNode.directoryOffset, 0) }
        },
        Case("a long value has no more bytes than its node", "structure") { file in
            for (index, node) in file.nodes.enumerated() where node.reference.is(.value) {
                guard let place = file.nodes[index].places.first, place.owner >= 0 else { continue }
                let offset = place.offset - file.nodes[place.owner].start
                return file.edit(place.owner) { $0.put64(offset + NodeReference.size, 1 << 30) }
            }
            return false
        },
    ]

    private static func fewLeaf(_ file: CraftedFile, _ fits: (EntryLeaf) -> Bool) -> Int? {
        file.node(.entryLeaf, of: 2) { fits(EntryLeaf($0)) }
    }

    static let entries = [
        Case("entries ascend from leaf to leaf", "structure") { file in
            let first = file.node(.entryLeaf, of: 1) { node in
                let leaf = EntryLeaf(node)
                return leaf.count > 1 && leaf.key(0) == (0, 0) && leaf.highWidth == 0 && leaf.lowWidth > 0
            }
            // The last key of the first leaf becomes larger than those of the next leaf.
            return file.edit(first) { node in
                let leaf = EntryLeaf(UnsafeRawPointer(node))
                let last = leaf.lows - UnsafeRawPointer(node) + (leaf.count - 1) * leaf.lowWidth
                for byte in 0..<leaf.lowWidth { node.put8(last + byte, byte == 7 ? 127 : 255) }
            }
        },
        Case("an index has the values of its column", "ordered of Few.value differs: row 1 occurs 0 times") { file in
            file.edit(fewLeaf(file) { $0.high(0) == 5 }) { $0.putI64(32, 6) }
        },
        Case("an index has the rows that are there", "differs") { file in
            file.edit(fewLeaf(file) { $0.high(0) == 5 }) { $0.putI64(40, 2) }
        },
        Case("backlinks count each link", "backlinks of Few.friends differs: row") { file in
            file.edit(fewLeaf(file) { $0.countWidth == 1 }) { node in
                let leaf = EntryLeaf(UnsafeRawPointer(node))
                let last = leaf.counts - UnsafeRawPointer(node) + leaf.count - 1
                node.put8(last, 2)
            }
        },
        Case("entries ascend", "structure") { file in
            file.edit(fewLeaf(file) { $0.lowWidth == 1 && $0.highWidth == 0 }) { node in
                let leaf = EntryLeaf(UnsafeRawPointer(node))
                node.put8(leaf.lows - UnsafeRawPointer(node) + 1, 0)
            }
        },
        Case("an entry branch counts the entries below", "structure") { file in
            file.edit(file.node(.entryBranch)) { $0.put64(EntryBranch.totalsOffset, 1 << 20) }
        },
        Case("an entry branch has its children's first keys", "structure") { file in
            file.edit(file.node(.entryBranch) { EntryBranch($0).count > 1 }) { node in
                node.putI64(EntryBranch.lowsOffset + 8, node.i64(EntryBranch.lowsOffset + 8) &- 1)
            }
        },
        Case("entry leaves stand below level 1", "structure") { file in
            file.edit(file.node(.entryBranch) { EntryBranch($0).level == 1 }) { $0.put8(26, 2) }
        },
    ]

    private static func number(_ count: UInt8) -> [UInt8] { [count, 0, 0, 0] }

    static let values = [
        Case("links are as many as their head says", "friends in row 1 contradicts") { file in
            file.replace(LinkPayload.encode([10, 20, 20]), by: [1, 200], in: .group)
        },
        Case("a list is as long as its head says", "list in row 1 contradicts") { file in
            file.replace(CheckedStore.Bytes.list, by: [1, 0, 200])
        },
        Case("a list has no more bytes than its elements", "list in row 1 contradicts") { file in
            file.replace(CheckedStore.Bytes.list, by: [1, 0, 2])
        },
        Case("a list has a kind", "list in row 1 contradicts") { file in
            file.replace(CheckedStore.Bytes.list, by: [9])
        },
        Case("offsets of texts ascend", "texts in row 1 contradicts") { file in
            file.replace(CheckedStore.Bytes.texts, by: [6, 0, 2, 0, 0, 0, 0, 0, 0, 0, 200])
        },
        Case("members of a set ascend", "set in row 1 contradicts") { file in
            file.replace(CheckedStore.Bytes.set, by: [1, 0, 3, 0, 0, 0, 112, 112])
        },
        Case("keys of a map ascend", "map in row 1 contradicts") { file in
            let sound = CheckedStore.Bytes.map
            var map = sound
            map.replaceSubrange(22..<26, with: "k2k1".utf8)
            return file.replace(sound, by: map)
        },
        Case("a map has a key for each value", "map in row 1 contradicts") { file in
            let map = CheckedStore.Bytes.map
            return file.replace(map, by: map.dropLast(8) + [1, 1, 1, 0, 0, 0, 0, 121])
        },
        Case("members of a set of links ascend", "members in row 1 contradicts") { file in
            file.replace(LinkPayload.encode([40, 50]), by: LinkPayload.encode([50, 50]))
        },
        Case("a map of links has a key for each place", "named in row 1 contradicts") { file in
            let named = LinkPayload.encode([30, LinkPayload.null], extra: CheckedStore.Bytes.keys)
            return file.replace(named, by: LinkPayload.encode([30, LinkPayload.null]) + [6, 0, 1])
        },
    ]

    static let space = [
        Case("no page in use is free", "is free and reachable") { file in
            guard let page = file.node(.group, of: 1).map({ Int(file.nodes[$0].reference.page) }) else { return false }
            return file.edit(file.node(.freeMap)) { $0.put8(64 + page / 8, $0.u8(64 + page / 8) | 1 << (page & 7)) }
        },
        Case("every page is used or free", "neither used nor free") { file in
            file.edit(file.node(.freeMap)) { node in
                for byte in 0..<(8 * SpaceRegion.wordCount) where node.u8(64 + byte) != 0 {
                    let bits = node.u8(64 + byte)
                    return node.put8(64 + byte, bits & (bits - 1))
                }
            }
        },
        Case("the free map's other place is its own", "is map and reachable") { file in
            guard let page = file.node(.group, of: 1).map({ file.nodes[$0].reference.page }) else { return false }
            return file.edit(file.node(.freeMap)) { $0.put32(24, page) }
        },
        Case("a free map names no header page", "structure") { file in
            file.edit(file.node(.freeMap)) { $0.put32(24, 1) }
        },
    ]
}

extension UnsafeMutableRawPointer {
    fileprivate func u8(_ offset: Int) -> Int { UnsafeRawPointer(self).u8(offset) }
}

extension Branch {
    fileprivate init(_ base: UnsafeMutableRawPointer) { self.init(UnsafeRawPointer(base)) }
}

extension Group {
    fileprivate init(_ base: UnsafeMutableRawPointer) { self.init(UnsafeRawPointer(base)) }
}
