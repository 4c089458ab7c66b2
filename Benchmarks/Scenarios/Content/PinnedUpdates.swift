import Harness
import Measuring
import RunRecords
import Seeds

/// Transactions of random updates while versions are pinned, with a model of their effects.
///
/// The case has the parameters `transactions`, `updates` and `readers`.
struct PinnedUpdates {
    let context: CaseContext
    let table: String
    let column: String
    let keys: [Int64]
    private(set) var oracle: ExactOracle
    /// Updates that the oracle does not have yet. It takes them when it is read, not between transactions, where it
    /// would drive the engine's data out of the caches of the processor.
    private var pending: [(keys: [Int64], values: [Int64])] = []
    private(set) var series = Series(name: "size", step: "commits")
    private var random: RandomStream
    /// Random rows in one read, and some of them in reads of their own: a sum over rows would not notice two that
    /// swapped their values.
    private let checked: [PointReads]

    private init(context: CaseContext, table: String, column: String, keys: [Int64], columns: [String]) {
        self.context = context
        self.table = table
        self.column = column
        self.keys = keys
        oracle = ExactOracle(TableSet(dataset: "", tables: [], digest: 0))
        random = context.random("updates")
        var chosen = context.random("checked")
        func reads(_ count: Int) -> PointReads {
            PointReads(table: table, keys: (0..<count).map { _ in keys[chosen.below(keys.count)] }, columns: columns)
        }
        checked = [reads(1_000)] + (0..<32).map { _ in reads(1) }
    }

    /// Opens the database twice, for the writer and for the pins, and runs to the end.
    static func run(_ context: CaseContext, at location: DatabaseLocation) throws -> PinnedUpdates {
        let table = try context.tables().main
        guard case .integer(let keys)? = table.keyColumn?.values, !keys.isEmpty,
            let column = table.columns.first(where: { column in
                if case .integer = column.values { column.name != table.key } else { false }
            })?.name
        else { throw HarnessError("\(table.name) has no integer key and no integer property") }
        let writer = try context.open(location, as: (any UpdateSession).self)
        let reader = try context.open(location, as: (any SnapshotSession).self)
        let columns = table.columns.filter { column in
            switch column.values {
            case .integer, .real, .text: true
            case .link, .links: false
            }
        }
        var run = PinnedUpdates(
            context: context, table: table.name, column: column, keys: keys, columns: columns.map(\.name))
        try run.go(writer: writer, reader: reader)
        try reader.close()
        try writer.close()
        return run
    }

    private mutating func go(writer: any UpdateSession, reader: any SnapshotSession) throws {
        oracle = ExactOracle(try context.tables())
        let transactions = try context.integer("transactions")
        let updates = try context.integer("updates")
        let readers = try context.integer("readers")
        var pins: [(token: SnapshotToken, expected: [ReadDigest])] = []
        try note(writer, position: 0)
        var nanoseconds: UInt64 = 0
        let meter = CostMeter(context)
        var done = 0
        for transaction in 0..<transactions {
            // One pin at the start, the others spread over the run.
            while pins.count < readers && pins.count * transactions <= transaction * readers {
                bringOracleUpToDate()
                pins.append((try reader.pin(), checked.map { oracle.digest($0) }))
            }
            nanoseconds += try update(writer, count: updates)
            done += 1
            try note(writer, position: done)
            if context.isOverBudget {
                context.report.cut()
                break
            }
        }
        let costs = meter.samples(per: "update", count: max(1, done * updates))
        for (index, pin) in pins.enumerated() {
            let got = try checked.map { try reader.readPinned(pin.token, $0) }
            let place = got.indices.first { got[$0] != pin.expected[$0] } ?? 0
            context.report.check("pinned version \(index)", expected: pin.expected[place], got: got[place])
            try reader.unpin(pin.token)
        }
        // From here on the pins are released, and the engine can reuse the space of their versions.
        for extra in 1...5 {
            // One of the transactions changes one row again and again: more often than an engine buffers changes.
            _ = try update(writer, count: updates, ofOne: extra == 3 ? Self.updatesOfOne : 0)
            try note(writer, position: done + extra)
        }
        bringOracleUpToDate()
        context.report.add(series)
        context.report.add(
            .updatesPerSecond, Double(done * updates) / (Double(max(1, nanoseconds)) / 1e9),
            count: done * updates)
        if context.engine.capabilities.contains(.persistent) { context.report.add(costs) }
        context.report.add(.operations, Double(done * updates), statistic: "count")
    }

