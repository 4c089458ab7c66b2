import Measuring
import StrataFiles

@testable import StrataStorage

/// Files with valid checksums, in which many references share one node.
enum SharedNodes {
    /// The number of children of each branch, and the number of levels.
    private static let (children, levels) = (60, 6)

    static func open(_ file: CraftedFile) throws -> (Store, FileImages.Disk) {
        let disk = FileImages.Disk(capacity: 1 << 26)
        try disk.put(file.bytes, at: FileImages.path)
        return (try FileImages.open(disk), disk)
    }

    static func isDamage(_ error: any Error) -> Bool { (error as? StorageError)?.isDamage ?? false }

    static func checkMemory() throws {
        // Not `ru_maxrss`, which outlives exec: a child of a large test process begins with the parent's peak.
        let bytes = ResourceUsage.now().peakResidentBytes
        precondition(bytes > 0 && bytes < 400 << 20, "\(bytes >> 20) MB")
    }

    static func make(_ name: String) throws -> CraftedFile {
        var file = try CollectionCheckTests.make()
        switch name {
        case "leavesOfList": stack(&file, 1, levels: 1)
        case "branchesOfList": stack(&file, 1, levels: levels)
        case "elementsOfSet": stack(&file, 5, levels: levels)
        case "elementsOfMap": stack(&file, 7, levels: levels)
        case "longElements": shareElements(&file)
        case "nested": file = try nested()
        case "values": file = try values()
        case "groups": file = try rows()
        default: file = try entries()
        }
        return file
    }

    /// Puts branches above a leaf of a column, each with many references to the one below, and points the cell to the
    /// topmost.
    private static func stack(_ file: inout CraftedFile, _ column: Int, levels: Int) {
        let id = Int(CollectionHistory.schema.tables[0].columns[column].id.rawValue)
        guard let leaf = file.node(.collectionLeaf, where: { CollectionLeaf($0).column == id }),
            let root = file.node(
                .collectionBranch, where: { CollectionBranch($0).column == id && CollectionBranch($0).owner == 1 }),
            let cell = file.nodes[root].places.first(where: { place in
                place.owner >= 0 && [.group, .segments].contains { file.nodes[place.owner].reference.is($0) }
            })
        else { preconditionFailure("no tree in column \(column)") }
        let pattern = Array(file.bytes[file.nodes[root].start..<(file.nodes[root].start + Format.pageSize)])
        var below = file.nodes[leaf].reference
        var count = file.bytes.withUnsafeBytes { bytes -> UInt64 in
            guard let base = bytes.baseAddress else { return 0 }
            return UInt64(CollectionLeaf(base + file.nodes[leaf].start).count)
        }
        let key = pattern.withUnsafeBytes { $0.baseAddress.map { CollectionBranch($0).key(0) } ?? 0 }
        for level in 1...levels {
            var node = pattern
            node.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                base.put16(24, children)
                base.put16(26, level)
                for child in 0..<101 {
                    let isThere = child < children
                    base.put64(32 + 8 * child, isThere ? UInt64(bitPattern: key) : 0)
                    base.put64(840 + 8 * child, isThere ? count : 0)
                    (isThere ? below : .zeros).store(base, CollectionBranch.referencesOffset + 24 * child)
                }
            }
            below = file.append(node)
            count *= UInt64(children)
        }
        file.setCell(cell, below, count: count)
    }

    /// All elements of a list with their own nodes refer to the same node.
    private static func shareElements(_ file: inout CraftedFile) {
        let long = file.nodes.indices.filter { index in
            file.nodes[index].reference.is(.value)
                && file.nodes[index].places.contains { place in
                    place.owner >= 0 && file.nodes[place.owner].reference.is(.collectionLeaf)
                }
        }
        precondition(long.count > 2, "no long elements")
        let place = file.nodes[long[0]].places[0].offset
        let cell = Array(file.bytes[place..<(place + LongValue.size)])
        for index in long.dropFirst() { file.put(cell, at: file.nodes[index].places[0]) }
    }

    /// Nested lists, in which all elements of a level refer to the same list.
    private static func nested() throws -> CraftedFile {
        var file = CraftedFile(
            try store(NestedTrees.schema) { transaction in
                try NestedTrees.insert(transaction, depth: 10)
            })
        // All siblings of a nested tree refer to the first one.
        for owner in file.nodes.indices where file.nodes[owner].reference.is(.collectionLeaf) {
            let trees = file.nodes.indices.filter { index in
                [.collectionLeaf, .collectionBranch].contains { file.nodes[index].reference.is($0) }
                    && file.nodes[index].places.contains { $0.owner == owner }
            }
            guard let first = trees.first, let place = file.nodes[first].places.first(where: { $0.owner == owner })
            else { continue }
            let cell = Array(file.bytes[place.offset..<(place.offset + LongValue.size)])
            for index in trees.dropFirst() {
                for place in file.nodes[index].places where place.owner == owner { file.put(cell, at: place) }
            }
        }
        return file
    }

    private static func store(
        _ schema: StoreSchema, _ body: (WriteTransaction) throws -> Void
    ) throws -> [UInt8] {
        let disk = FileImages.Disk(capacity: 1 << 26)
        let store = try FileImages.open(disk)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        try body(transaction)
        try transaction.commit()
        try store.checkInvariants()
        try store.close()
        return try disk.bytes(FileImages.path) ?? []
    }

    /// Two tables of texts: the second's values have their own nodes, and all cells refer to one.
    private static let texts = StoreSchema(tables: [
        TableDefinition(
            id: TableID(1), name: "A",
            columns: [ColumnDefinition(id: ColumnID(1), name: "text", type: .bytes, index: .hash)]),
        TableDefinition(
            id: TableID(2), name: "B", columns: [ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes)]),
    ])

    private static func insert(_ transaction: WriteTransaction, _ table: Int, _ key: Int64, _ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: Int64($0) &+ key) }
        try bytes.withUnsafeBytes { bytes in
            try [Cell.bytes(bytes)].withUnsafeBufferPointer { try transaction.insert(table, key: RowKey(key), $0) }
        }
    }

    private static func values() throws -> CraftedFile {
        var file = CraftedFile(
            try store(texts) { transaction in
                for key in 1...40 as ClosedRange<Int64> { try insert(transaction, 1, key, key == 1 ? 200_000 : 60) }
            })
        let values = file.nodes.indices.filter { file.nodes[$0].reference.is(.value) }.sorted {
            file.nodes[$0].reference.pages > file.nodes[$1].reference.pages
        }
        precondition(file.nodes[values[0]].reference.pages > 40)
        let place = file.nodes[values[0]].places[0].offset
        let cell = Array(file.bytes[place..<(place + LongValue.size)])
        for index in values.dropFirst() { file.put(cell, at: file.nodes[index].places[0]) }
        return file
    }

    /// A branch whose children are all the same row group.
    private static func rows() throws -> CraftedFile {
        var file = CraftedFile(
            try store(texts) { transaction in
                for key in 1...200 as ClosedRange<Int64> { try insert(transaction, 0, key, 3) }
            })
        let groups = file.nodes.indices.filter { index in
            file.nodes[index].reference.is(.group)
                && file.nodes[index].places.contains { $0.owner >= 0 && file.nodes[$0.owner].reference.is(.branch) }
        }
        precondition(groups.count > 3, "one group")
        let place = file.nodes[groups[0]].places[0].offset
        let reference = Array(file.bytes[place..<(place + NodeReference.size)])
        for index in groups.dropFirst() { file.put(reference, at: file.nodes[index].places[0]) }
        return file
    }

    /// Branches of an index with one child many times.
    private static func entries() throws -> CraftedFile {
        var file = CraftedFile(
            try store(texts) { transaction in
                for key in 1...900 as ClosedRange<Int64> { try insert(transaction, 0, key, 3) }
            })
        for owner in file.nodes.indices where file.nodes[owner].reference.is(.entryBranch) {
            let below = file.nodes.indices.filter { index in file.nodes[index].places.contains { $0.owner == owner } }
            guard let first = below.first, let place = file.nodes[first].places.first(where: { $0.owner == owner })
            else { continue }
            let reference = Array(file.bytes[place.offset..<(place.offset + NodeReference.size)])
            for index in below.dropFirst() {
                for place in file.nodes[index].places where place.owner == owner { file.put(reference, at: place) }
            }
        }
        return file
    }
}

