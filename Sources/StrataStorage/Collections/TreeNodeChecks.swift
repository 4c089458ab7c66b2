extension NodeChecks {
    /// The checks of the nodes that trees of rows, of entries and of collections consist of. Root, schema, value and
    /// free map nodes are parsed with checks each time.
    package static let ofTrees = NodeChecks([
        .branch: { Branch.validate($0, bytes: $1) },
        .group: { GroupShape($0, bytes: $1).isRight },
        .segments: { SegmentNode.validate($0, bytes: $1) },
        .entryLeaf: { EntryLeaf.validate($0, bytes: $1) },
        .entryBranch: { EntryBranch.validate($0, bytes: $1) },
        .collectionLeaf: { CollectionLeaf.validate($0, bytes: $1) },
        .collectionBranch: { CollectionBranch.validate($0, bytes: $1) },
    ])
}
