import StrataFiles

@testable import StrataStorage
@testable import StrataStorageTests

/// The pages that each element of each collection of a sound store needs, and so the elements that must be salvaged
/// when some pages are lost. For the tables of ``CollectionHistory``.
///
/// Computed by walking the trees of the sound store, without the salvage's code.
struct CollectionOracle {
    struct Collection {
        /// The path to the cell, and the cell's long value.
        var cell: [NodeReference]
        var isTree = false
        var branches: [NodeReference] = []
        /// The leaf of each element of a tree, and the nodes of its long key and value.
        var elements: [[NodeReference]] = []
    }

    struct Owner {
        var key: [NodeReference]
        /// By column; the first column has no collection.
        var collections: [Collection]
    }

    private(set) var owners: [Int64: Owner] = [:]
    let schemaNode: NodeReference

    init(_ view: ReadView) throws {
        schemaNode = view.state.schemaNode
        let table = CollectionHistory.owners
        let definition = view.schema.tables[table]
        for key in try view.keys(table) {
            let row = try SalvageOracle.row(view, table, definition, key)
            var owner = Owner(key: row.key, collections: row.columns.map { Collection(cell: $0) })
            for column in CollectionHistory.columns {
                guard case .tree(let root, _) = try view.collectionCell(table, RowKey(key), column) else { continue }
                owner.collections[column].isTree = true
                try Self.walk(root, view, &owner.collections[column])
            }
            owners[key] = owner
        }
    }

    private static func walk(_ reference: NodeReference, _ view: ReadView, _ found: inout Collection) throws {
        if reference.is(.collectionLeaf) {
            let leaf = CollectionLeaf(try view.reader.node(reference, .collectionLeaf))
            let segments = [leaf.keys, leaf.values].compactMap(\.self).filter { $0.kind == .bytes }
            for slot in 0..<leaf.count {
                found.elements.append([reference] + segments.compactMap { $0.cellValue(slot).long?.reference })
            }
            return
        }
        found.branches.append(reference)
        let branch = CollectionBranch(try view.reader.node(reference, .collectionBranch))
        for index in 0..<branch.count { try walk(branch.reference(index), view, &found) }
    }

    /// The remaining elements of one collection when these pages are lost.
    /// - Parameter targets: the rows that links may refer to.
    /// - Returns: the elements, in their old order unless a branch is lost.
    func expected(
        _ pairs: [CollectionPair], of key: Int64, _ column: Int, without lost: Set<Int>, targets: Set<Int64>
    ) -> (pairs: [CollectionPair], lostBranches: Int)? {
        guard let collection = owners[key]?.collections[column] else { return nil }
        var left = pairs
        if !SalvageOracle.areThere(collection.cell, without: lost) {
            left = []
        } else if collection.isTree {
            left = zip(pairs, collection.elements).filter { SalvageOracle.areThere($0.1, without: lost) }.map(\.0)
        }
        if CollectionHistory.isLinks(column) {
            func isDangling(_ pair: CollectionPair) -> Bool {
                if case .integer(let target) = pair.value { !targets.contains(target) } else { false }
            }
            left =
                column == CollectionHistory.friends
                ? left.filter { !isDangling($0) }
                : left.map { isDangling($0) ? CollectionPair(key: $0.key, value: .null) : $0 }
        }
        return (left, collection.branches.count { !SalvageOracle.areThere([$0], without: lost) })
    }
}
