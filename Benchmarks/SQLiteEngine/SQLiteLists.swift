#if SQLite
    import Harness
    import RunRecords

    /// Lists as rows (owner, place, value) of a table without a rowid, or packed as a blob of the owner's row.
    final class SQLiteLists: ListSession {
        private let connection: SQLiteConnection
        private let keeping: ListKeeping

        /// The distance between the places of two elements that are appended one after the other, if there are gaps.
        private static let gap: Int64 = 1 << 20

        init(_ connection: SQLiteConnection, _ keeping: ListKeeping) throws(EngineError) {
            self.connection = connection
            self.keeping = keeping
            let owner = keeping == .packed ? "id INTEGER PRIMARY KEY, elements BLOB NOT NULL" : "id INTEGER PRIMARY KEY"
            try connection.run("CREATE TABLE IF NOT EXISTS list_owner (\(owner))")
            if keeping == .packed { return }
            try connection.run(
                "CREATE TABLE IF NOT EXISTS list_element (owner INTEGER NOT NULL, place INTEGER NOT NULL, "
                    + "value INTEGER NOT NULL, PRIMARY KEY (owner, place)) WITHOUT ROWID")
        }

        func sizes() throws(EngineError) -> SizePoint {
            let pageSize = try connection.integer("PRAGMA page_size")
            let pages = try connection.integer("PRAGMA page_count")
            return SizePoint(fileBytes: pages * pageSize)
        }

        func close() throws(EngineError) { connection.close() }

        private var step: Int64 { keeping == .gapped ? Self.gap : 1 }

        func addLists(_ lists: ListBatch) throws(EngineError) {
            let (connection, step) = (connection, step)
            if keeping == .packed { return try addPacked(lists) }
            let owners = try connection.statement("INSERT INTO list_owner VALUES (?)")
            let elements = try connection.statement("INSERT INTO list_element VALUES (?, ?, ?)")
            try connection.bulkTransaction { () throws(EngineError) in
                for owner in lists.owners {
                    owners.bind(1, owner)
                    try owners.finish()
                    elements.bind(1, owner)
                    var place: Int64 = 0
                    for value in lists.elements(owner) {
                        elements.bind(2, place)
                        elements.bind(3, value)
                        try elements.finish()
                        place += step
                    }
                }
            }
        }

        private func addPacked(_ lists: ListBatch) throws(EngineError) {
            let owners = try connection.statement("INSERT INTO list_owner VALUES (?, ?)")
            try connection.bulkTransaction { () throws(EngineError) in
                for owner in lists.owners {
                    owners.bind(1, owner)
                    owners.bind(2, blob: lists.elements(owner))
                    try owners.finish()
                }
            }
        }

        func change(owner: Int64, _ change: ListChange, beforeCommit: () -> Void) throws(EngineError) {
            guard keeping != .packed else { throw EngineError(.unsupported, "a packed list is one value") }
            try connection.transaction { () throws(EngineError) in
                switch change {
                case .append(let values), .appendAll(let values): try append(values, to: owner)
                case .insert(let values, let places):
                    for (value, place) in zip(values, places) {
                        if keeping == .dense {
                            try insertDense(value, at: Int64(place), of: owner)
                        } else {
                            try insertGapped(value, at: place, of: owner)
                        }
                    }
                case .remove(let places): for place in places { try remove(at: place, of: owner) }
                case .move: throw EngineError(.unsupported, "no lists of its own")
                }
                beforeCommit()
            }
        }

        /// Looks up the last place once: the writer then knows the next ones.
        private func append(_ values: [Int64], to owner: Int64) throws(EngineError) {
            let last = try connection.statement("SELECT max(place) FROM list_element WHERE owner = ?")
            last.bind(1, owner)
            _ = try last.step()
            var place = last.isNull(0) ? 0 : last.integer(0) + step
            last.reset()
            let insert = try connection.statement("INSERT INTO list_element VALUES (?, ?, ?)")
            insert.bind(1, owner)
            for value in values {
                insert.bind(2, place)
                insert.bind(3, value)
                try insert.finish()
                place += step
            }
        }

        private func add(_ value: Int64, _ place: Int64, _ owner: Int64) throws(EngineError) {
            let insert = try connection.statement("INSERT INTO list_element VALUES (?, ?, ?)")
            insert.bind(1, owner)
            insert.bind(2, place)
            insert.bind(3, value)
            try insert.finish()
        }

        // MARK: Places without gaps

        /// Moves the place of each later row by one. Through negative places, because SQLite checks for duplicate keys
        /// after every row.
        private func insertDense(_ value: Int64, at place: Int64, of owner: Int64) throws(EngineError) {
            let away = try connection.statement(
                "UPDATE list_element SET place = -2 - place WHERE owner = ? AND place >= ?")
            away.bind(1, owner)
            away.bind(2, place)
            try away.finish()
            let back = try connection.statement(
                "UPDATE list_element SET place = -1 - place WHERE owner = ? AND place < 0")
            back.bind(1, owner)
            try back.finish()
            try add(value, place, owner)
        }

        private func remove(at place: Int, of owner: Int64) throws(EngineError) {
            let number = keeping == .dense ? Int64(place) : try number(at: place, of: owner)
            let delete = try connection.statement("DELETE FROM list_element WHERE owner = ? AND place = ?")
            delete.bind(1, owner)
            delete.bind(2, number)
            try delete.finish()
            guard keeping == .dense else { return }
            let close = try connection.statement(
                "UPDATE list_element SET place = place - 1 WHERE owner = ? AND place > ?")
            close.bind(1, owner)
            close.bind(2, number)
            try close.finish()
        }

        // MARK: Places with gaps

        private static let counting = "SELECT place, value FROM list_element WHERE owner = ? ORDER BY place"

        private func number(at place: Int, of owner: Int64) throws(EngineError) -> Int64 {
            let find = try connection.statement(Self.counting + " LIMIT 1 OFFSET ?")
            defer { find.reset() }
            find.bind(1, owner)
            find.bind(2, Int64(place))
            guard try find.step() else { throw EngineError(.refused, "no element at \(place)") }
            return find.integer(0)
        }

        private func insertGapped(_ value: Int64, at place: Int, of owner: Int64) throws(EngineError) {
            if let number = try freeNumber(at: place, of: owner) { return try add(value, number, owner) }
            // No number is free between the neighbours: renumber the whole list.
            let values = try readList(owner: owner)
            let forget = try connection.statement("DELETE FROM list_element WHERE owner = ?")
            forget.bind(1, owner)
            try forget.finish()
            try append(values, to: owner)
            guard let number = try freeNumber(at: place, of: owner) else {
                throw EngineError(.refused, "no number is free at \(place)")
            }
            try add(value, number, owner)
        }

        /// A number between those of the neighbours; nil if none is free.
        private func freeNumber(at place: Int, of owner: Int64) throws(EngineError) -> Int64? {
            let find = try connection.statement(Self.counting + " LIMIT ? OFFSET ?")
            defer { find.reset() }
            find.bind(1, owner)
            find.bind(2, Int64(place == 0 ? 1 : 2))
            find.bind(3, Int64(max(0, place - 1)))
            guard try find.step() else { return 0 }
            let first = find.integer(0)
            if place == 0 { return first - step }
            guard try find.step() else { return first + step }
            let second = find.integer(0)
            return second - first > 1 ? first + (second - first) / 2 : nil
        }

        // MARK: Reading

        func readElements(owner: Int64, at places: [Int]) throws(EngineError) -> ListDigest {
            guard keeping != .packed else { throw EngineError(.unsupported, "a packed list is one value") }
            let text =
                keeping == .dense
                ? "SELECT place, value FROM list_element WHERE owner = ? AND place = ?"
                : Self.counting + " LIMIT 1 OFFSET ?"
            let find = try connection.statement(text)
            var digest = ListDigest()
            try connection.reading { () throws(EngineError) in
                find.bind(1, owner)
                for place in places {
                    find.bind(2, Int64(place))
                    guard try find.step() else { throw EngineError(.refused, "no element at \(place)") }
                    digest.add(find.integer(1))
                    find.reset()
                }
            }
            return digest
        }

        func walkLists(owners: [Int64]) throws(EngineError) -> ListDigest {
            var digest = ListDigest()
            let (connection, keeping) = (connection, keeping)
            let walk = try connection.statement(
                keeping == .packed ? "SELECT elements FROM list_owner WHERE id = ?" : Self.counting)
            try connection.reading { () throws(EngineError) in
                for owner in owners {
                    walk.bind(1, owner)
                    while try walk.step() {
                        if keeping == .packed {
                            for value in Self.packed(walk.blob(0)) { digest.add(value) }
                        } else {
                            digest.add(walk.integer(1))
                        }
                    }
                    walk.reset()
                    digest.endList()
                }
            }
            return digest
        }

        func readList(owner: Int64) throws(EngineError) -> [Int64] {
            let walk = try connection.statement(
                keeping == .packed ? "SELECT elements FROM list_owner WHERE id = ?" : Self.counting)
            defer { walk.reset() }
            walk.bind(1, owner)
            var values: [Int64] = []
            while try walk.step() {
                if keeping == .packed { values = Self.packed(walk.blob(0)) } else { values.append(walk.integer(1)) }
            }
            return values
        }

        private static func packed(_ bytes: UnsafeRawBufferPointer) -> [Int64] {
            stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
                bytes.loadUnaligned(fromByteOffset: start, as: Int64.self)
            }
        }
    }
#endif
