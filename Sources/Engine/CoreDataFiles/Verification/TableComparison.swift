#if SQLite
    import StrataStorage

    /// Compares the rows of one hierarchy with those of its class, both in key order.
    final class TableComparison {
        private let name: String
        private let stored: StoredRows
        private let found: FoundRows
        private(set) var counts: [Int64: (stored: Int, found: Int)] = [:]
        /// The hash of the store's next row, whose key is `stored.key`; nil after the last.
        private var next: UInt64?
        private var report = CoreDataVerification.Report()

        init(_ name: String, _ stored: StoredRows, _ found: FoundRows) {
            self.name = name
            self.stored = stored
            self.found = found
        }

        /// - Parameter told: called from time to time with the number of rows; may throw.
        func run(
            _ view: ReadView, _ table: Int, report: inout CoreDataVerification.Report,
            told: (Int) throws(CoreDataError) -> Void
        ) throws {
            self.report = report
            next = try stored.next()
            var failure: CoreDataError?
            try view.scan(table, columns: found.positions) { (batch) throws(StorageError) in
                do throws(CoreDataError) {
                    for row in 0..<batch.count { try compare(batch, row) }
                    try told(self.report.rows)
                } catch {
                    failure = error
                    return false
                }
                return true
            }
            if let failure { throw failure }
            while next != nil { try takeMissing() }
            report = self.report
        }

        @inline(__always)
        private func compare(_ batch: RowBatch, _ row: Int) throws(CoreDataError) {
            let key = batch.key(row).rawValue
            if batch.isNull(found.versionPlace, row) {
                report.own += 1
                return
            }
            while next != nil, stored.key < key { try takeMissing() }
            let hash = found.hash(batch, row)
            report.foundHash &+= Self.total(key, hash)
            counts[found.entity(batch, row), default: (0, 0)].found += 1
            guard let wanted = next, stored.key == key else {
                report.findings.add(.extraRow, "\(name) \(key)")
                return
            }
            if wanted != hash, !forgives { report.findings.add(.differentRow, "\(name) \(key)") }
            try take(wanted)
        }

        private var forgives: Bool {
            #if Zoo
                PlantedMistake.verificationForgives.isPlanted
            #else
                false
            #endif
        }

        private func takeMissing() throws(CoreDataError) {
            guard let wanted = next else { return }
            report.findings.add(.missingRow, "\(name) \(stored.key)")
            try take(wanted)
        }

        /// Counts the row of the store, and advances to the next.
        private func take(_ hash: UInt64) throws(CoreDataError) {
            report.rows += 1
            report.storedHash &+= Self.total(stored.key, hash)
            counts[stored.entity, default: (0, 0)].stored += 1
            next = try stored.next()
        }

        @inline(__always)
        private static func total(_ key: Int64, _ hash: UInt64) -> UInt64 {
            var total = RowHash()
            total.add(integer: key)
            total.add(integer: Int64(bitPattern: hash))
            return total.value
        }
    }
#endif
