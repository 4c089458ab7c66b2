import StrataStorage

/// Deletes rows and follows delete rules, without recursion: a chain of any length takes no stack.
struct DeleteRun {
    struct Row {
        /// Lives as long as the Realm.
        unowned(unsafe) var access: ClassAccess
        var key: Int64
    }

    private let write: RunningWrite
    private var transaction: WriteTransaction { write.transaction }
    /// Rows to which a deleted owner led by `cascadeIfLast`.
    private var orphans: [Row] = []

    init(_ write: RunningWrite) { self.write = write }

    /// - Returns: the refusal of a `deny` rule.
    /// - Complexity: O(log rows) per deleted row and per link from or to it.
    mutating func delete(_ rows: [Row]) throws(StorageError) -> Realm.Error? {
        try unlink(rows)
        guard rows.contains(where: { !$0.access.ruled.isEmpty }) else {
            for row in rows { try deleteIfThere(row) }
            return nil
        }
        var waiting = rows
        while true {
            while let row = waiting.popLast() {
                let view = transaction.view
                guard let location = try view.locate(row.access.table, RowKey(row.key)) else { continue }
                for property in row.access.ruled {
                    let targets = try targets(row, location, property, view)
                    switch property.deleteRule {
                    case .nullify: break
                    case .cascade:
                        waiting += targets
                        #if Zoo
                            if PlantedMistake.cascadeMissesOne.isPlanted, !targets.isEmpty { waiting.removeLast() }
                        #endif
                    case .cascadeIfLast: orphans += targets
                    case .deny where targets.isEmpty: break
                    case .deny:
                        return Realm.Error(
                            .deleteDenied,
                            "the \(row.access.name) with key \(row.key) still leads to \(targets.count) objects by "
                                + "'\(property.name)', whose delete rule is deny")
                    }
                }
                mark(row)
                try transaction.delete(row.access.table, RowKey(row.key))
            }
            waiting = try unreferencedOrphans()
            if waiting.isEmpty { return nil }
        }
    }

    /// Takes links to the rows out of collections: each of those is searched once for all rows, and not once for each.
    private func unlink(_ rows: [Row]) throws(StorageError) {
        if rows.count < 2 { return }
        let byTable = Dictionary(grouping: rows) { $0.access.table }
        for (table, rows) in byTable.sorted(by: { $0.key < $1.key }) where rows.count > 1 {
            for row in rows { mark(row) }
            try transaction.unlink(table, rows.map { RowKey($0.key) })
        }
    }

    /// Without a look at the row first: that would make storage settle every delete by itself.
    private func deleteIfThere(_ row: Row) throws(StorageError) {
        mark(row)
        do throws(StorageError) { try transaction.delete(row.access.table, RowKey(row.key)) } catch {
            guard case .misuse(.noSuchRow) = error else { throw error }
        }
    }

    private func mark(_ row: Row) {
        let instance = write.instance
        instance.marks.markDeleted(row.access.table, row.key, transaction.view.schema, instance.stamp &+ 1)
    }

    private func targets(
        _ row: Row, _ location: RowLocation, _ property: BoundProperty, _ view: ReadView
    ) throws(StorageError) -> [Row] {
        guard let target = row.access.target(of: property) else { return [] }
        if property.isCollection {
            return try view.links(location, row.key, property).map { Row(access: target, key: $0) }
        }
        return try view.integer(location, property.column).map { [Row(access: target, key: $0)] } ?? []
    }

    /// Orphans to which nothing leads any more.
    private mutating func unreferencedOrphans() throws(StorageError) -> [Row] {
        defer { orphans.removeAll() }
        let view = transaction.view
        var found: [Row] = []
        for orphan in orphans {
            guard try view.locate(orphan.access.table, RowKey(orphan.key)) != nil else { continue }
            if try linkCount(orphan, view) == 0 { found.append(orphan) }
        }
        return found
    }

    private func linkCount(_ row: Row, _ view: ReadView) throws(StorageError) -> Int {
        var count = 0
        for (table, definition) in view.schema.tables.enumerated() {
            for (column, columnDefinition) in definition.columns.enumerated()
            where columnDefinition.type.isLink && columnDefinition.target == row.access.tableID {
                count += try view.backlinkCount(to: RowKey(row.key), of: table, column)
            }
        }
        return count
    }
}
