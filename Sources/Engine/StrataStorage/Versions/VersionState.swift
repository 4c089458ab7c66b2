/// The trees of a table.
package struct TableState: Equatable, Sendable {
    package var id: TableID
    package var tree: NodeReference
    /// The lowest key that was never used, for tables with generated keys.
    package var nextKey: Int64
    package var entries: [EntryRoot]
    /// Positions of the trees by column and kind, which stay as they are: only the roots change. Nil for few trees,
    /// which are searched linearly.
    private let places: DefinitionPlaces<EntryRoot.Name>?
    /// Up to this many trees are searched linearly.
    private static let mostWalked = 16

    init(id: TableID, tree: NodeReference, nextKey: Int64, entries: [EntryRoot]) {
        self.id = id
        self.tree = tree
        self.nextKey = nextKey
        self.entries = entries
        places = entries.count > Self.mostWalked ? DefinitionPlaces() : nil
    }

    /// Whether there is exactly one tree for each index and each link column.
    func hasTrees(of definition: TableDefinition) -> Bool {
        let expected = definition.entryRoots
        return entries.count == expected.count && expected.allSatisfy { entryRoot($0.column, $0.kind) != nil }
    }

    func entryRoot(_ column: ColumnID, _ kind: EntryRoot.Kind) -> Int? {
        if let places {
            let name = EntryRoot.Name(column: column, kind: kind)
            return places.first(name, in: entries) { EntryRoot.Name(column: $0.column, kind: $0.kind) }
        }
        return entries.firstIndex { $0.column == column && $0.kind == kind }
    }
}

/// Contents of a version, parsed from its root node. Immutable.
struct VersionState: Sendable {
    var version: UInt64
    var root: NodeReference
    var schemaNode: NodeReference
    /// Derived from the schema; the same object while the schema is the same.
    private(set) var definitions: SchemaDefinitions
    var tables: [TableState]

    var schema: StoreSchema {
        @inline(__always) get { definitions.schema }
        set { definitions = SchemaDefinitions(newValue) }
    }

    @inline(__always) var layouts: [TableLayout] { definitions.layouts }

    init(
        version: UInt64, root: NodeReference, schemaNode: NodeReference, schema: StoreSchema, tables: [TableState]
    ) {
        self.version = version
        self.root = root
        self.schemaNode = schemaNode
        definitions = SchemaDefinitions(schema)
        self.tables = tables
    }

    /// The store before its first commit.
    static var empty: VersionState {
        VersionState(version: 0, root: .null, schemaNode: .null, schema: StoreSchema(), tables: [])
    }
}

/// A schema with derived tables for reading and writing.
final class SchemaDefinitions: Sendable {
    let schema: StoreSchema
    let layouts: [TableLayout]
    let columnIDs: ColumnIDs
    let plans: [TablePlan]
    /// The empty changes with which a transaction starts.
    let unchanged: [TableChanges]

    init(_ schema: StoreSchema) {
        self.schema = schema
        layouts = schema.tables.map(TableLayout.init)
        columnIDs = ColumnIDs(layouts)
        plans = TablePlan.all(of: schema)
        unchanged = schema.tables.map { TableChanges(table: $0.id) }
    }
}

