/// Takes out the links that lead to rows, which are to be deleted.
struct LinkRemoval {
    private let targets: LinkTargets
    private let transaction: WriteTransaction
    private var view: ReadView { transaction.view }

    init(to target: RowKey, transaction: WriteTransaction) {
        targets = LinkTargets([target.rawValue])
        self.transaction = transaction
    }

    /// - Parameter targets: rows of one table.
    init(to targets: [RowKey], transaction: WriteTransaction) {
        self.targets = LinkTargets(targets.map(\.rawValue))
        self.transaction = transaction
    }

    /// Takes them out of all tables.
    /// - Parameter table: the rows'.
    func run(in table: Int) throws(StorageError) {
        for (origin, column) in transaction.plans[table].linking { try run(from: origin, column) }
    }

    /// Takes them out of collections alone. Not while a log is replayed, which says what was taken out.
    func takeFromCollections(of table: Int) throws(StorageError) {
        if transaction.isReplay { return }
        do throws(StorageError) {
            for (origin, column) in transaction.plans[table].linking
            where transaction.plans[origin].isCollection[column] {
                try run(from: origin, column)
            }
        } catch {
            throw transaction.noted(error)
        }
    }

    /// Takes those of one column out.
    func run(from origin: Int, _ column: Int) throws(StorageError) {
        // Each row once, however many of the targets it leads to, and with how many links.
        var origins: [RowKey: Int] = [:]
        for target in targets.keys {
            try view.backlinks(to: RowKey(target), of: origin, column) { (row, count) throws(StorageError) in
                origins[row, default: 0] += count
                return true
            }
        }
        var rows = origins.sorted { $0.key < $1.key }
        #if Zoo
            if PlantedMistake.linkLeft.isPlanted, rows.count > 1 { rows.removeLast() }
        #endif
        for (row, count) in rows {
            try unlink(origin, row, column, transaction.plans[origin].columns[column], links: count)
            try transaction.spillIfLarge()
        }
    }

    /// - Parameter links: so many of the column lead to the targets.
    private func unlink(
        _ table: Int, _ key: RowKey, _ column: Int, _ definition: ColumnDefinition, links: Int
    ) throws(StorageError) {
        if definition.type == .link {
            try transaction.change(table, key, column, .null)
            return
        }
        if definition.collection != nil {
            let reader = try CollectionReader(view, table, key, column)
            // What is short is written anew.
            if reader.payload == nil { return try unlink(table, key, column, definition, reader, links) }
        }
        guard let row = try view.locate(table, key) else { throw view.missingRow(in: table) }
        guard let bytes = try view.bytes(row, column), let reader = LinkPayload.Reader(bytes) else {
            throw view.damage(at: row)
        }
        let payload = reader.without(keepsPlaces: definition.keepsPlaces) { targets.contains($0) }
        try Cell.withCopy(of: payload) { (cell) throws(StorageError) in
            try transaction.change(table, key, column, cell)
        }
    }

    /// Takes links out of a tree: from its end, so that places keep their meaning.
    private func unlink(
        _ table: Int, _ key: RowKey, _ column: Int, _ definition: ColumnDefinition, _ reader: CollectionReader,
        _ links: Int
    ) throws(StorageError) {
        var end: Int?
        var places = try targets.places(in: reader, atMost: links)[...]
        while let last = places.popLast() {
            let upper = (end ?? last) + 1
            if let next = places.last, next == last - 1 {
                end = upper - 1
                continue
            }
            end = nil
            if definition.keepsPlaces {
                try transaction.collections.setNull(table, key, column, last..<upper)
            } else {
                try transaction.collections.remove(table, key, column, last..<upper)
            }
        }
    }
}

extension WriteTransaction {
    /// Takes links to rows out of collections, each of which is searched once: to be called by whoever deletes many,
    /// before the first of them.
    package func unlink(_ table: Int, _ keys: [RowKey]) throws(StorageError) {
        try check(table)
        if keys.count > 1 { try LinkRemoval(to: keys, transaction: self).takeFromCollections(of: table) }
    }
}

/// Rows that links are looked for that lead to them.
struct LinkTargets {
    /// Ascending.
    let keys: [Int64]
    private let members: Set<Int64>

    init(_ keys: [Int64]) {
        self.keys = keys.sorted()
        members = keys.count > 1 ? Set(keys) : []
    }

    @inline(__always)
    func contains(_ key: Int64) -> Bool { keys.count == 1 ? keys[0] == key : members.contains(key) }

    /// Where links of a collection lead to them, ascending. The first elements are looked at first, then the last ones:
    /// whoever takes elements off a list's end and deletes them finds each at once.
    /// - Parameter links: so many are there; the search ends with them.
    /// - Complexity: O(count), over packed values.
    func places(in reader: CollectionReader, atMost links: Int) throws(StorageError) -> [Int] {
        var found: [Int] = []
        if reader.count == 0 || keys.isEmpty { return found }
        let first = try reader.part(at: 0)
        look(in: first, &found)
        if found.count >= links { return found }
        let last = try reader.part(at: reader.count - 1)
        if last.first > 0 { look(in: last, &found) }
        if found.count >= links { return found }
        try reader.forEachPart(from: first.end) { (part) throws(StorageError) in
            if part.first == last.first { return false }
            look(in: part, &found)
            return found.count < links
        }
        return found.sorted()
    }

    private func look(in part: CollectionPart, _ found: inout [Int]) {
        guard let low = keys.first, let high = keys.last, part.mayHaveIntegers(low...high) else { return }
        part.forEachInteger { place, link in
            if link >= low, link <= high, contains(link) { found.append(place) }
        }
    }
}
