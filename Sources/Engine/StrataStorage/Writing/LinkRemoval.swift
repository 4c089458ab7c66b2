/// Removes the links to rows that will be deleted.
struct LinkRemoval {
    private let targets: LinkTargets
    private let transaction: TransactionChanges
    private var view: ReadView { transaction.view }

    init(to target: RowKey, transaction: TransactionChanges) {
        targets = LinkTargets([target.rawValue])
        self.transaction = transaction
    }

    /// - Parameter targets: rows of one table.
    init(to targets: [Int64], transaction: TransactionChanges) {
        self.init(LinkTargets(targets), transaction)
    }

    private init(_ targets: LinkTargets, _ transaction: TransactionChanges) {
        self.targets = targets
        self.transaction = transaction
    }

    /// Removes the links from all tables.
    /// - Parameter table: of the targets.
    func run(in table: Int) throws(StorageError) {
        for (origin, column) in transaction.plans[table].linking { try run(from: origin, column) }
    }

    /// Removes the links that are elements of collections. No effect during a replay: the record has the removal of
    /// these elements.
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

    /// Removes the links of one column: reads the backlinks first, then writes row by row in key order; if many rows of
    /// a group change, the group's column is written at once.
    /// - Parameter sparesTargets: rows that are targets keep their links, and are deleted with them.
    func run(from origin: Int, _ column: Int, sparesTargets: Bool = false) throws(StorageError) {
        var search = BacklinkSearch(targets.keys, of: origin, column, view)
        do throws(StorageError) {
            while let (keys, links) = try search.next(atMost: transaction.nodes.limits.waitingEntries) {
                // Each piece removes the links to its own targets. Those to later targets are read with a later piece.
                let part = keys == targets.keys.indices ? targets : LinkTargets(Array(targets.keys[keys]))
                let found = sparesTargets ? links.filter { !targets.contains($0.low) } : links
                try LinkRemoval(part, transaction).unlink(found, origin, column)
            }
        } catch {
            // Backlinks named a row that does not exist: damage, not misuse by the caller.
            if case .misuse = error { throw view.missingRow(in: origin) }
            throw error
        }
    }

    /// - Parameter found: backlinks of the targets.
    private func unlink(_ found: [EntryOperation], _ origin: Int, _ column: Int) throws(StorageError) {
        var found = found
        // Each linking row once, with the number of its links to targets.
        var rows = found.map { EntryOperation(high: $0.low, low: 0, delta: $0.delta) }
        try EntryOperation.prepare(&rows)
        #if Zoo
            if PlantedMistake.linkLeft.isPlanted, rows.count > 1 {
                let left = rows.removeLast()
                found.removeAll { $0.low == left.high }
            }
        #endif
        try unlink(rows, found: found, origin: origin, column: column)
    }

    /// - Parameters:
    ///   - rows: `high` is the key, ascending, and `delta` the number of its links to targets.
    ///   - found: backlinks from these rows.
    private func unlink(
        _ rows: [EntryOperation], found: [EntryOperation], origin: Int, column: Int
    ) throws(StorageError) {
        let definition = transaction.plans[origin].columns[column]
        let keys = rows.map(\.high)
        var alone: [Int] = []
        var start = 0
        while start < rows.count {
            let run = try transaction.editor(origin).use { (editor) throws(StorageError) in
                try editor.run(of: keys[start...])
            }
            let end = start + run.count
            // An index of the column changes with each value.
            if definition.index != .none || run.count < Self.rowsAtOnce || run.count < run.rows / 16 {
                alone += start..<end
            } else {
                let long = try unlink(keys[start..<end], origin: origin, column: column, definition: definition)
                alone += long.map { start + $0 }
                try transaction.spillIfLarge()
            }
            start = end
        }
        if alone.count < rows.count { try noteGone(found, except: Set(alone.map { keys[$0] }), origin, definition.id) }
        for index in alone {
            try unlink(
                origin, RowKey(keys[index]), column: column, definition: definition, links: Int(rows[index].delta))
            try transaction.spillIfLarge()
        }
    }

    /// With fewer changed rows than this, or than a sixteenth of the group, the removal writes row by row.
    private static let rowsAtOnce = 8

    /// Removes the backlinks of rows that were written at once.
    private func noteGone(
        _ found: [EntryOperation], except alone: Set<Int64>, _ origin: Int, _ column: ColumnID
    ) throws(StorageError) {
        for link in found where alone.isEmpty || !alone.contains(link.low) {
            try transaction.workspace.entries.noteGone(link, table: origin, column: column, in: view)
        }
    }

