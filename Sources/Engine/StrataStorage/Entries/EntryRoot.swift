/// The root of an index or backlink tree of a table.
package struct EntryRoot: Equatable, Sendable {
    /// Kind of the entries of a tree (``EntryTree``): hashes, values or link targets, each with a row key.
    enum Kind: UInt8, Sendable {
        case hash = 1
        case ordered = 2
        case backlinks = 3
    }

    /// Identifies a tree within its table.
    struct Name: Hashable {
        let column: ColumnID
        let kind: Kind
    }

    let column: ColumnID
    let kind: Kind
    package var root: NodeReference

    /// Whether the root is null, or a valid reference on disk to a node of such a tree.
    var isPlausible: Bool {
        root.isNull || root.isOnDisk(.entryLeaf, maxPages: 1) || root.isOnDisk(.entryBranch, maxPages: 1)
    }
}

extension IndexKind {
    var rootKind: EntryRoot.Kind? {
        switch self {
        case .none: nil
        case .hash: .hash
        case .ordered: .ordered
        }
    }
}

extension TableDefinition {
    /// The index and backlink trees that the table needs, empty.
    var entryRoots: [EntryRoot] {
        var roots: [EntryRoot] = []
        for column in columns {
            if let kind = column.index.rootKind {
                roots.append(EntryRoot(column: column.id, kind: kind, root: .null))
            }
            if column.type.isLink { roots.append(EntryRoot(column: column.id, kind: .backlinks, root: .null)) }
        }
        return roots
    }
}
