import Harness
import Measuring
import RunRecords
import Synchronization

/// Wraps a session of another engine, with one mistake. It conforms to every role; scenarios use those that the engine
/// declares.
final class PlantedSession: Session {
    /// Transactions of this process, over all sessions.
    private static let transactions = Atomic<Int>(0)
    private static let sessions = Atomic<Int>(0)
    private static let hasFailed = Atomic<Bool>(false)
    /// Sessions that were released but stay pinned: never closed.
    private static let neverClosed = Mutex<[Abandoned]>([])

    /// Sendable because it is never used again.
    private struct Abandoned: @unchecked Sendable { var session: any Session }

    let base: any Session
    let engine: PlantedEngine
    let location: DatabaseLocation
    private let older: OlderState?
    /// From 1, in the order in which this process opened them.
    private let number: Int
    private var hasPins = false
    /// Whether the open transaction of `TransactionSession` has changed something.
    private var hasWritten = false
    private var reads = 0
    var keyedRows = PlantedKeyedRows()

    var mistake: EngineMistake { engine.mistake }

    init(_ base: any Session, _ engine: PlantedEngine, _ location: DatabaseLocation, older: OlderState?) {
        self.base = base
        self.engine = engine
        self.location = location
        self.older = older
        number = Self.sessions.add(1, ordering: .relaxed).newValue
        if engine.mistake == .instructionsMore { PlantedWork.work(300_000) }
    }

    func role<Role>(_ role: Role.Type) throws(EngineError) -> Role {
        guard let session = base as? Role else {
            throw EngineError(.unsupported, "\(engine.name) has no session of that role: \(role)")
        }
        return session
    }

    func sizes() throws(EngineError) -> SizePoint { try base.sizes() }

    func close() throws(EngineError) {
        if mistake == .pinKept && hasPins {
            Self.neverClosed.withLock { $0.append(Abandoned(session: base)) }
            return
        }
        try base.close()
        try older?.noteClose()
    }

    /// Whether this transaction is acknowledged but not executed.
    func isSwallowed() throws(EngineError) -> Bool {
        if mistake == .refuseWriter && number == 2 { throw EngineError(.refused, "planted refusal of a write") }
        if mistake == .slowWriter && number == 2 { PlantedWork.pause(milliseconds: 300) }
        return Self.transactions.add(1, ordering: .relaxed).newValue == 3 && mistake == .commitMissing
    }

    /// Runs a transaction that may fail. `torn`: what a failed one leaves with the mistake `errorTears`.
    private func change(
        _ body: () throws(EngineError) -> Void, torn: () throws(EngineError) -> Void
    ) throws(EngineError) {
        let counts = IOWitness.shared?.counts()
        let failedSyncs = counts?.failedSyncCalls
        if mistake == .failureSticks, Self.hasFailed.load(ordering: .relaxed) {
            throw EngineError(.refused, "planted: a transaction has failed before")
        }
        defer { if mistake == .slowForGood { PlantedWork.stayAsSlow(since: counts) } }
        do {
            try body()
        } catch {
            Self.hasFailed.store(true, ordering: .relaxed)
            switch mistake {
            case .errorSwallowed: return
            case .failedSyncAcknowledged where IOWitness.shared?.counts().failedSyncCalls != failedSyncs: return
            case .errorTears: do { try torn() } catch {}
            default: break
            }
            throw error
        }
    }

    func bent(_ digest: ReadDigest) -> ReadDigest {
        var digest = digest
        if isBent() { digest.sum &+= 1 }
        return digest
    }

    func bent(_ count: Int) -> Int { isBent() ? count + 1 : count }

    private func isBent() -> Bool {
        reads += 1
        return mistake == .wrongRead || mistake == .wrongMeanwhile && (15...17).contains(reads)
    }

    /// The last row's key; keys start at 0.
    private func lastKey(_ table: String) throws(EngineError) -> Int64 {
        Int64(try role((any TableSession).self).rowCount(table: table)) - 1
    }

    /// What a read of these keys returns if the last row is missing, is there twice, or has another text.
    private func altered(_ digest: ReadDigest, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        guard [.lastByte, .rowDropped, .rowTwice].contains(mistake) else { return digest }
        let last = try lastKey(reads.table)
        guard reads.keys.contains(last) else { return digest }
        var digest = digest
        if mistake == .lastByte {
            if reads.columns.contains("name") { digest.sum &+= 1 }
            return digest
        }
        let one = PointReads(table: reads.table, keys: [last], columns: reads.columns)
        let row = try role((any TableSession).self).readPoints(one, latency: nil)
        if mistake == .rowDropped {
            digest.count -= row.count
            digest.sum &-= row.sum
        } else {
            digest.count += row.count
            digest.sum &+= row.sum
        }
        return digest
    }

