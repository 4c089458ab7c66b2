#if SQLite
    /// The keys of a store's table in order, as runs without gaps. By them the comparison checks links independently of
    /// the import.
    struct KeyIndex {
        private var firsts: [Int64] = []
        private var lasts: [Int64] = []
        private(set) var count = 0

        /// - Parameter condition: a condition on the rows; empty for all.
        init(_ file: SQLiteFile, table: String, where condition: String) throws(CoreDataError) {
            let rows = try file.statement("SELECT Z_PK FROM \(quoted(table)) \(condition) ORDER BY Z_PK")
            while try rows.step() {
                let key = rows.integer(0)
                count += 1
                guard let last = lasts.last else {
                    firsts.append(key)
                    lasts.append(key)
                    continue
                }
                guard last < key else {
                    throw CoreDataError(.unknownShape, "\(table): Z_PK \(key) stands twice, or out of order")
                }
                if last + 1 == key {
                    lasts[lasts.count - 1] = key
                } else {
                    firsts.append(key)
                    lasts.append(key)
                }
            }
        }

        @inline(__always)
        func contains(_ key: Int64) -> Bool {
            var (low, high) = (0, lasts.count)
            while low < high {
                let middle = (low + high) / 2
                if lasts[middle] < key { low = middle + 1 } else { high = middle }
            }
            return low < firsts.count && firsts[low] <= key
        }
    }
#endif