    private static let updatesOfOne = 1_100

    /// - Parameter ofOne: further updates, all but every eighth of one row.
    private mutating func update(_ writer: any UpdateSession, count: Int, ofOne more: Int = 0) throws -> UInt64 {
        var chosen = (0..<count).map { _ in keys[random.below(keys.count)] }
        let one = keys[random.below(keys.count)]
        chosen += (0..<more).map { $0 % 8 == 5 ? keys[random.below(keys.count)] : one }
        let values = chosen.map { _ in Int64(random.below(100)) }
        let start = MonotonicClock.now()
        try writer.update(table: table, column: column, keys: chosen, values: values)
        let elapsed = MonotonicClock.now() - start
        pending.append((chosen, values))
        return elapsed
    }

    private mutating func bringOracleUpToDate() {
        for update in pending {
            oracle.update(table: table, column: column, keys: update.keys, values: update.values)
        }
        pending = []
    }

    private mutating func note(_ session: any Session, position: Int) throws {
        var point = try session.sizes()
        point.position = position
        series.points.append(point)
    }

    /// The allowed log size of a closed database without pins. A larger log was kept for a version that is no longer
    /// pinned, and would stay for good.
    private static let closedLogBytes = 4_096

    /// To be called after all sessions are closed.
    func judgeLetGo(at location: DatabaseLocation) throws {
        guard try context.fileBytes(at: location, roles: [.data]) > 0 else {
            return context.report.note("\(context.engine.name) has all data in its log: its last size is not judged")
        }
        let log = try context.fileBytes(at: location, roles: [.log])
        let isGone = log <= Self.closedLogBytes
        context.report.add(
            Trial(
                address: FaultAddress(text: "let go"), outcome: isGone ? .correct : .overSize,
                detail: isGone ? "" : "\(log) bytes of log are left when the database is closed"))
    }

    /// `bound`: how many times its initial size a database may reach, besides a step of growth, if the engine promises
    /// a bound; nil to report the growth without a verdict.
    func judgeGrowth(closedBytes: Int, bound: Int? = nil) {
        let totals = series.points.map { $0.fileBytes + $0.logBytes }
        guard let first = totals.first, first > 0, let largest = totals.max(), let last = totals.last else {
            return
        }
        let report = context.report
        report.add(.fileBytes, Double(first), label: "before")
        report.add(.fileBytes, Double(largest), statistic: "max", label: "while pinned")
        report.add(.fileBytes, Double(last), label: "after unpin")
        report.add(.fileBytes, Double(closedBytes), label: "closed")
        report.add(.growth, Double(largest) / Double(first), statistic: "max")
        guard let bound else { return }
        guard context.engine.promises(.boundedSize) else {
            report.note("\(context.engine.name) promises no bound: its growth is shown, not judged")
            return
        }
        let file = series.points.map(\.fileBytes).max() ?? 0
        let log = series.points.map(\.logBytes).max() ?? 0
        let firstFile = series.points.first?.fileBytes ?? 0
        // A log kept for a pinned version may be as large as the data.
        let complaint = SizeCourse.complaint(
            file: file, allowed: SizeCourse.allowedFile(from: firstFile, percent: bound * 100), log: log,
            allowedLog: SizeCourse.allowedLog(from: firstFile, percent: 100))
        report.add(
            Trial(
                address: FaultAddress(text: "growth"), outcome: complaint.isEmpty ? .correct : .overSize,
                detail: complaint.isEmpty ? "" : "\(complaint) from \(firstFile)"))
    }
}
