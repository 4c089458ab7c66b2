import Measuring
import RunRecords

// Invariants of all session protocols:
// 1. A call does a whole batch: an operation in it costs no dynamic dispatch, no existential and no reading of a clock.
// 2. Without `latency`, the loop reads no clock. With it, operations that take 2 us and more (commits) are each timed
//    with `latency.time`, faster ones with `latency.timeSampled`.
// 3. A batch returns a digest of what it read, so that the compiler cannot remove the reads, and an oracle can compare.
// 4. A call throws at the first operation that failed; the operations before it stay done.

/// An open database, used by one thread.
package protocol Session: AnyObject {
    /// Leaves `position` 0: only the caller knows what it counts.
    func sizes() throws(EngineError) -> SizePoint
    /// The last call. It must leave the files as after a clean shutdown.
    func close() throws(EngineError)
}

/// A digest of values read, independent of their order: integer bits and real bits are added (wrapping), a text adds
/// its length in bytes times 31, plus its first and its last byte. Cheap enough for a measured loop.
///
/// `@usableFromInline`: otherwise `@inlinable` code in package-internal types costs a call for each row.
@usableFromInline
package struct ReadDigest: Hashable, Sendable {
    @usableFromInline
    package var count = 0
    @usableFromInline
    package var sum: UInt64 = 0

    @inlinable
    package init() {}

    @inlinable @inline(__always)
    package mutating func add(integer value: Int64) {
        count &+= 1
        sum &+= UInt64(bitPattern: value)
    }

    @inlinable @inline(__always)
    package mutating func add(real value: Double) {
        count &+= 1
        sum &+= value.bitPattern
    }

    @inlinable @inline(__always)
    package mutating func add(utf8 text: UnsafeBufferPointer<UInt8>) {
        count &+= 1
        guard let first = text.first else { return }
        sum &+= UInt64(text.count) &* 31 &+ UInt64(first) &+ UInt64(text[text.count - 1])
    }

    @inlinable
    package mutating func add(text: String) {
        var text = text
        text.withUTF8 { add(utf8: $0) }
    }

    /// Adds another digest to this one.
    package mutating func add(_ other: ReadDigest) {
        count &+= other.count
        sum &+= other.sum
    }

    @usableFromInline
    package mutating func add(_ value: Value) {
        switch value {
        case .null: count &+= 1
        case .integer(let integer): add(integer: integer)
        case .real(let real): add(real: real)
        case .text(let text): add(text: text)
        case .link(let row): add(integer: Int64(row))
        case .links(let rows):
            for row in rows { add(integer: Int64(row)) }
        }
    }
}

/// How many reads share a version of the database.
package enum SnapshotUse: String, Sendable, CaseIterable {
    /// The whole batch uses one snapshot, or one read transaction: all reads see one state.
    case batch
    /// Each read sees the newest version, at the cost that a program without transactions has.
    case each
}

/// Reads of single rows by integer primary key, one after the other.
@usableFromInline
package struct PointReads: Sendable {
    @usableFromInline
    package var table: String
    package var keys: [Int64]
    /// The columns that are read of every row, in this order.
    package var columns: [String]
    package var snapshot: SnapshotUse

    package init(table: String, keys: [Int64], columns: [String], snapshot: SnapshotUse = .batch) {
        self.table = table
        self.keys = keys
        self.columns = columns
        self.snapshot = snapshot
    }
}

/// Receives the rows of a full read.
@usableFromInline
package protocol RowSink: AnyObject {
    /// `row` is the row index in the data set: for a keyed table the position of its key in the loaded data, else the
    /// order of insertion. `values` are in the order of the table's columns. Called in ascending order of `row`.
    /// Returns whether to continue.
    func receive(table: String, row: Int, values: [Value]) -> Bool
}

/// Tables with typed columns. Capability `tables`.
package protocol TableSession: Session {
    /// Creates the tables with their columns and indexes, and no rows: rows of `tables` are ignored.
    func create(_ tables: TableSet) throws(EngineError)

    /// Creates the tables and inserts all rows in one transaction that is durable, in the session's class, on return.
    func load(_ tables: TableSet) throws(EngineError)

    /// Appends each row in a transaction of its own to the table of that name, which exists. Link columns refer to
    /// rows that exist. Returns the number of commits acknowledged: all of them unless it throws.
    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int

    /// Appends all rows in one transaction to the table of that name, which exists. Link columns refer to rows that
    /// exist.
    func insertAll(_ rows: Table) throws(EngineError)

    func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest

    func rowCount(table: String) throws(EngineError) -> Int

    /// Reads every value of every row, table by table in the order of `schema`, whose rows are ignored. Links come as
    /// row indexes. Throws the engine's error if it meets damage; the rows before it have been passed to the sink.
    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError)
}

