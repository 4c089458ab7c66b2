import Datasets
import Harness
import Measuring
import RunRecords

/// Several lanes on one database, and its expected content.
final class KeyedLoad {
    private let context: CaseContext
    private let location: DatabaseLocation
    private let people: TableSet
    private let source: any RangedDatasetSource
    private let witness: IOWitness?
    private var lanes: [KeyedLane]
    /// Keeps the database open between stretches.
    private let keeper: any Session
    private(set) var answers = CommitAnswers()
    private(set) var complaint: String?
    private(set) var isCut = false
    /// Answered requests of all stretches.
    private(set) var done = 0

    init(_ context: CaseContext, _ mix: KeyedMix, lanes count: Int) throws {
        self.context = context
        _ = try PeopleRows.oracle(context)
        guard let source = context.source as? any RangedDatasetSource, source.hasMainRowsAlone else {
            throw HarnessError(
                "\(context.test.scenario) inserts people, and runs on people, people-wide and people-large alone")
        }
        self.source = source
        people = try context.tables()
        let content = try KeyedContent(people.main)
        guard content.count >= count else { throw HarnessError("each thread needs a row") }
        let zipfian = Zipfian(content.count)
        let seed = context.seed.derived("requests")
        lanes = (0..<count).map { lane in
            let stream = RequestStream(mix, rows: content.count, lane: lane, of: count, zipfian: zipfian, seed: seed)
            return KeyedLane(stream, content) { source.mainRows($0..<($0 + 1)) }
        }
        location = try context.fixtureLocation()
        witness = context.commitRecorder().witness
        keeper = try context.open(location)
    }

    var laneCount: Int { lanes.count }

    /// Sends `count` requests, in equal parts by each lane.
    func run(_ count: Int, pace: KeyedPace? = nil) throws -> KeyedStretch {
        let each = max(1, count / lanes.count)
        let line = StartLine(count: lanes.count)
        let (engine, settings, location) = (context.engine, context.settings, location)
        let (started, witness, deadline) = (lanes, witness, context.deadline)
        let ended = try ThreadGroup.run(lanes.count) { index in
            var lane = started[index]
            let opened = Result {
                let session = try CaseContext.session(
                    engine, location, settings, as: (any KeyedRowSession & TableSession).self)
                try session.prepareRows(KeyedContent.rows)
                return session
            }
            guard case .success(let session) = opened else {
                line.arriveAndWait()
                _ = try opened.get()
                throw HarnessError("a thread has no session")
            }
            let stretch = try lane.run(
                each, on: session, pace: pace, deadline: deadline, witness: witness, ready: line.arriveAndWait)
            try session.close()
            return (lane, stretch)
        }
        lanes = ended.map(\.0)
        var all = KeyedStretch()
        for (_, stretch) in ended { all.merge(stretch) }
        if all.done < each * lanes.count { isCut = true }
        done += all.done
        answers.merge(all.answers)
        complaint = complaint ?? all.complaint
        return all
    }

    /// Closes the database, and compares all of it with the lanes' changes.
    func judge() throws {
        try keeper.close()
        let report = context.report
        if isCut { report.cut() }
        report.judge(answers, in: context.test.durability)
        report.add(
            Trial(
                address: FaultAddress(text: "answers"), outcome: complaint == nil ? .correct : .silentlyWrong,
                detail: complaint ?? ""))
        let source = source
        try PeopleRows.verify(
            context, at: location,
            inserted: lanes.flatMap { $0.model.inserted.map { Int($0.key)..<(Int($0.key) + 1) } },
            updates: takeChanges, rows: { source.mainRows($0) })
    }

    private func takeChanges(into expected: inout ExactOracle) {
        let (table, column) = (KeyedContent.rows.table, KeyedContent.rows.changed)
        for lane in lanes {
            let ages = lane.model.ages
            let keys = ages.keys.sorted()
            expected.update(table: table, column: column, keys: keys, values: keys.compactMap { ages[$0] })
            for (key, times) in lane.model.increments {
                expected.increment(table: table, column: column, key: key, by: times)
            }
        }
    }

    /// A digest of all requests: equal on all engines for equal requests.
    var digest: UInt64 { lanes.reduce(0) { $0 &* 31 &+ $1.model.digest } }
}
