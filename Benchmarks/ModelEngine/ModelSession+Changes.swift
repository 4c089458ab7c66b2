import Harness
import Measuring
import RunRecords

extension ModelSession: UpdateSession, DeletionSession, SnapshotSession {
    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        try store.content.withLock { content throws(EngineError) in
            let position = try content.position(table)
            let columnIndex = try content.tables[position].column(column)
            for (key, value) in zip(keys, values) {
                let row = try content.tables[position].row(key: key)
                try content.set(table: position, column: columnIndex, row: row, integer: value)
            }
        }
    }

    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        for _ in 0..<times {
            if let latency {
                try latency.time { () throws(EngineError) in try increment(table, column, key) }
            } else {
                try increment(table, column, key)
            }
        }
        return times
    }

    private func increment(_ table: String, _ column: String, _ key: Int64) throws(EngineError) {
        try store.content.withLock { content throws(EngineError) in
            let position = try content.position(table)
            let columnIndex = try content.tables[position].column(column)
            let row = try content.tables[position].row(key: key)
            guard case .integer(let value) = content.tables[position].value(column: columnIndex, row: row) else {
                throw EngineError(.refused, "column \(column) holds no integers")
            }
            try content.set(table: position, column: columnIndex, row: row, integer: value &+ 1)
        }
    }

    func delete(table: String, keys: [Int64]) throws(EngineError) {
        try store.content.withLock { content throws(EngineError) in
            let position = try content.position(table)
            for key in keys {
                content.delete(table: position, row: try content.tables[position].row(key: key))
            }
        }
    }

    func pin() throws(EngineError) -> SnapshotToken {
        pinCount += 1
        let token = SnapshotToken(number: pinCount)
        pinned[token] = store.content.withLock { $0 }
        return token
    }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        guard let content = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
        return try Self.read(reads, from: content, latency: nil)
    }

    func unpin(_ token: SnapshotToken) throws(EngineError) {
        guard pinned.removeValue(forKey: token) != nil else { throw EngineError(.refused, "no such snapshot") }
    }
}
