import Files
import Harness
import Measuring
import RunRecords

/// The process that commits while the disk is fast, slow, and fast again.
///
/// Each transaction adds 1 to one row: its final value is the number of commits.
struct SpellWriter {
    struct Played {
        /// nil where the process did not finish.
        var courses: (control: SpellCourse, spell: SpellCourse)?
        /// The outcome of a process that did not finish.
        var end: (outcome: Outcome, detail: String) = (.correct, "")
        var acknowledged = 0
    }

    /// Nanoseconds between two heartbeats.
    private static let heartbeat: UInt64 = 100_000_000
    private static let secondsOfSilence = 20.0

    private let context: CaseContext
    private let witness: IOWitness
    private let location: DatabaseLocation
    private let oracle: ExactOracle
    private let cell: CellPlace
    private let initial: Int64
    private let partNanoseconds: UInt64
    private let boundNanoseconds: UInt64
    private let delays: (sync: UInt64, write: UInt64)

    init(_ context: CaseContext, _ witness: IOWitness) throws {
        let tables = try context.tables()
        guard case .integer(let ages)? = tables.main.column("age")?.values, let initial = ages.first else {
            throw HarnessError("\(context.test.scenario) needs a row with an age")
        }
        self.context = context
        self.witness = witness
        location = try context.fixtureLocation()
        oracle = ExactOracle(tables)
        cell = CellPlace(table: tables.main.name, row: 0, column: "age")
        self.initial = initial
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
        var timeout = ProcessTimeout(for: child.processID)
        var heard = 0
        while child.receive(into: &said, milliseconds: 100) {
            if said.count > heard { timeout = ProcessTimeout(for: child.processID) }
            heard = said.count
            guard timeout.isOver(seconds: Self.secondsOfSilence) else { continue }
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
        else { throw HarnessError("cannot read the report of a writer: \(text.prefix(200))") }
        played.courses = (control, spell)
        played.acknowledged = acknowledged
    }

    /// Everything must be as loaded, except for the row that was incremented.
    func judgeContent(acknowledged: Int) throws -> (outcome: Outcome, detail: String) {
        let finding = try ForkedReader.read(context, at: location, expected: oracle, open: [cell])
        guard finding.outcome == .correct else { return (finding.outcome, finding.detail) }
        guard let value = finding.numbers.first ?? nil else { return (.silentlyWrong, "the row holds no number") }
        return IncrementSum.judge(
            initial: initial, acknowledged: Int64(acknowledged), attempted: Int64(acknowledged), final: value)
    }

    // MARK: The process that commits

    /// The report of the process at its end.
    private func commit(beat: @escaping () throws -> Void) throws -> String {
        let session = try context.open(location, as: (any UpdateSession).self)
        var lane = SpellLane(session, cell, heartbeat: Self.heartbeat, beat: beat)
        // One-time costs of the session must not count as a slow period.
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
        var lastLook = lifted
        while true {
            course.after.append(try lane.commit())
            let now = MonotonicClock.now()
            course.ends.append(now - lifted)
            if now - lifted >= partNanoseconds + boundNanoseconds { break }
            if now - lifted >= partNanoseconds, now - lastLook >= SpellCourse.windowNanoseconds {
                lastLook = now
                if course.isBack { break }
            }
        }
        return course
    }
}

/// Commits one transaction after the other, with heartbeats.
private struct SpellLane {
    private let session: any UpdateSession
    private let cell: CellPlace
    private let heartbeat: UInt64
    private let beat: () throws -> Void
    private var lastBeat: UInt64 = 0
    /// Acknowledged transactions.
    private(set) var count = 0

    init(
        _ session: any UpdateSession, _ cell: CellPlace, heartbeat: UInt64, beat: @escaping () throws -> Void
    ) {
        self.session = session
        self.cell = cell
        self.heartbeat = heartbeat
        self.beat = beat
    }

    /// - Returns: the duration in nanoseconds.
    mutating func commit() throws -> UInt64 {
        let start = MonotonicClock.now()
        count += try session.increment(
            table: cell.table, column: cell.column, key: Int64(cell.row), times: 1, latency: nil)
        let end = MonotonicClock.now()
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
