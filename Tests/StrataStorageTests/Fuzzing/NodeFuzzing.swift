import Platform
import StrataFiles

@testable import StrataStorage

/// One node of any kind, of up to four pages, with a valid checksum, read by all readers of such a node.
///
/// A protected page follows the node, so that a read past its end raises a signal.
final class NodeFuzzing: @unchecked Sendable {  // one thread at a time: the fuzzer's, or the test's
    static let shared: NodeFuzzing = {
        do { return try NodeFuzzing() } catch { fatalError("no memory for nodes: \(error)") }
    }()

    private static let end = 16
    private static let maxPages = 4
    private let base: UnsafeMutableRawPointer
    private let reader: PageReader

    private init() throws {
        let file = try MemoryFileSystem(capacity: (Self.end + 1) * Format.pageSize).open("nodes", .createNew)
        try file.truncate(to: Int64(Self.end * Format.pageSize))
        let pages = try PageMap(
            file, reserve: (Self.end + 1) * Format.pageSize, fileSystem: MemoryFileSystem(), checks: .ofTrees,
            seed: NodeSeed(RandomID(1, 2)))
        base = UnsafeMutableRawPointer(mutating: pages.map.base)
        mprotect(base + Self.end * Format.pageSize, Format.pageSize, PROT_NONE)
        pages.limit.pages.store(Self.end, ordering: .relaxed)
        reader = PageReader(pages)
    }

    /// The kind, the number of pages and the content, without the header.
    func run(_ input: inout FuzzInput) {
        guard let kind = Self.kind(input.byte()) else { return }
        let pages = 1 + input.byte() % Self.maxPages
        let reference = put(kind, pages, input.run(pages * Format.pageSize))
        do {
            _ = try reader.node(reference, kind)
            switch kind {
            case .branch: try readBranch(reference)
            case .group: try readGroup(reference)
            case .segments: try readSegments(reference)
            case .value: _ = try readValue(reference)
            case .entryLeaf, .entryBranch: try readEntries(reference)
            case .collectionLeaf, .collectionBranch: try readCollection(reference)
            case .root: _ = try RootNode.parse(reference, reader)
            case .schema: try readSchema(reference)
            case .freeMap, .freeMapRoot: _ = try FreeMap(reference, reader)
            }
        } catch {}
    }

    /// The kind that an input's first byte chooses. Bytes below 240 choose kinds 1 to 10 by their remainder, as in
    /// inputs of the corpus that are older than collections.
    private static func kind(_ byte: Int) -> NodeKind? {
        NodeKind(rawValue: UInt8(byte < firstCollection ? 1 + byte % 10 : 11 + byte % 2))
    }

    private static let firstCollection = 240

    private func put(_ kind: NodeKind, _ pages: Int, _ content: UnsafeRawBufferPointer) -> NodeReference {
        let page = Self.end - pages
        let node = base + page * Format.pageSize
        let bytes = pages * Format.pageSize
        node.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        NodeHeader.write(node, kind: kind, table: 1)
        let count = min(content.count, bytes - Format.nodeHeaderSize)
        if let source = content.baseAddress, count > 0 {
            (node + Format.nodeHeaderSize).copyMemory(from: source, byteCount: count)
        }
        var reference = NodeReference(page: UInt32(page), pages: pages, kind: kind, birth: 1)
        reference.checksum = NodeHeader.seal(node, count: bytes, birth: 1, seed: reader.seed)
        return reference
    }

    // MARK: Rows

    private func readBranch(_ reference: NodeReference) throws {
        var level = Branch.maxLevel + 1
        let branch = try reader.branch(reference, below: &level)
        for index in 0..<branch.count {
            let found = branch.find(branch.key(index))
            fuzzExpect(found == index, "a branch finds child \(index) by its key, not \(found)")
            _ = branch.rows(index)
            _ = try? reader.node(branch.reference(index), .group)
        }
        for key in [Int64.min, -1, 0, 1, .max] {
            fuzzExpect((0..<branch.count).contains(branch.find(key)), "a branch finds a child")
        }
    }

