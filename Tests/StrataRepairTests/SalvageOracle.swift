import StrataFiles

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// The pages that each row of a sound store needs, and so the rows that must be salvaged when some are lost.
///
/// Computed by reading the sound store row by row, without the salvage's code.
struct SalvageOracle {
    /// The nodes that one row needs.
    struct Row {
        var key: [NodeReference]
        var columns: [[NodeReference]]
    }

    var rows: [[Int64: Row]] = []
    var pageCount = 0
    var root = NodeReference.null
    var schemaNode = NodeReference.null
    let model: StoreModel
    /// The value that a lost cell reads, by table and column.
    private let missing: [[Value]]

    /// - Parameter path: a store that no process has open.
    init(path: String, model: StoreModel, missing: [[Value]] = SalvageOracle.missingInHistory) throws {
        self.model = model
        self.missing = missing
        let store = try Store.open(path: path, options: StoreOptions(readOnly: true))
        let view = try store.snapshot().view
        root = view.state.root
        schemaNode = view.state.schemaNode
        pageCount = try store.space().fileBytes / Format.pageSize
        for (table, definition) in view.schema.tables.enumerated() {
            var found: [Int64: Row] = [:]
            for key in try view.keys(table) {
                found[key] = try Self.row(view, table, definition, key)
            }
            rows.append(found)
        }
    }

    static let missingInHistory: [[Value]] = [
        [.null, .null, .double(0), .null, .links([])], [.integer(0), .null],
    ]

    /// - Returns: for a column with a tree, the path to the cell; ``CollectionOracle`` covers the tree.
    static func row(
        _ view: ReadView, _ table: Int, _ definition: TableDefinition, _ key: Int64
    ) throws -> Row {
        var path = view.state.tables[table].tree
        while path.is(.branch) {
            let branch = Branch(try view.reader.node(path, .branch))
            path = branch.reference(branch.find(key))
        }
        let group = Group(try view.reader.node(path, .group))
        guard let location = try view.locate(table, RowKey(key)) else { throw InvariantViolation("no row \(key)") }
        let slot = Int(location.slot)
        func segment(_ id: UInt16) -> [NodeReference] {
            guard slot >= 0, let position = group.position(of: id, near: 0), group.segmentCount(position) > 0,
                group.patchedValue(position, slot) == nil
            else { return [] }
            let descriptor = group.descriptor(group.segmentIndex(position, slot))
            return descriptor.node == Group.inThisNode ? [] : [group.reference(descriptor.node)]
        }
        return Row(
            key: [path] + segment(TableLayout.keyID),
            columns: try definition.columns.indices.map { column in
                let long =
                    definition.columns[column].type == .bytes || definition.columns[column].type == .links
                    ? try view.longValue(location, column) : nil
                let nodes = long.map { $0.isTree ? [] : [$0.reference] } ?? []
                return segment(definition.columns[column].id.rawValue) + nodes
            })
    }

    static func areThere(_ nodes: [NodeReference], without lost: Set<Int>) -> Bool {
        nodes.allSatisfy { node in
            (Int(node.page)..<Int(node.page) + Int(node.pages)).allSatisfy { !lost.contains($0) }
        }
    }

    /// The remaining rows when these pages are lost: every row whose key survives, with its surviving values, without
    /// links to lost rows.
    func expected(without lost: Set<Int>) -> StoreModel {
        func isThere(_ nodes: [NodeReference]) -> Bool { Self.areThere(nodes, without: lost) }
        var result = StoreModel(tables: model.tables.map { _ in [:] })
        for table in model.tables.indices {
            for (key, values) in model.tables[table] {
                guard let row = rows[table][key], isThere(row.key) else { continue }
                result.tables[table][key] = values.indices.map {
                    isThere(row.columns[$0]) ? values[$0] : missing[table][$0]
                }
            }
        }
        return result
    }

    /// The contents without links to rows that they lack; for the tables of ``StoreHistory``.
    static func withoutDanglingLinks(_ model: StoreModel) -> StoreModel {
        var result = model
        for (table, definition) in StoreHistory.schema.tables.enumerated() {
            for (column, definition) in definition.columns.enumerated() {
                guard let target = definition.target.map({ Int($0.rawValue) - 1 }) else { continue }
                for (key, values) in model.tables[table] {
                    switch values[column] {
                    case .integer(let link) where model.tables[target][link] == nil:
                        result.tables[table][key]?[column] = .null
                    case .links(let links):
                        result.tables[table][key]?[column] = .links(links.filter { model.tables[target][$0] != nil })
                    default: break
                    }
                }
            }
        }
        return result
    }
}

/// A file as bytes, for tests that damage it.
struct FileBytes {
    var bytes: [UInt8]

    init(_ path: String) throws {
        let file = try POSIXFileSystem().open(path, .read)
        bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        file.close()
    }

    var pageCount: Int { bytes.count / Format.pageSize }

    mutating func zero(_ page: Int) {
        let start = page * Format.pageSize
        bytes.replaceSubrange(start..<start + Format.pageSize, with: repeatElement(0, count: Format.pageSize))
    }

    func write(_ path: String) throws {
        let fileSystem = POSIXFileSystem()
        if try fileSystem.status(path) != nil { try fileSystem.remove(path) }
        let file = try fileSystem.open(path, .createNew)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        file.close()
    }
}