extension NodeReference {
    /// The zero padding after the children of a branch.
    fileprivate static var zeros: NodeReference {
        var reference = NodeReference.null
        reference.kindCode = 0
        return reference
    }
}

/// A column of lists of anything, with lists in lists that are trees.
private enum NestedTrees {
    static let schema = StoreSchema(tables: [
        TableDefinition(
            id: TableID(1), name: "Tree",
            columns: [
                ColumnDefinition(
                    id: ColumnID(1), name: "list", type: .bytes, collection: CollectionColumn(.any, allowsNulls: true))
            ]),
        TableDefinition(id: TableID(2), name: "Other", columns: []),
    ])

    private static let (width, lists) = (12, 6)

    /// A list whose first elements are lists, whose first elements are lists; each is a tree.
    static func insert(_ transaction: WriteTransaction, depth: Int) throws {
        try [Cell.bytes(UnsafeRawBufferPointer(start: nil, count: 0))].withUnsafeBufferPointer {
            try transaction.insert(0, key: RowKey(1), $0)
        }
        try fill(transaction, [], depth: depth)
    }

    private static func fill(_ transaction: WriteTransaction, _ path: [Int], depth: Int) throws {
        let elements = CollectionElements(CollectionColumn(.any, allowsNulls: true))
        for number in 0..<width {
            let isList = number < lists && depth > 0
            let text = (0..<20).map { UInt8(97 + ($0 + number) % 20) }
            (isList ? [NestedCollection.listType] : [2] + text).withUnsafeBytes { elements.append(.bytes($0)) }
        }
        try transaction.collections(at: path).insert(0, RowKey(1), column: 0, elements: elements, at: 0)
        for number in 0..<(depth > 0 ? lists : 0) {
            try fill(transaction, path + [number], depth: number == 0 ? depth - 1 : 0)
        }
    }
}