    private func readGroup(_ reference: NodeReference) throws {
        let group = Group(try reader.node(reference, .group))
        let layout = TableLayout(Self.table(of: group))
        for column in 0..<group.columns {
            for slot in 0..<min(group.rows, 40) {
                _ = group.isDeleted(slot)
                if let found = group.patchedValue(column, slot) { Self.read(found.segment) }
            }
            if group.inserted > 0 { Self.read(group.insertedSegment(column)) }
            _ = group.position(of: UInt16(group.columnID(column)), near: column)
        }
        for number in 0..<group.segments {
            if let segment = try? group.segment(number, reader) { Self.read(segment) }
        }
        let rows = RowSet(layout)
        try group.decode(into: rows, layout, reader)
        let filled = rows.columns.map(\.count)
        fuzzExpect(filled.allSatisfy { $0 == group.liveRows }, "\(group.liveRows) live rows are decoded as \(filled)")
        for row in stride(from: 0, to: rows.count, by: max(1, rows.count / 40)) {
            _ = try group.locate(rows.key(row), reader)
            _ = try group.rank(of: rows.key(row), reader)
            if let slot = try group.select(row, reader) { _ = try group.key(slot, reader) }
        }
        for key in [Int64.min, -1, 0, .max] {
            _ = try group.locate(key, reader)
            _ = try group.rank(of: key, reader)
        }
    }

    /// A table with the group's columns, of its segments' kinds.
    private static func table(of group: Group) -> TableDefinition {
        var columns: [ColumnDefinition] = []
        for column in min(RowSet.firstUserColumn, group.columns)..<group.columns {
            var kind = SegmentKind.integer
            if group.segmentCount(column) > 0 {
                let descriptor = group.descriptor(group.firstSegment(column))
                if descriptor.node == Group.inThisNode { kind = Segment(group.base + descriptor.offset).kind ?? kind }
            } else if group.inserted > 0 {
                kind = group.insertedSegment(column).kind ?? kind
            }
            let type: ColumnType = kind == .integer ? .integer : kind == .double ? .double : .bytes
            columns.append(
                ColumnDefinition(
                    id: ColumnID(UInt16(group.columnID(column))), name: "\(column)", type: type, isOptional: true))
        }
        return TableDefinition(id: TableID(1), name: "fuzz", columns: columns)
    }

    private func readSegments(_ reference: NodeReference) throws {
        let node = try reader.node(reference, .segments)
        for index in 0..<SegmentNode.count(node) { Self.read(SegmentNode.segment(node, index)) }
    }

    private static func read(_ segment: Segment) {
        guard let kind = segment.kind else { return }
        let column = ColumnBuffer(kind)
        segment.decode(into: column)
        fuzzExpect(column.count == segment.rows, "a segment of \(segment.rows) rows is decoded as \(column.count)")
        var sum = 0
        for slot in 0..<segment.rows {
            fuzzExpect(segment.isNull(slot) == column.isNull(slot), "slot \(slot) is null in one way of two")
            switch kind {
            case .integer:
                fuzzExpect(segment.integer(slot) == column.integer(slot), "slot \(slot) reads as two numbers")
            case .double: _ = segment.double(slot)
            case .bytes:
                let bytes = segment.bytes(slot)
                fuzzExpect(bytes.count == column.bytes(slot).count, "slot \(slot) has two lengths")
                sum &+= bytes.reduce(0) { $0 &+ Int($1) }
                _ = segment.isLong(slot)
            }
        }
        _ = sum
    }

    // MARK: Others

