import Harness
import Measuring
import RunRecords

extension DuckDBSession: QuerySession, SnapshotSession {
    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        let (connection, layout) = (connection, try layout(reads.table))
        guard reads.snapshot == .batch, reads.keys.count > 1 else {
            return try Self.read(reads, layout, connection, latency: latency)
        }
        return try connection.transaction { () throws(EngineError) in
            try Self.read(reads, layout, connection, latency: latency)
        }
    }

    private static func read(
        _ reads: PointReads, _ layout: DuckDBLayout, _ connection: DuckDBConnection, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        var kinds: [DuckDBLayout.Kind] = []
        for column in reads.columns { kinds.append(try layout.kind(column)) }
        let statement = try connection.statement(
            "SELECT \(reads.columns.map(quoted).joined(separator: ", ")) FROM \(quoted(layout.name)) "
                + "WHERE \(quoted(layout.rowColumn)) = ?")
        var digest = ReadDigest()
        func read(_ key: Int64) throws(EngineError) {
            statement.bind(1, key)
            let result = try statement.execute()
            defer { result.destroy() }
            try result.forEachChunk { chunk throws(EngineError) in
                for row in 0..<chunk.count { add(chunk, row, kinds, to: &digest) }
            }
        }
        for (index, key) in reads.keys.enumerated() {
            if let latency {
                try latency.timeSampled(index) { () throws(EngineError) in try read(key) }
            } else {
                try read(key)
            }
        }
        return digest
    }

    private static func add(_ chunk: DuckDBChunk, _ row: Int, _ kinds: [DuckDBLayout.Kind], to digest: inout ReadDigest)
    {
        for (index, kind) in kinds.enumerated() {
            let vector = chunk.column(index)
            switch kind {
            case .integer, .link: digest.add(integer: vector.isNull(row) ? 0 : vector.integer(row))
            case .real: digest.add(real: vector.real(row))
            case .text: digest.add(utf8: vector.utf8(row))
            case .links: break
            }
        }
    }

    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        let statement = try connection.statement("SELECT count(*) FROM \(quoted(table)) WHERE \(quoted(column)) = ?")
        statement.bind(1, text)
        return Int(try statement.integer() ?? 0)
    }

    /// DuckDB sums into 128 bits: the lower half is the wrapping sum.
    func sum(table: String, column: String) throws(EngineError) -> Int64 {
        let column = try layout(table).requireKind(.integer, column)
        let result = try connection.statement("SELECT sum(\(column)) FROM \(quoted(table))").execute()
        defer { result.destroy() }
        var sum: Int64 = 0
        try result.forEachChunk { chunk throws(EngineError) in
            let vector = chunk.column(0)
            if !vector.isNull(0) { sum = vector.lowerHalf(0) }
        }
        return sum
    }

    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        let layout = try layout(filter.table)
        let integer = try layout.requireKind(.integer, filter.integer)
        let real = try layout.requireKind(.real, filter.real)
        let statement = try connection.statement(
            "SELECT count(*) FROM \(quoted(filter.table)) WHERE \(integer) > ? AND \(real) < ?")
        statement.bind(1, filter.above)
        statement.bind(2, filter.below)
        return Int(try statement.integer() ?? 0)
    }

    /// The library returns chunks of columns, which its users read.
    var rowSteps: RowSteps { .columns }

    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        let column = try layout(table).requireKind(.integer, column)
        let result = try connection.statement("SELECT \(column) FROM \(quoted(table))").execute()
        defer { result.destroy() }
        var digest = ReadDigest()
        try result.forEachChunk { chunk throws(EngineError) in
            for value in chunk.column(0).integers(chunk.count) { digest.add(integer: value) }
        }
        return digest
    }

    // MARK: Pinned versions

    /// A transaction on a connection of its own. DuckDB takes its version at the first read, so it reads something at
    /// once.
    func pin() throws(EngineError) -> SnapshotToken {
        let reader = try another()
        try reader.run("BEGIN TRANSACTION")
        try reader.run("SELECT count(*) FROM duckdb_tables()")
        let token = nextToken()
        pinned[token] = reader
        return token
    }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        guard let reader = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
        return try Self.read(reads, try layout(reads.table), reader, latency: nil)
    }

    func unpin(_ token: SnapshotToken) throws(EngineError) {
        guard let reader = pinned.removeValue(forKey: token) else { throw EngineError(.refused, "no such snapshot") }
        reader.close()
    }
}

extension DuckDBSession: UpdateSession, DeletionSession {
    /// As users of DuckDB do: puts the changes into a temporary table, and updates by one statement that joins it. For
    /// duplicate keys the last value counts.
    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        let layout = try layout(table)
        let column = try layout.requireKind(.integer, column)
        var places: [Int64: Int] = [:]
        places.reserveCapacity(keys.count)
        for (place, key) in keys.enumerated() { places[key] = place }
        let last = keys.indices.filter { places[keys[$0]] == $0 }
        let changes = [
            Column("key", .integer(last.map { keys[$0] })), Column("value", .integer(last.map { values[$0] })),
        ]
        let connection = connection
        try connection.retried { () throws(EngineError) in
            try connection.transaction { () throws(EngineError) in
                try connection.run("CREATE TEMP TABLE assay_changes (key BIGINT, value BIGINT)")
                try DuckDBFilling(connection).fill("assay_changes", with: changes)
                try connection.run(
                    "UPDATE \(quoted(table)) SET \(column) = c.value FROM assay_changes AS c "
                        + "WHERE \(quoted(table)).\(quoted(layout.rowColumn)) = c.key")
                try connection.run("DROP TABLE assay_changes")
            }
        }
    }

    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        let layout = try layout(table)
        let name = try layout.requireKind(.integer, column)
        let place = "WHERE \(quoted(layout.rowColumn)) = ?"
        let read = try connection.statement("SELECT \(name) FROM \(quoted(table)) \(place)")
        let write = try connection.statement("UPDATE \(quoted(table)) SET \(name) = ? \(place)")
        let connection = connection
        func incrementOnce() throws(EngineError) {
            try connection.retried { () throws(EngineError) in
                try connection.transaction { () throws(EngineError) in
                    read.bind(1, key)
                    guard let value = try read.integer() else {
                        throw EngineError(.refused, "table \(table) has no row \(key)")
                    }
                    write.bind(1, value &+ 1)
                    write.bind(2, key)
                    try write.execute().destroy()
                }
            }
        }
        for _ in 0..<times {
            if let latency { try latency.time(incrementOnce) } else { try incrementOnce() }
        }
        return times
    }

    func delete(table: String, keys: [Int64]) throws(EngineError) {
        let layout = try layout(table)
        let connection = connection
        try connection.retried { () throws(EngineError) in
            try connection.transaction { () throws(EngineError) in
                try connection.run("CREATE TEMP TABLE assay_deleted (key BIGINT)")
                try DuckDBFilling(connection).fill("assay_deleted", with: [Column("key", .integer(keys))])
                try connection.run(
                    "DELETE FROM \(quoted(table)) USING assay_deleted AS d "
                        + "WHERE \(quoted(table)).\(quoted(layout.rowColumn)) = d.key")
                try connection.run("DROP TABLE assay_deleted")
            }
        }
    }
}
