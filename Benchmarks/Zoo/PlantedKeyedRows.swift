import Harness
import Measuring
import Platform
import RunRecords
import Synchronization

/// What a planted session keeps for its operations on single rows.
struct PlantedKeyedRows {
    /// Operations and changes of this process, over all sessions.
    static let operations = Atomic<Int>(0)
    static let changes = Atomic<Int>(0)

    var rows: KeyedRows?
    /// By key, the value that an increment read first.
    var first: [Int64: Int64] = [:]
}

extension PlantedSession: KeyedRowSession {
    func prepareRows(_ rows: KeyedRows) throws(EngineError) {
        keyedRows.rows = rows
        try role((any KeyedRowSession).self).prepareRows(rows)
    }

    /// The session of the engine; with the mistake `stall`, after a pause at every two hundredth operation.
    private func keyed() throws(EngineError) -> any KeyedRowSession {
        if mistake == .stall, PlantedKeyedRows.operations.add(1, ordering: .relaxed).newValue % 200 == 0 {
            usleep(50_000)
        }
        return try role((any KeyedRowSession).self)
    }

    private var isLost: Bool {
        mistake == .updateLost && PlantedKeyedRows.changes.add(1, ordering: .relaxed).newValue % 5 == 0
    }

    func readRow(_ key: Int64) throws(EngineError) -> ReadDigest { bent(try keyed().readRow(key)) }

    func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
        let last = mistake == .scanShort && !keys.isEmpty ? keys.upperBound - 1 : keys.upperBound
        return bent(try keyed().readRows(keys.lowerBound..<last))
    }

    func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
        if isLost { return }
        if try !isSwallowed() { try keyed().setRow(key, to: value) }
    }

    func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let session = try keyed()
        if mistake == .incrementStale, let rows = keyedRows.rows {
            let read = PointReads(table: rows.table, keys: [key], columns: [rows.changed])
            let value = Int64(bitPattern: try role((any TableSession).self).readPoints(read, latency: nil).sum)
            guard let old = keyedRows.first[key] else {
                keyedRows.first[key] = value
                return try session.incrementRow(key)
            }
            let digest = try session.readRow(key)
            try session.setRow(key, to: old &+ 1)
            return digest
        }
        if isLost { return try session.readRow(key) }
        guard try !isSwallowed() else { return try session.readRow(key) }
        return bent(try session.incrementRow(key))
    }
}