    private func readValue(_ reference: NodeReference) throws -> Int {
        var descriptor = [UInt8](repeating: 0, count: LongValue.size)
        return try descriptor.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            let node = UnsafeRawPointer(self.base) + Int(reference.page) * Format.pageSize
            reference.store(base)
            // The length of the value is taken from the fuzzer's bytes, so it is mostly too large for the node.
            base.put64(NodeReference.size, node.u64(Format.nodeHeaderSize))
            return try reader.long(UnsafeRawBufferPointer(bytes)).reduce(0) { $0 &+ Int($1) }
        }
    }

    private func readEntries(_ root: NodeReference) throws {
        var entries: [EntryKey] = []
        _ = try? EntryTree.totalEntries(in: root, reading: reader)
        try EntryTree.walk(
            root, reading: reader, visitNode: { (_) throws(StorageError) in },
            visitEntry: { (high, low, _) throws(StorageError) in entries.append((high, low)) })
        for (place, entry) in entries.enumerated() where place % 16 == 0 {
            let count = try EntryTree.count(at: entry, in: root, reading: reader)
            fuzzExpect(count > 0, "entry \(entry) is found by its key")
            _ = try EntryTree.count(of: entry.0, in: root, reading: reader)
        }
    }

    private func readCollection(_ root: NodeReference) throws {
        let node = try reader.node(root, root.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch)
        let code = root.is(.collectionLeaf) ? CollectionLeaf(node).formCode : CollectionBranch(node).formCode
        guard let form = CollectionForm(rawValue: UInt8(code)) else { return }
        var kind = SegmentKind.integer
        if root.is(.collectionLeaf) { kind = CollectionLeaf(node).values.kind ?? kind }
        let shape = CollectionShape(form: form, kind: kind, table: 1, column: 1, owner: 1)
        let count = try CollectionTree.count(root, shape, reading: reader)
        _ = try? CollectionTree.find(0, in: root, shape, reading: reader) { (_) throws(StorageError) in false }
        _ = try? CollectionTree.run(at: count / 2, in: root, shape, reading: reader)
        try CollectionTree.forEachRun(in: root, shape, reading: reader) { (run) throws(StorageError) in
            Self.read(run.leaf.values)
            if let keys = run.leaf.keys { Self.read(keys) }
            fuzzExpect(run.leaf.values.rows == run.leaf.count, "a leaf has as many values as elements")
            return true
        }
        let nodes = MemoryNodes()
        try editLeaf(node, root, shape, nodes)
    }

    /// Edits a leaf in every way that reads no other node.
    private func editLeaf(
        _ node: UnsafeRawPointer, _ root: NodeReference, _ shape: CollectionShape, _ nodes: MemoryNodes
    ) throws {
        guard root.is(.collectionLeaf), CollectionLeaf(node).flags & CollectionLeaf.hasLong == 0 else { return }
        let (copy, page) = try nodes.makeNode(.collectionLeaf, pages: 1, table: 1)
        page.copyMemory(from: node, byteCount: Format.pageSize)
        let editor = try CollectionEditor(copy, shape, writing: nodes, limits: StoreLimits())
        let elements = CollectionElements(shape)
        let first = CollectionLeaf(node)
        elements.append(first)
        try editor.insert(elements, at: editor.count / 2)
        try editor.remove(0..<1)
        fuzzExpect(editor.count == 2 * first.count - 1, "a leaf has as many elements as came and stayed")
    }

    private func readSchema(_ reference: NodeReference) throws {
        let schema = try SchemaNode.read(reference, reader)
        let again = try SchemaCoding.encode(schema).withUnsafeBytes { (bytes) throws(StorageError) in
            try SchemaCoding.decode(bytes)
        }
        fuzzExpect(again == schema, "a schema that is read can be written and read back")
    }

    // MARK: Seeds

    static func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        var kinds: [UInt8: Int] = [:]
        for (seed, steps) in [(1, 40), (2, 150)] as [(UInt64, Int)] {
            let file = CraftedFile(try FileImages.clean(seed: seed, steps: steps).data)
            for node in file.nodes where Int(node.reference.pages) <= maxPages {
                let kind = node.reference.kindCode
                kinds[kind, default: 0] += 1
                if kinds[kind, default: 0] > 6 { continue }
                let content = file.bytes[(node.start + Format.nodeHeaderSize)..<(node.start + node.reference.byteCount)]
                let used = content.lastIndex { $0 != 0 } ?? content.startIndex
                seeds.append([kind - 1, UInt8(node.reference.pages - 1)] + content[...used])
            }
        }
        return try seeds + collectionSeeds()
    }

    /// Nodes of collections of all kinds.
    static func collectionSeeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for example in CollectionCase.all {
            var random = SplitMix64(seed: 1)
            var tree = try CheckedCollection(example)
            for _ in 0..<30 { try tree.insertAny(example, example.isTiny ? 3 : 40, &random) }
            let nodes = tree.nodes
            for kind in [NodeKind.collectionLeaf, .collectionBranch] {
                for page in nodes.live.sorted().filter({ nodes.kind($0) == kind }).prefix(3) {
                    let content = nodes.bytes(page)[Format.nodeHeaderSize...]
                    seeds.append([UInt8(firstCollection + Int(kind.rawValue) - 11), 0] + content)
                }
            }
        }
        return seeds
    }
}