/// Objects that the program holds and reads again and again. Capability `held-objects`.
package protocol HeldObjectSession: Session {
    /// Fetches the objects and keeps them; releases those held before.
    func hold(table: String, keys: [Int64]) throws(EngineError)
    /// Reads the property `count` times, cycling through the held objects in order.
    func readHeld(column: String, count: Int, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest
    /// Does the same by the fastest means of the language, which leaves out reference counting, and which programs do
    /// not use. nil if there is no such means.
    func readHeldUnmanaged(column: String, count: Int) throws(EngineError) -> ReadDigest?
}

extension HeldObjectSession {
    package func readHeldUnmanaged(column: String, count: Int) throws(EngineError) -> ReadDigest? { nil }
}

/// Rows with an integer column above a bound and a real column below another.
@usableFromInline
package struct TwoColumnFilter: Sendable {
    @usableFromInline
    package var table: String
    @usableFromInline
    package var integer: String
    @usableFromInline
    package var above: Int64
    @usableFromInline
    package var real: String
    @usableFromInline
    package var below: Double

    package init(table: String, integer: String, above: Int64, real: String, below: Double) {
        self.table = table
        self.integer = integer
        self.above = above
        self.real = real
        self.below = below
    }
}

/// How an engine passes rows to a program that iterates over them.
package enum RowSteps: String, Sendable {
    case oneByOne = ""
    /// Many rows at a time, as arrays of decoded columns.
    case columns = "batches of columns"
}

/// Capability `queries`. None of these queries uses an index.
package protocol QuerySession: Session {
    /// How `iterate` passes rows: figures of the two ways do not compare.
    var rowSteps: RowSteps { get }
    /// Number of rows whose text column equals `text`.
    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int
    /// Sum of an integer column, wrapping, by the engine's own function for that.
    func sum(table: String, column: String) throws(EngineError) -> Int64
    /// Number of rows that pass the filter.
    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int
    /// Iterates over the rows one by one, in the way that the engine offers to its users, and reads an integer of each.
    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest
}

extension QuerySession {
    package var rowSteps: RowSteps { .oneByOne }
}

/// A traversal of links.
package struct Traversal: Sendable {
    package enum Direction: String, Sendable {
        /// From the rows of `table` to the targets of `column`; `property` belongs to the target table.
        case forward
        /// From rows of the target table to the rows of `table` whose `column` holds them; `property` belongs to
        /// `table`.
        case backward
    }

    package var table: String
    /// A link or link-list column of `table`.
    package var column: String
    package var direction: Direction
    /// Row indexes to start from, in this order: of `table` forward, of the target table backward.
    package var rows: [Int32]
    /// An integer column read at the other end of every link; nil to count the links only.
    package var property: String?
    package var snapshot: SnapshotUse

    package init(
        table: String, column: String, direction: Direction, rows: [Int32], property: String?,
        snapshot: SnapshotUse = .batch
    ) {
        self.snapshot = snapshot
        self.table = table
        self.column = column
        self.direction = direction
        self.rows = rows
        self.property = property
    }
}

/// Capability `links`.
package protocol LinkSession: Session {
    /// In the digest, `count` is the number of links followed, and `sum` the sum of the property.
    func traverse(_ traversal: Traversal, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest
}

/// Capability `updates`.
package protocol UpdateSession: Session {
    /// Sets the integer column of the rows with these primary keys, in one transaction.
    func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError)

    /// Reads the integer column of one row, adds 1 and writes it back, each time in a transaction of its own. If
    /// another session holds the lock, the adapter waits or retries, as users of its engine would. Returns the number
    /// of acknowledged commits.
    func increment(
        table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> Int
}

/// Capability `deletions`.
package protocol DeletionSession: Session {
    /// Deletes the rows with these primary keys in one transaction.
    func delete(table: String, keys: [Int64]) throws(EngineError)
}

/// Names a pinned version within its session.
@usableFromInline
package struct SnapshotToken: Hashable, Sendable {
    package var number: Int

    @usableFromInline
    package init(number: Int) {
        self.number = number
    }
}

/// Capability `snapshots`.
package protocol SnapshotSession: Session {
    /// Pins the newest version. A session may hold several pins.
    func pin() throws(EngineError) -> SnapshotToken
    func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest
    func unpin(_ token: SnapshotToken) throws(EngineError)
}

/// Capability `compaction`.
package protocol CompactionSession: Session {
    /// Moves live data together and returns free space to the file system.
    func compact() throws(EngineError)
}

/// A session whose engine can tell its settings. It is found by `as?`, and needs no capability.
package protocol SettingsSession: Session {
    /// The settings that the open database reports, by the names of the engine's `settings(for:)`, which may differ
    /// from those requested. Settings that the engine does not report are left out.
    func observedSettings() throws(EngineError) -> [EngineSetting]
}
