extension NodeChecks {
    /// Checks of the nodes of row trees, entry trees and collection trees. Readers of root, schema, value and free map
    /// nodes check them each time they parse one.
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