/// The root node of a version.
///
/// Layout after the node header: version u64 @24, reference to the schema node @32, count of tables u32 @56, size in
/// bytes u32 @60; then per table: id u32, count of entry trees u32, next key i64, reference to the row tree, and per
/// entry tree: column u16, kind u8, zero u8, zero u32, reference.
package enum RootNode {
    static let tablesOffset = 64
    private static let tableSize = 40
    private static let treeSize = 32

    static func size(_ tables: [TableState]) -> Int {
        tables.reduce(tablesOffset) { $0 + tableSize + $1.entries.count * treeSize }
    }

    static func write(_ state: VersionState, to node: UnsafeMutableRawPointer) {
        node.put64(24, state.version)
        state.schemaNode.store(node, 32)
        node.put32(56, UInt32(state.tables.count))
        node.put32(60, UInt32(size(state.tables)))
        var offset = tablesOffset
        for table in state.tables {
            node.put32(offset, table.id.rawValue)
            node.put32(offset + 4, UInt32(table.entries.count))
            node.putI64(offset + 8, table.nextKey)
            table.tree.store(node, offset + 16)
            offset += tableSize
            for entry in table.entries {
                node.put16(offset, Int(entry.column.rawValue))
                node.put8(offset + 2, Int(entry.kind.rawValue))
                node.put8(offset + 3, 0)
                node.put32(offset + 4, 0)
                entry.root.store(node, offset + 8)
                offset += treeSize
            }
        }
    }

    /// Contents of a root node, without the schema.
    package struct Contents {
        package var version: UInt64
        package var schemaNode: NodeReference
        package var tables: [TableState]

        /// Of a store before its first commit.
        package static let empty = Contents(version: 0, schemaNode: .null, tables: [])
    }

    /// Parses a verified node, and reads its schema unless `known` has the same one.
    static func read(
        _ reference: NodeReference, _ reader: PageReader, known: VersionState? = nil
    ) throws(StorageError) -> VersionState {
        let contents = try parse(reference, reader)
        if let known, known.schemaNode == contents.schemaNode, known.tables.map(\.id) == contents.tables.map(\.id) {
            var next = known
            next.version = contents.version
            next.root = reference
            next.tables = contents.tables
            return next
        }
        let schema = try SchemaNode.read(contents.schemaNode, reader)
        guard schema.tables.map(\.id) == contents.tables.map(\.id),
            zip(schema.tables, contents.tables).allSatisfy({ $1.hasTrees(of: $0) })
        else {
            throw .corrupt(page: PageNumber(reference.page), offset: tablesOffset, reason: .structure)
        }
        return VersionState(
            version: contents.version, root: reference, schemaNode: contents.schemaNode, schema: schema,
            tables: contents.tables)
    }

    /// Parses a verified node.
    package static func parse(_ reference: NodeReference, _ reader: PageReader) throws(StorageError) -> Contents {
        let node = try reader.node(reference, .root)
        let bytes = reference.byteCount
        func fail(_ offset: Int) -> StorageError {
            .corrupt(page: PageNumber(reference.page), offset: offset, reason: .structure)
        }
        let size = Int(node.u32(60))
        let count = Int(node.u32(56))
        guard size <= bytes, count <= bytes / tableSize else { throw fail(56) }
        let schemaNode = NodeReference(node, 32)
        guard node.u64(24) < Format.versionLimit, schemaNode.isNull || schemaNode.isOnDisk(.schema) else {
            throw fail(24)
        }
        var tables: [TableState] = []
        var offset = tablesOffset
        for _ in 0..<count {
            guard offset + tableSize <= size else { throw fail(offset) }
            let (id, nextKey) = (TableID(node.u32(offset)), node.i64(offset + 8))
            let tree = NodeReference(node, offset + 16)
            var entries: [EntryRoot] = []
            guard tree.isNull || tree.isOnDisk(.branch, maxPages: 1) else { throw fail(offset + 16) }
            let trees = Int(node.u32(offset + 4))
            offset += tableSize
            guard trees <= (size - offset) / treeSize else { throw fail(offset) }
            for _ in 0..<trees {
                guard let kind = EntryRoot.Kind(rawValue: UInt8(node.u8(offset + 2))) else { throw fail(offset) }
                entries.append(
                    EntryRoot(
                        column: ColumnID(UInt16(node.u16(offset))), kind: kind, root: NodeReference(node, offset + 8)))
                guard entries[entries.count - 1].isPlausible else { throw fail(offset + 8) }
                offset += treeSize
            }
            tables.append(TableState(id: id, tree: tree, nextKey: nextKey, entries: entries))
        }
        return Contents(version: node.u64(24), schemaNode: schemaNode, tables: tables)
    }
}

/// The schema's node: byte count u32 at 24, zero u32, the bytes.
package enum SchemaNode {
    package static let bytesOffset = 32

    package static func read(_ reference: NodeReference, _ reader: PageReader) throws(StorageError) -> StoreSchema {
        if reference.isNull { return StoreSchema() }
        let node = try reader.node(reference, .schema)
        let count = Int(node.u32(24))
        guard count <= reference.byteCount - bytesOffset else {
            throw .corrupt(page: PageNumber(reference.page), offset: 24, reason: .structure)
        }
        return try SchemaCoding.decode(UnsafeRawBufferPointer(start: node + bytesOffset, count: count))
    }

    static func make(_ schema: StoreSchema, _ nodes: TransactionNodes) throws(StorageError) -> NodeReference {
        let bytes = try SchemaCoding.encode(schema)
        let pages = (bytesOffset + bytes.count + Format.pageSize - 1) / Format.pageSize
        guard pages <= Format.maxNodePages else { throw .limit(.columns) }
        let (reference, node) = try nodes.makeNode(.schema, pages: pages, table: 0)
        node.put32(24, UInt32(bytes.count))
        bytes.withUnsafeBytes { source in
            if let base = source.baseAddress {
                (node + bytesOffset).copyMemory(from: base, byteCount: source.count)
            }
        }
        return reference
    }
}
