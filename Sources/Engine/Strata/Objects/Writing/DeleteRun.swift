import StrataStorage

/// Deletes rows, and the rows that delete rules add to them, without recursion: a chain of any length takes no stack.
struct DeleteRun {
    struct Row {
        /// The row's class; it lives as long as the Realm.
        unowned(unsafe) var access: ClassAccess
        var key: Int64
        #if Zoo
            /// Number of owners above it in the run.
            var depth = 0
        #endif
    }

    private let write: RunningWrite
    private var transaction: WriteTransaction { write.transaction }
    /// Rows to which a deleted owner linked by a property with `cascadeIfLast`: deleted if no other link to them is
    /// left.
    private var orphans: [Row] = []

    init(_ write: RunningWrite) { self.write = write }

    /// - Returns: the error of a `deny` rule; nil if there is none.
    /// - Complexity: O(log rows) per deleted row and per link from or to it; less if many are close together.
    mutating func delete(_ rows: [Row]) throws(StorageError) -> RealmError? {
        if let first = rows.first, first.access.ruled.isEmpty, rows.allSatisfy({ $0.access === first.access }) {
            try delete(rows.map { $0.key }, of: first.access.table)
            return nil
        }
        if mayBeDenied(rows) { return try deleteOneByOne(rows) }
        var wave = rows
        while !wave.isEmpty {
            let next = try followRules(of: wave)
            try deleteAtOnce(wave)
            wave = next.isEmpty ? try unreferencedOrphans() : next
        }
        return nil
    }

    /// Whether a rule of the rows' classes, or of classes whose rows the rules delete, is `deny`. Its result depends on
    /// the order of deletions, so these must be made one by one.
    private func mayBeDenied(_ rows: [Row]) -> Bool {
        var known: Set<ObjectIdentifier> = []
        var waiting: [ClassAccess] = []
        for row in rows where !row.access.ruled.isEmpty && known.insert(ObjectIdentifier(row.access)).inserted {
            waiting.append(row.access)
        }
        while let access = waiting.popLast() {
            for property in access.ruled {
                if property.deleteRule == .deny { return true }
                guard let target = access.target(of: property) else { continue }
                if !target.ruled.isEmpty, known.insert(ObjectIdentifier(target)).inserted { waiting.append(target) }
            }
        }
        return false
    }

    /// The rows that the rules of these rows delete next. Targets of `cascadeIfLast` are put into `orphans` instead.
    private mutating func followRules(of wave: [Row]) throws(StorageError) -> [Row] {
        var next: [Row] = []
        // A row to which many rows link is in the wave many times, and its rules are followed once: otherwise waves
        // would grow with the number of paths.
        var known: [Int: Set<Int64>] = [:]
        let view = transaction.view
        for row in wave where !row.access.ruled.isEmpty {
            guard known[row.access.table, default: []].insert(row.key).inserted,
                let location = try view.locate(row.access.table, RowKey(row.key))
            else { continue }
            for property in row.access.ruled {
                let targets = try targets(of: row, at: location, property: property, in: view)
                switch property.deleteRule {
                case .nullify, .deny: break
                case .cascade:
                    next += targets
                    #if Zoo
                        if PlantedMistake.cascadeMissesOne.isPlanted, !targets.isEmpty { next.removeLast() }
                    #endif
                case .cascadeIfLast: orphans += targets
                }
            }
        }
        return next
    }

    /// Deletes rows whose rules were followed, table by table.
    private func deleteAtOnce(_ rows: [Row]) throws(StorageError) {
        guard let first = rows.first else { return }
        if rows.allSatisfy({ $0.access.table == first.access.table }) {
            return try delete(rows.map(\.key), of: first.access.table)
        }
        let byTable = Dictionary(grouping: rows) { $0.access.table }
        for (table, rows) in byTable.sorted(by: { $0.key < $1.key }) { try delete(rows.map(\.key), of: table) }
    }

    private func delete(_ keys: [Int64], of table: Int) throws(StorageError) {
        mark(keys, of: table)
        try transaction.bulk.delete(table, keys)
    }

    private mutating func deleteOneByOne(_ rows: [Row]) throws(StorageError) -> RealmError? {
        try unlink(rows)
        var waiting = rows
        while true {
            while let row = waiting.popLast() {
                let view = transaction.view
                guard let location = try view.locate(row.access.table, RowKey(row.key)) else { continue }
                for property in row.access.ruled {
                    let targets = try targets(of: row, at: location, property: property, in: view)
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
                        #if Zoo
                            if PlantedMistake.denyIgnored.isPlanted { break }
                        #endif
                        return RealmError(
                            .deleteDenied,
                            "the \(row.access.name) with key \(row.key) still leads to \(targets.count) objects by "
                                + "'\(property.name)', whose delete rule is deny; delete these first, or unlink them")
                    }
                }
                mark(CollectionOfOne(row.key), of: row.access.table)
                try transaction.delete(row.access.table, RowKey(row.key))
            }
            waiting = try unreferencedOrphans()
            if waiting.isEmpty { return nil }
        }
    }

    /// Removes the links to rows that are about to be deleted one by one: so each collection that links to several of
    /// them is searched once.
    private func unlink(_ rows: [Row]) throws(StorageError) {
        if rows.count < 2 { return }
        let byTable = Dictionary(grouping: rows) { $0.access.table }
        for (table, rows) in byTable.sorted(by: { $0.key < $1.key }) where rows.count > 1 {
            mark(rows.lazy.map(\.key), of: table)
            try transaction.bulk.unlink(table, rows.map { RowKey($0.key) })
        }
    }

    private func mark(_ keys: some Sequence<Int64>, of table: Int) {
        let instance = write.instance
        instance.shown.marks.markDeleted(
            table, keys, linking: transaction.view.linkColumns(to: table), instance.stamp &+ 1)
    }

    private func targets(
        of row: Row, at location: RowLocation, property: BoundProperty, in view: ReadView
    ) throws(StorageError) -> [Row] {
        guard let target = row.access.target(of: property) else { return [] }
        var found: [Row] = []
        if property.isCollection {
            found = try view.links(location, row.key, property).map { Row(access: target, key: $0) }
        } else if let key = try view.integer(location, property.column) {
            found = [Row(access: target, key: key)]
        }
        #if Zoo
            for place in found.indices { found[place].depth = row.depth + 1 }
            if PlantedMistake.cascadeShallow.isPlanted, property.deleteRule == .cascade, row.depth >= 3 { found = [] }
        #endif
        return found
    }

    /// Those of `orphans` that exist and to which nothing links any more. Empties `orphans`.
    private mutating func unreferencedOrphans() throws(StorageError) -> [Row] {
        defer { orphans.removeAll() }
        let view = transaction.view
        var found: [Row] = []
        for orphan in orphans {
            guard try view.locate(orphan.access.table, RowKey(orphan.key)) != nil else { continue }
            #if Zoo
                if PlantedMistake.sharedDeleted.isPlanted {
                    found.append(orphan)
                    continue
                }
            #endif
            if try linkCount(orphan, view) == 0 { found.append(orphan) }
        }
        return found
    }

    private func linkCount(_ row: Row, _ view: ReadView) throws(StorageError) -> Int {
        var count = 0
        for (table, column) in view.linkColumns(to: row.access.table) {
            count += try view.backlinkCount(to: RowKey(row.key), of: table, column)
        }
        return count
    }
}
