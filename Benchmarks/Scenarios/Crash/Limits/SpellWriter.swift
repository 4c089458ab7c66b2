import Harness
import Measuring
import RunRecords

/// The process that commits while the disk is fast, slow, and fast again.
///
/// Transaction n sets one column of the first rows to n: the last that was acknowledged is there afterwards, whole.
struct SpellWriter {
    struct Played {
        /// nil where it did not come to its end.
        var courses: (control: SpellCourse, spell: SpellCourse)?
        /// How it ended otherwise.
        var end: (outcome: Outcome, detail: String) = (.correct, "")
        var acknowledged = 0
    }

    private static let rows = 4
    /// Nanoseconds between two signs of life.
    private static let heartbeat: UInt64 = 100_000_000
    private static let secondsOfSilence = 20.0

    private let context: CaseContext
    private let witness: IOWitness
    private let location: DatabaseLocation
    private let oracle: ExactOracle
    private let table: String
    private let partNanoseconds: UInt64
    private let boundNanoseconds: UInt64
    private let delays: (sync: UInt64, write: UInt64)

    init(_ context: CaseContext, _ witness: IOWitness) throws {
        let tables = try context.tables()
        guard tables.main.rowCount > Self.rows, tables.main.column("age") != nil else {
            throw HarnessError("\(context.test.scenario) needs more than \(Self.rows) rows with an age")
        }
        self.context = context
        self.witness = witness
        location = try context.fixtureLocation()
        oracle = ExactOracle(tables)
        table = tables.main.name
        partNanoseconds = UInt64(try context.integer("part_ms")) * 1_000_000
        boundNanoseconds = UInt64(try context.integer("bound_ms")) * 1_000_000
        delays = (
            UInt64(try context.integer("spell_sync_us")) * 1_000, UInt64(try context.integer("spell_write_us")) * 1_000
        )
    }

    // MARK: The process that watches

    func play() throws -> Played {
        defer { witness.setDelays(syncNanoseconds: 0, writeNanoseconds: 0) }
        let child = try ForkedChild.start { output in
            var words: String
            do {
                words = try commit { try FileTree.writeAll(output, [UInt8(ascii: ".")], path: "a pipe") }
            } catch let error as EngineError {
                words = "refused \(error)"
            } catch {
                words = "broken \(error)"
            }
            words = "\n" + words
            do { try FileTree.writeAll(output, Array(words.utf8), path: "the pipe of a writer") } catch { return 2 }
            return 0
        }
        var said: [UInt8] = []
        var played = Played()
        var patience = Patience(for: child.processID)
        var heard = 0
        while child.receive(into: &said, milliseconds: 100) {
            if said.count > heard { patience = Patience(for: child.processID) }
            heard = said.count
            guard patience.isOver(seconds: Self.secondsOfSilence) else { continue }
            child.kill()
            child.wait()
            played.end = (.hung, "a commit was not over after \(Self.secondsOfSilence) s")
            return played
        }
        if case .signalled(let signal) = child.wait() {
            played.end = (.crashed, "signal \(signal) in the process that commits")
            return played
        }
        let text = String(decoding: said, as: UTF8.self).drop { $0 == "." }.dropFirst()
        try read(String(text), into: &played)
        return played
    }

    private func read(_ text: String, into played: inout Played) throws {
        if text.hasPrefix("refused ") {
            played.end = (.refused, String(text.dropFirst(8)))
            return
        }
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 3, let acknowledged = Int(parts[0]), let control = SpellCourse(parts[1]),
            let spell = SpellCourse(parts[2])
        else { throw HarnessError("a writer said what it cannot: \(text.prefix(200))") }
        played.courses = (control, spell)
        played.acknowledged = acknowledged
    }

    /// Everything is as it was loaded, but for the rows that were written.
    func judgeContent(acknowledged: Int) throws -> (outcome: Outcome, detail: String) {
        let cells = (0..<Self.rows).map { CellPlace(table: table, row: $0, column: "age") }
        let finding = try ForkedReader.read(context, at: location, expected: oracle, open: cells)
        guard finding.outcome == .correct else { return (finding.outcome, finding.detail) }
        guard let wrong = finding.numbers.first(where: { $0 != Int64(acknowledged) }) else { return (.correct, "") }
        let got = wrong.map(String.init) ?? "no number"
        return (.lostCommit, "transaction \(acknowledged) was acknowledged, a row of it holds \(got)")
    }

    // MARK: The process that commits

    /// What it says at its end.
    private func commit(beat: @escaping () throws -> Void) throws -> String {
        let session = try context.open(location, as: (any UpdateSession).self)
        var lane = SpellLane(session, table, rows: Self.rows, heartbeat: Self.heartbeat, beat: beat)
        // What a session pays for first is nobody's spell.
        try lane.commit(for: partNanoseconds / 4)
        let control = try course(&lane, delays: (0, 0))
        let spell = try course(&lane, delays: ConditionMistake.delayLeftOut.isPlanted ? (0, 0) : delays)
        try session.close()
        return "\(lane.count)=\(control.text)=\(spell.text)"
    }

    private func course(_ lane: inout SpellLane, delays: (sync: UInt64, write: UInt64)) throws -> SpellCourse {
        var course = SpellCourse()
        course.before = try lane.commit(for: partNanoseconds)
        witness.setDelays(syncNanoseconds: delays.sync, writeNanoseconds: delays.write)
        course.during = try lane.commit(for: partNanoseconds)
        witness.setDelays(syncNanoseconds: 0, writeNanoseconds: 0)
        let lifted = MonotonicClock.now()
        while true {
            course.after.append(try lane.commit())
            let now = MonotonicClock.now()
            course.ends.append(now - lifted)
            if now - lifted >= partNanoseconds + boundNanoseconds { break }
            if now - lifted >= partNanoseconds, course.isBack { break }
        }
        return course
    }
}

/// Commits one after the other, and gives a sign of life now and then.
private struct SpellLane {
    private let session: any UpdateSession
    private let table: String
    private let keys: [Int64]
    private let heartbeat: UInt64
    private let beat: () throws -> Void
    private var lastBeat: UInt64 = 0
    /// Transactions that were acknowledged.
    private(set) var count = 0

    init(
        _ session: any UpdateSession, _ table: String, rows: Int, heartbeat: UInt64, beat: @escaping () throws -> Void
    ) {
        self.session = session
        self.table = table
        keys = (0..<rows).map { Int64($0) }
        self.heartbeat = heartbeat
        self.beat = beat
    }

    /// - Returns: nanoseconds that it took.
    mutating func commit() throws -> UInt64 {
        let values = keys.map { _ in Int64(count + 1) }
        let start = MonotonicClock.now()
        try session.update(table: table, column: "age", keys: keys, values: values)
        let end = MonotonicClock.now()
        count += 1
        if end - lastBeat >= heartbeat {
            lastBeat = end
            try beat()
        }
        return end - start
    }

    @discardableResult
    mutating func commit(for nanoseconds: UInt64) throws -> [UInt64] {
        let start = MonotonicClock.now()
        var latencies: [UInt64] = []
        repeat { latencies.append(try commit()) } while MonotonicClock.now() - start < nanoseconds
        return latencies
    }
}