    /// Removes links from rows of one group.
    /// - Returns: indices in `keys` of the rows with long values, which are not changed.
    private func unlink(
        _ keys: ArraySlice<Int64>, origin: Int, column: Int, definition: ColumnDefinition
    ) throws(StorageError) -> [Int] {
        let plan = transaction.plans[origin]
        var long: [Int] = []
        try transaction.editor(origin).use { (editor) throws(StorageError) in
            try editor.rewrite(keys, column) { (values, place, index) throws(StorageError) in
                if values.isLong(place) { return long.append(index - keys.startIndex) }
                let key = RowKey(keys[index])
                if definition.type == .link {
                    values.set(place, .null)
                    return transaction.noteSet(plan, table: origin, key: key, column: column, to: .null)
                }
                guard let reader = LinkPayload.Reader(values.bytes(place)) else { throw view.missingRow(in: origin) }
                let payload = reader.without(keepsPlaces: definition.keepsPlaces) { targets.contains($0) }
                try Cell.withCopy(of: payload) { (cell) throws(StorageError) in
                    values.set(place, cell)
                    transaction.noteSet(plan, table: origin, key: key, column: column, to: cell)
                }
            }
        }
        view.generation &+= 1
        return long
    }

    /// - Parameter links: number of the column's links to the targets.
    private func unlink(
        _ table: Int, _ key: RowKey, column: Int, definition: ColumnDefinition, links: Int
    ) throws(StorageError) {
        if definition.type == .link {
            try transaction.change(table, key, column: column, to: .null)
            return
        }
        if definition.collection != nil {
            let reader = try CollectionReader(view, table: table, key: key, column: column)
            // A short collection is written anew.
            if reader.payload == nil {
                return try unlink(table, key, column: column, definition: definition, reader: reader, links: links)
            }
        }
        guard let row = try view.locate(table, key) else { throw view.missingRow(in: table) }
        guard let bytes = try view.bytes(row, column), let reader = LinkPayload.Reader(bytes) else {
            throw view.damage(at: row)
        }
        let payload = reader.without(keepsPlaces: definition.keepsPlaces) { targets.contains($0) }
        try Cell.withCopy(of: payload) { (cell) throws(StorageError) in
            try transaction.change(table, key, column: column, to: cell)
        }
    }

    /// Removes links from a tree, from its end, so that the places stay valid.
    private func unlink(
        _ table: Int, _ key: RowKey, column: Int, definition: ColumnDefinition, reader: CollectionReader,
        links: Int
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
                try transaction.collections.setNull(table, key, column: column, range: last..<upper)
            } else {
                try transaction.collections.remove(table, key, column: column, range: last..<upper)
            }
        }
    }
}

/// A set of rows whose incoming links are searched.
struct LinkTargets {
    /// Ascending.
    let keys: [Int64]
    /// A bit for each key from the first on, if the keys are close together.
    private var bits: [UInt64] = []
    /// The keys, if there are several that are not close together.
    private var members: Set<Int64> = []

    init(_ keys: [Int64]) {
        var sorted = keys.sorted()
        var kept = 0
        for key in sorted where kept == 0 || sorted[kept - 1] != key {
            sorted[kept] = key
            kept += 1
        }
        sorted.removeLast(sorted.count - kept)
        self.keys = sorted
        guard self.keys.count > 1, let low = self.keys.first, let high = self.keys.last else { return }
        let (span, overflow) = high.subtractingReportingOverflow(low)
        if overflow || span >= 64 * Int64(self.keys.count) {
            members = Set(keys)
        } else {
            bits = Array(repeating: 0, count: Int(span) / 64 + 1)
            for key in self.keys { bits[Int(key - low) >> 6] |= 1 << UInt64((key - low) & 63) }
        }
    }

    @inline(__always)
    func contains(_ key: Int64) -> Bool {
        guard let low = keys.first else { return false }
        if keys.count == 1 { return low == key }
        if bits.isEmpty { return members.contains(key) }
        let place = key &- low
        return key >= low && place >= 0 && place >> 6 < bits.count
            && bits[Int(place >> 6)] >> UInt64(place & 63) & 1 != 0
    }

    /// Places of a collection's links to the targets, ascending. The first leaf is searched first and the last one
    /// next: a program that empties a list from either end, and deletes the rows, finds each link at once.
    /// - Parameter links: number of links to the targets, after which the search ends.
    /// - Complexity: O(count), on packed values.
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
