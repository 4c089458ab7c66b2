#if LMDB
    import CLMDB
    import Harness
    import Measuring
    import PackedRows
    import RunRecords

    extension LMDBSession: QuerySession, SnapshotSession {
        func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
            let table = try table(reads.table)
            return try environment.read { transaction throws(EngineError) in
                try read(reads, table, transaction, latency: latency)
            }
        }

        private func read(
            _ reads: PointReads, _ table: PackedTable, _ transaction: LMDBTransaction, latency: LatencyRecorder?
        ) throws(EngineError) -> ReadDigest {
            var cells: [PackedCell] = []
            for name in reads.columns { cells.append(PackedCell(try table.column(name), of: table)) }
            let number = table.number
            var digest = ReadDigest()
            let buffer = key
            let isEach = reads.snapshot == .each
            for (index, key) in reads.keys.enumerated() {
                if let latency {
                    try latency.timeSampled(index) { () throws(EngineError) in
                        if isEach { try transaction.takeNewest() }
                        try Self.read(
                            key, buffer, number: number, cells: cells, transaction: transaction, digest: &digest)
                    }
                } else {
                    if isEach { try transaction.takeNewest() }
                    try Self.read(key, buffer, number: number, cells: cells, transaction: transaction, digest: &digest)
                }
            }
            return digest
        }

        @inline(__always)
        private static func read(
            _ key: Int64, _ buffer: KeyBuffer, number: UInt8, cells: [PackedCell],
            transaction: LMDBTransaction, digest: inout ReadDigest
        ) throws(EngineError) {
            buffer.set(number, key)
            guard let value = try transaction.get(buffer) else { return }
            for cell in cells { try cell.add(key, value, to: &digest) }
        }

        func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
            let table = try self.table(table)
            let cell = PackedCell(try table.column(column, .text), of: table)
            let wanted = PackedText(text)
            var count = 0
            try environment.read { transaction throws(EngineError) in
                try transaction.scan(table) { (_, value) throws(EngineError) in
                    if wanted.equals(try cell.bytes(value)) { count += 1 }
                    return true
                }
            }
            return count
        }

        func sum(table: String, column: String) throws(EngineError) -> Int64 {
            try Int64(bitPattern: iterate(table: table, column: column).sum)
        }

        func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
            let table = try self.table(filter.table)
            let first = PackedCell(try table.column(filter.integer, .integer), of: table)
            let second = PackedCell(try table.column(filter.real, .real), of: table)
            var count = 0
            try environment.read { transaction throws(EngineError) in
                try transaction.scan(table) { (key, value) throws(EngineError) in
                    if Int64(bitPattern: try first.word(key, value)) > filter.above,
                        Double(bitPattern: try second.word(key, value)) < filter.below
                    {
                        count += 1
                    }
                    return true
                }
            }
            return count
        }

        func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
            let table = try self.table(table)
            let cell = PackedCell(try table.column(column, .integer), of: table)
            var digest = ReadDigest()
            try environment.read { transaction throws(EngineError) in
                guard cell.isInRow else {
                    return try transaction.scan(table) { (key, value) throws(EngineError) in
                        digest.add(integer: Int64(bitPattern: try cell.word(key, value)))
                        return true
                    }
                }
                var read = ReadDigest()
                try transaction.scanValues(table) { (value) throws(EngineError) in
                    read.add(integer: Int64(bitPattern: try cell.word(in: value)))
                }
                digest = read
            }
            return digest
        }

        // MARK: Pinned versions

        /// A read transaction: MDB_NOTLS lets a thread have several.
        func pin() throws(EngineError) -> SnapshotToken {
            let transaction = try LMDBTransaction(environment, flags: UInt32(MDB_RDONLY))
            pinCount += 1
            let token = SnapshotToken(number: pinCount)
            pinned[token] = transaction
            return token
        }

        func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
            guard let transaction = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
            var reads = reads
            reads.snapshot = .batch
            return try read(reads, try table(reads.table), transaction, latency: nil)
        }

        func unpin(_ token: SnapshotToken) throws(EngineError) {
            guard let transaction = pinned.removeValue(forKey: token) else {
                throw EngineError(.refused, "no such snapshot")
            }
            transaction.abort()
        }
    }

    extension LMDBSession: UpdateSession, DeletionSession {
        func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
            let table = try self.table(table)
            let patch = try RowPatch(table, table.column(column, .integer))
            let key = key
            try environment.write { transaction throws(EngineError) in
                for (number, value) in zip(keys, values) {
                    key.set(table.number, number)
                    guard let old = try transaction.get(key) else { continue }
                    try transaction.put(key, try patch.patched(old, with: value), flags: 0)
                }
            }
        }

        func increment(
            table: String, column: String, key number: Int64, times: Int, latency: LatencyRecorder?
        ) throws(EngineError) -> Int {
            let table = try self.table(table)
            let column = try table.column(column, .integer)
            let patch = try RowPatch(table, column)
            let key = key
            let environment = environment
            func incrementOnce() throws(EngineError) {
                try environment.write { transaction throws(EngineError) in
                    key.set(table.number, number)
                    guard let old = try transaction.get(key) else {
                        throw EngineError(.refused, "table \(table.name) has no row \(number)")
                    }
                    let value = Int64(bitPattern: try table.word(column, number, old)) &+ 1
                    try transaction.put(key, try patch.patched(old, with: value), flags: 0)
                }
            }
            for _ in 0..<times {
                if let latency { try latency.time(incrementOnce) } else { try incrementOnce() }
            }
            return times
        }

        func delete(table: String, keys: [Int64]) throws(EngineError) {
            let table = try self.table(table)
            let key = key
            try environment.write { transaction throws(EngineError) in
                for number in keys {
                    key.set(table.number, number)
                    try transaction.delete(key)
                }
            }
        }
    }
#endif
