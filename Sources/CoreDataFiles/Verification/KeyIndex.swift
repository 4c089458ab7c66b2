#if SQLite
    /// The keys of a store's table in order: a comparison's own answer whether a link leads somewhere.
    struct KeyIndex {
        private var keys: [Int64] = []

        /// - Parameter condition: rows that count; empty for all.
        init(_ file: SQLiteFile, table: String, where condition: String) throws(CoreDataError) {
            let rows = try file.statement("SELECT Z_PK FROM \(quoted(table)) \(condition)")
            var isAscending = true
            while try rows.step() {
                let key = rows.integer(0)
                if let last = keys.last, last >= key { isAscending = false }
                keys.append(key)
            }
            if !isAscending { keys.sort() }
        }

        var count: Int { keys.count }

        @inline(__always)
        func contains(_ key: Int64) -> Bool {
            guard let first = keys.first else { return false }
            // Keys without gaps are where they would be.
            let place = key &- first
            if place >= 0, place < Int64(keys.count), keys[Int(place)] == key { return true }
            var (low, high) = (0, keys.count)
            while low < high {
                let middle = (low + high) / 2
                if keys[middle] < key { low = middle + 1 } else { high = middle }
            }
            return low < keys.count && keys[low] == key
        }
    }
#endif