    /// What the last row adds to a scan of the column, which the mistake drops or doubles.
    private func lastValue(table: String, column: String) throws(EngineError) -> ReadDigest {
        guard mistake == .rowDropped || mistake == .rowTwice else { return ReadDigest() }
        return try role((any TableSession).self).readPoints(
            PointReads(table: table, keys: [try lastKey(table)], columns: [column]), latency: nil)
    }
}

extension PlantedSession: TableSession {
    func create(_ tables: TableSet) throws(EngineError) { try role((any TableSession).self).create(tables) }
    func load(_ tables: TableSet) throws(EngineError) { try role((any TableSession).self).load(tables) }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        let session = try role((any TableSession).self)
        guard [.commitMissing, .slowWriter, .refuseWriter].contains(mistake) else {
            return try session.insertEach(rows, latency: latency)
        }
        for row in 0..<rows.rowCount where try !isSwallowed() {
            _ = try session.insertEach(rows.rows(row..<(row + 1)), latency: latency)
        }
        return rows.rowCount
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        guard try !isSwallowed() else { return }
        let session = try role((any TableSession).self)
        try change({ () throws(EngineError) in try session.insertAll(rows) }) { () throws(EngineError) in
            try session.insertAll(rows.rows(0..<(rows.rowCount / 2)))
        }
    }

    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        if mistake == .allocationMore { for _ in reads.keys { PlantedWork.allocate() } }
        return bent(try altered(try role((any TableSession).self).readPoints(reads, latency: latency), reads))
    }

    func rowCount(table: String) throws(EngineError) -> Int {
        let count = try role((any TableSession).self).rowCount(table: table)
        switch mistake {
        case .rowDropped: return max(0, count - 1)
        case .rowTwice: return count + 1
        default: return bent(count)
        }
    }

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        let rows = AlteredRows(sink, mistake)
        try role((any TableSession).self).readAll(schema, into: rows)
        rows.finish()
    }
}

extension PlantedSession: UpdateSession, DeletionSession {
    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
        guard try !isSwallowed() else { return }
        let session = try role((any UpdateSession).self)
        let others = values.map { $0 &+ 1 }
        try change({ () throws(EngineError) in
            try session.update(table: table, column: column, keys: keys, values: values)
        }) { () throws(EngineError) in
            try session.update(table: table, column: column, keys: keys, values: others)
        }
    }

    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int {
        let session = try role((any UpdateSession).self)
        if mistake == .lostIncrement {
            _ = try session.increment(table: table, column: column, key: key, times: times - 1, latency: latency)
            return times
        }
        var done = 0
        for _ in 0..<times {
            guard try !isSwallowed() else {
                done += 1
                continue
            }
            try change({ () throws(EngineError) in
                done += try session.increment(table: table, column: column, key: key, times: 1, latency: latency)
            }) {}
        }
        return done
    }

    func delete(table: String, keys: [Int64]) throws(EngineError) {
        guard try !isSwallowed() else { return }
        let session = try role((any DeletionSession).self)
        try change({ () throws(EngineError) in try session.delete(table: table, keys: keys) }) {}
    }
}

extension PlantedSession: SnapshotSession {
    func pin() throws(EngineError) -> SnapshotToken {
        hasPins = true
        return try role((any SnapshotSession).self).pin()
    }

    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
        if mistake == .unpinned { return try role((any TableSession).self).readPoints(reads, latency: nil) }
        return bent(try role((any SnapshotSession).self).readPinned(token, reads))
    }

    func unpin(_ token: SnapshotToken) throws(EngineError) {
        if mistake != .pinKept { try role((any SnapshotSession).self).unpin(token) }
    }
}

extension PlantedSession: QuerySession, LinkSession, HeldObjectSession {
    var rowSteps: RowSteps { (base as? any QuerySession)?.rowSteps ?? .oneByOne }

    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        bent(try role((any QuerySession).self).countEqual(table: table, column: column, text: text))
    }

    func sum(table: String, column: String) throws(EngineError) -> Int64 {
        let sum = try role((any QuerySession).self).sum(table: table, column: column)
        let last = Int64(bitPattern: try lastValue(table: table, column: column).sum)
        switch mistake {
        case .rowDropped: return sum &- last
        case .rowTwice: return sum &+ last
        default: return isBent() ? sum &+ 1 : sum
        }
    }

    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        bent(try role((any QuerySession).self).count(filter))
    }

    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        var digest = bent(try role((any QuerySession).self).iterate(table: table, column: column))
        let last = try lastValue(table: table, column: column)
        digest.count += mistake == .rowDropped ? -last.count : last.count
        digest.sum = mistake == .rowDropped ? digest.sum &- last.sum : digest.sum &+ last.sum
        return digest
    }

    func traverse(_ traversal: Traversal, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        bent(try role((any LinkSession).self).traverse(traversal, latency: latency))
    }

    func hold(table: String, keys: [Int64]) throws(EngineError) {
        try role((any HeldObjectSession).self).hold(table: table, keys: keys)
    }

    func readHeld(column: String, count: Int, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        bent(try role((any HeldObjectSession).self).readHeld(column: column, count: count, latency: latency))
    }

    func readHeldUnmanaged(column: String, count: Int) throws(EngineError) -> ReadDigest? {
        try role((any HeldObjectSession).self).readHeldUnmanaged(column: column, count: count).map { bent($0) }
    }
}

