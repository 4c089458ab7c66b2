import StrataFiles
import StrataRepair
import Testing

@testable import StrataStorage
@testable import StrataStorageTests

/// A deleted row may keep the descriptor of a long value in its slot, while the value's pages have been freed and hold
/// other nodes. A salvage skips the pages of values when it searches for nodes, and must not skip these.
@Suite struct DeadValueTests {
    private static let schema = StoreSchema(
        table: "rows", [ColumnDefinition(id: ColumnID(1), name: "text", type: .bytes)])

    private static func text(_ key: Int64) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: key % 24 == 7 && key < 1000 ? 9000 : 5)
    }

    private static func insert(_ transaction: WriteTransaction, _ keys: Range<Int64>) throws {
        for key in keys {
            try text(key).withUnsafeBytes { text in
                try [Cell.bytes(text)].withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
            }
        }
    }

    /// The targets of deleted rows' descriptors.
    private static func deadPages(_ view: ReadView) throws -> Set<Int> {
        var dead: Set<Int> = []
        var walk = GroupWalk(view.state.tables[0].tree, from: .min, view.reader)
        while let reference = try walk.nextReference() {
            let group = Group(try view.reader.node(reference, .group))
            guard let position = group.position(of: 1, near: RowSet.firstUserColumn) else { continue }
            for index in 0..<group.deleted {
                let slot = group.deletedSlot(index)
                let (segment, place) = try group.value(position, at: Int32(slot), kind: .bytes, from: view.reader)
                guard segment.isLong(place), let base = segment.bytes(place).baseAddress else { continue }
                let value = LongValue(base).reference
                dead.formUnion(Int(value.page)..<(Int(value.page) + Int(value.pages)))
            }
        }
        return dead
    }

    /// The branches above row groups, each with the pages of its row groups.
    private static func branches(
        _ reference: NodeReference, _ view: ReadView
    ) throws -> [(branch: NodeReference, pages: Set<Int>)] {
        if !reference.is(.branch) { return [] }
        let branch = Branch(try view.reader.node(reference, .branch))
        let children = (0..<branch.count).map(branch.reference)
        if branch.level > 1 { return try children.flatMap { try branches($0, view) } }
        return [(reference, Set(children.flatMap { Int($0.page)..<(Int($0.page) + Int($0.pages)) }))]
    }

    @Test("row groups on pages of former values are salvaged when their branch is lost") func reused() throws {
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        var store = try Store.open(path: FileImages.path, options: options)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: Self.schema)
        try Self.insert(transaction, 0..<120)
        try transaction.commit()
        transaction = try store.beginWrite()
        for key in 0..<120 as Range<Int64> where key % 24 == 7 { try transaction.delete(0, RowKey(key)) }
        try transaction.commit()
        try store.close()
        // No version needs the values any more, so new row groups take their pages.
        store = try Store.open(path: FileImages.path, options: options)
        transaction = try store.beginWrite()
        try Self.insert(transaction, 1000..<1300)
        try transaction.commit()
        let view = try store.snapshot().view
        let keys = try view.keys(0)
        let dead = try Self.deadPages(view)
        // A branch above row groups on pages of former values.
        let branches = try Self.branches(view.state.tables[0].tree, view)
        let lost = try #require(
            branches.first { !$0.pages.isDisjoint(with: dead) }, "no group stands where a value was")
        try store.close()

        var data = try disk.bytes(FileImages.path) ?? []
        let start = Int(lost.branch.page) * Format.pageSize
        data.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
        let damaged = FileImages.Disk()
        try damaged.put(data, at: FileImages.path)
        let report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: damaged)
        options.fileSystem = damaged
        let salvaged = try Store.open(path: "new", options: options)
        #expect(try salvaged.snapshot().view.keys(0) == keys)
        #expect(report.rowsRecovered == keys.count && report.rowsLost == 0)
        try salvaged.close()
    }
}
