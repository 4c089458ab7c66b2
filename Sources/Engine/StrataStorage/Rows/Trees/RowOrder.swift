/// Positions of a table's rows in key order. Branches count the rows below each child, so that only one path is read.
struct RowOrder {
    private let root: NodeReference
    private let reader: PageReader

    init(_ root: NodeReference, _ reader: PageReader) {
        self.root = root
        self.reader = reader
    }

    /// The number of rows. Complexity: one node, since the root counts the rows below it.
    func count() throws(StorageError) -> Int {
        let rows = root.isNull ? 0 : Branch(try reader.node(root, .branch)).totalRows
        try reader.confirm()
        return rows
    }

    /// The highest key; nil in an empty table.
    func lastKey() throws(StorageError) -> Int64? {
        var reference = root
        if reference.isNull { return nil }
        var level = Branch.maxLevel + 1
        while reference.is(.branch) {
            let branch = try reader.branch(reference, below: &level)
            reference = branch.reference(branch.count - 1)
        }
        let group = Group(try reader.node(reference, .group))
        guard let row = try group.select(group.liveRows - 1, reader) else { return nil }
        return try group.key(row, reader)
    }

    /// The key of the `ordinal`-th row; nil beyond the last.
    func key(at ordinal: Int) throws(StorageError) -> Int64? {
        var reference = root
        if reference.isNull || ordinal < 0 { return nil }
        var left = ordinal
        var level = Branch.maxLevel + 1
        while reference.is(.branch) {
            let branch = try reader.branch(reference, below: &level)
            var index = 0
            while index < branch.count && left >= branch.rows(index) {
                left &-= branch.rows(index)
                index += 1
            }
            if index == branch.count {
                try reader.confirm()
                return nil
            }
            reference = branch.reference(index)
        }
        let group = Group(try reader.node(reference, .group))
        let key = try group.select(left, reader).map { (row) throws(StorageError) in try group.key(row, reader) }
        try reader.confirm()
        return key
    }

    /// Number of rows before a key.
    func rank(of key: Int64) throws(StorageError) -> Int {
        var reference = root
        if reference.isNull { return 0 }
        var before = 0
        var level = Branch.maxLevel + 1
        while reference.is(.branch) {
            let branch = try reader.branch(reference, below: &level)
            let index = branch.find(key)
            for left in 0..<index { before &+= branch.rows(left) }
            reference = branch.reference(index)
        }
        before &+= try Group(try reader.node(reference, .group)).rank(of: key, reader)
        try reader.confirm()
        return before
    }
}
