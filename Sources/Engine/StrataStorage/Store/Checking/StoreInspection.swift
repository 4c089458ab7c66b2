internal import StrataFiles

/// Contents of a store's file, for people who inspect it.
package struct StoreInspection: Sendable {
    package var storeID: RandomID
    /// The version that the data file alone holds.
    package var checkpoint: TransactionID
    /// The version that a reader sees.
    package var version: TransactionID
    /// Header slots that verify: 2 in an intact file.
    package var validSlots: Int
    /// Whether the log must be replayed.
    package var isLogRequired: Bool
    /// Nil if there is no log.
    package var logBytes: Int?
    package var fileBytes: Int
    /// Bytes of the checkpoint's free pages, and of the file after its contents.
    package var freeBytes: Int
    /// Runs of free pages within the contents, and the longest of them in bytes.
    package var freeRuns: Int
    package var longestFreeRun: Int
    package var schema: StoreSchema
    package var tables: [Table]

    package struct Table: Sendable {
        package var rows: Int
        package var nextKey: Int64
        /// Nodes of rows without long values.
        package var rowBytes: Int
        /// Nodes of indexes and backlinks.
        package var indexBytes: Int
    }

    package var liveBytes: Int { fileBytes - freeBytes }
}

extension Store {
    /// Inspects a store that was opened read-only.
    ///
    /// - Throws: `inUse` beside other processes, since only the owner of writing has the current free map; `corrupt`
    ///   for damage in what it reads: branches, directories of row groups, the free map.
    /// - Complexity: a page per row group, and the branches.
    package func inspect() throws(StorageError) -> StoreInspection { try StoreInspection(of: self) }
}

extension StoreInspection {
    fileprivate init(of store: Store) throws(StorageError) {
        precondition(store.options.readOnly, "the free map is the checkpoint's")
        if store.processes != nil { throw .inUse(path: store.path) }
        let view = try store.snapshot().view
        let slot = store.checkpoints.slot
        let file = store.file
        storeID = slot.storeID
        checkpoint = slot.checkpoint
        version = view.version
        isLogRequired = slot.logRequired
        do throws(FileError) {
            fileBytes = Int(try file.size())
            logBytes = try store.fileSystem.status(Store.logPath(store.path)).map { Int($0.size) }
        } catch {
            throw StorageError(error)
        }
        // Before the first commit there is no map.
        let map = slot.freeMap.isNull ? FreeMap() : try FreeMap(slot.freeMap, store.reader)
        let free = map.freeRuns(below: Int(slot.pageCount))
        freeBytes = free.pages * Format.pageSize + max(0, fileBytes - Int(slot.pageCount) * Format.pageSize)
        freeRuns = free.runs
        longestFreeRun = free.longest * Format.pageSize
        schema = view.schema
        tables = []
        var size = TreeSize(store.reader)
        for (index, state) in view.state.tables.enumerated() {
            var table = Table(rows: try view.rowCount(index), nextKey: state.nextKey, rowBytes: 0, indexBytes: 0)
            if !state.tree.isNull { table.rowBytes = try size.ofRows(state.tree) }
            for entry in state.entries where !entry.root.isNull {
                table.indexBytes += try size.ofEntries(entry.root)
            }
            tables.append(table)
        }
        validSlots = 0
        for index in 0..<2 {
            if case .valid = try Store.slot(file, index) { validSlots += 1 }
        }
    }
}

/// Bytes of the nodes of trees. A node that is reached twice is damage: `corrupt`.
private struct TreeSize {
    private let reader: PageReader
    private var met = PageSet()

    init(_ reader: PageReader) { self.reader = reader }

    private mutating func meet(_ reference: NodeReference) throws(StorageError) {
        if reader.hasPages(of: reference), !met.insert(Int(reference.page)) { throw .structure(reference) }
    }

    mutating func ofRows(_ reference: NodeReference) throws(StorageError) -> Int {
        try meet(reference)
        var bytes = reference.byteCount
        if reference.is(.group) {
            let group = Group(try reader.node(reference, .group))
            for index in 0..<group.nodes { bytes += group.reference(index).byteCount }
        } else {
            let branch = Branch(try reader.node(reference, .branch))
            for index in 0..<branch.count { bytes += try ofRows(branch.reference(index)) }
        }
        return bytes
    }

    mutating func ofEntries(_ reference: NodeReference) throws(StorageError) -> Int {
        try meet(reference)
        var bytes = reference.byteCount
        if reference.is(.entryLeaf) { return bytes }
        let branch = EntryBranch(try reader.node(reference, .entryBranch))
        for index in 0..<branch.count { bytes += try ofEntries(branch.reference(index)) }
        return bytes
    }
}

extension FreeMap {
    /// Free pages below a page, the number of their runs, and the longest of these.
    fileprivate func freeRuns(below end: Int) -> (pages: Int, runs: Int, longest: Int) {
        var result = (pages: 0, runs: 0, longest: 0)
        var length = 0
        for page in 0..<min(end, bits.count * 64) {
            guard bits[page >> 6] >> UInt64(page & 63) & 1 != 0 else {
                length = 0
                continue
            }
            result.pages += 1
            if length == 0 { result.runs += 1 }
            length += 1
            result.longest = max(result.longest, length)
        }
        return result
    }
}

extension RandomID {
    /// 32 hexadecimal digits, first byte first.
    package var text: String {
        [first, second].map { word in
            (0..<8).map { byte in
                let value = String(UInt8(truncatingIfNeeded: word >> UInt64(8 * byte)), radix: 16)
                return value.utf8.count == 1 ? "0" + value : value
            }.joined()
        }.joined()
    }
}