extension PlantedSession: CompactionSession {
    func compact() throws(EngineError) {
        let copy = PlantedCopy(files: engine.base.files(at: location), location)
        switch mistake {
        case .compactionNothing: return
        case .compactionGrows: try copy.make()
        case .compactionHoards:
            let hoard = try copy.inMemory()
            try role((any CompactionSession).self).compact()
            return withExtendedLifetime(hoard) {}
        case .compactionLeftover:
            try copy.make()
            try role((any CompactionSession).self).compact()
            return try copy.remove()
        default: break
        }
        try role((any CompactionSession).self).compact()
    }
}

extension PlantedSession: TransactionSession {
    func begin(_ access: TransactionAccess) throws(EngineError) {
        try role((any TransactionSession).self).begin(access)
        hasWritten = false
    }

    func read(_ cell: Int) throws(EngineError) -> Int64 {
        let number = try role((any TransactionSession).self).read(cell)
        return mistake == .wrongRead ? number &+ 1 : number
    }

    func readText(_ cell: Int) throws(EngineError) -> String {
        try role((any TransactionSession).self).readText(cell)
    }

    func write(_ cell: Int, _ value: Int64) throws(EngineError) {
        hasWritten = true
        try role((any TransactionSession).self).write(cell, value)
    }

    func writeText(_ cell: Int, _ text: String) throws(EngineError) {
        hasWritten = true
        try role((any TransactionSession).self).writeText(cell, text)
    }

    func commit() throws(EngineError) {
        if hasWritten, try isSwallowed() { return try rollback() }
        try role((any TransactionSession).self).commit()
    }

    func rollback() throws(EngineError) { try role((any TransactionSession).self).rollback() }
}

extension PlantedSession: ProbeSession {
    private func probing() throws(EngineError) -> any ProbeSession { try role((any ProbeSession).self) }

    func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws(EngineError) {
        if try !isSwallowed() { try probing().store(rows, deleting: deleted) }
    }

    func select(_ query: ProbeQuery) throws(EngineError) -> [Int64] {
        var ids = try probing().select(query)
        if mistake == .rowTwice, let last = ids.last { ids.append(last) }
        return mistake == .rowDropped || mistake == .wrongRead ? ids.dropLast() : ids
    }

    func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) throws(EngineError) -> ProbeAggregates {
        var found = try probing().aggregates(column, where: condition)
        found.count = bent(found.count)
        return found
    }

    func readProbes() throws(EngineError) -> [ProbeRow] { AlteredProbes.rows(try probing().readProbes(), by: mistake) }

    func first(_ column: ProbeColumn, equal values: [Value]) throws(EngineError) -> [Int64] {
        var ids = try probing().first(column, equal: values)
        if mistake == .wrongRead, let last = ids.indices.last { ids[last] += 1 }
        return ids
    }

    func firstRows(_ sort: ProbeQuery.Sort, count: Int) throws(EngineError) -> [Int64] {
        cut(try probing().firstRows(sort, count: count))
    }

    func linkCount(to id: Int64) throws(EngineError) -> Int { bent(try probing().linkCount(to: id)) }

    func linkingRows(to id: Int64, count: Int) throws(EngineError) -> [Int64] {
        cut(try probing().linkingRows(to: id, count: count))
    }

    private func cut(_ ids: [Int64]) -> [Int64] { mistake == .rowDropped ? ids.dropLast() : ids }

    func delete(where condition: ProbeCondition?, beforeCommit: () -> Void) throws(EngineError) {
        if mistake != .deletionNothing { try probing().delete(where: condition, beforeCommit: beforeCommit) }
    }

    func reasonToDecline(_ condition: ProbeCondition) -> String? { probed?.reasonToDecline(condition) }

    var storesNaN: Bool { probed?.storesNaN ?? true }

    private var probed: (any ProbeSession)? { base as? any ProbeSession }
}

extension PlantedSession: SettingsSession, TracingSession {
    /// An engine that omits a sync does not report it.
    func observedSettings() throws(EngineError) -> [EngineSetting] {
        if mistake == .syncLeftOut { return [] }
        return try (base as? any SettingsSession)?.observedSettings() ?? []
    }

    func startTrace() throws(EngineError) { try role((any TracingSession).self).startTrace() }

    func endTrace() throws(EngineError) -> [(statement: String, count: Int)] {
        try role((any TracingSession).self).endTrace()
    }
}
