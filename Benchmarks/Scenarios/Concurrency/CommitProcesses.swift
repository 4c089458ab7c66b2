import Files
import Harness
import Measuring
import Platform
import RunRecords

/// One-row durable transactions from several processes on one database.
struct CommitProcesses: Scenario {
    let slug = "commit-processes"
    let family = Family.concurrency
    let question = "How many durable transactions a second do writers in several processes get, and how fairly?"
    let requires: Set<Capability> = [.tables, .persistent, .processes]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("processes", .size, default: 2, range: 1...64, summary: "writers"),
        ScenarioParameter("commits", .size, default: 2_000, summary: "transactions of all processes together"),
    ]
    func objection(to test: Case) -> String? {
        test.integer("commits") < test.integer("processes") ? "commits needs at least one per process" : nil
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// The words of a child's report: start, end, all commits, commits with a sync, commits without one.
    private static let answerWords = 5

    /// The report of a child at its end: start and end times, and the number of acknowledged commits.
    private struct Lane {
        var start: UInt64
        var end: UInt64
        var commits: Int
        var answers = CommitAnswers()
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let processes = try context.integer("processes")
        let each = try context.integer("commits") / processes
        let base = try PeopleRows.count(in: context)
        let location = try context.fixtureLocation()
        // Children wait for this file before they commit: opening is not part of the figure.
        let gate = context.directory + "/go"
        var children: [ForkedChild] = []
        for index in 0..<processes {
            let chunks = PeopleRows.chunks(from: base + index * each, count: each).tables
            children.append(
                try ForkedChild.start { output in
                    Self.write(context, location, chunks: chunks, gate: gate, output: output)
                })
        }
        usleep(200_000)
        let meter = CostMeter(context)
        try FileTree.writeText(gate, "")
        var lanes: [Lane] = []
        var answers = CommitAnswers()
        for child in children {
            guard let answer = try Self.answer(of: child, report) else { return }
            var lane = Lane(start: answer[0], end: answer[1], commits: Int(answer[2]))
            lane.answers.synced = Int(answer[3])
            lane.answers.unsynced = Int(answer[4])
            answers.merge(lane.answers)
            lanes.append(lane)
        }
        let total = lanes.reduce(0) { $0 + $1.commits }
        if total < processes * each { report.cut() }
        let start = lanes.map(\.start).min() ?? 0
        let end = lanes.map(\.end).max() ?? 0
        report.add(.commitsPerSecond, Double(total) / (Double(max(1, end - start)) / 1e9), count: total)
        report.addFairness(lanes.map { Double($0.commits) / Double(max(1, $0.end - $0.start)) })
        report.add(meter.samples(per: "commit", count: total))
        report.judge(answers, in: context.test.durability)
        report.add(.operations, Double(total), statistic: "count")
        context.require(total, "nothing was committed")
        try PeopleRows.verify(
            context, at: location,
            inserted: lanes.enumerated().map { index, lane in
                (base + index * each)..<(base + index * each + lane.commits)
            })
    }

    private static func write(
        _ context: CaseContext, _ location: DatabaseLocation, chunks: [Table], gate: String, output: Int32
    ) -> Int32 {
        do {
            let session = try context.open(location, as: (any TableSession).self)
            while !FileTree.exists(gate) { usleep(200) }
            let latency = context.commitRecorder()
            var answer: [UInt64] = [MonotonicClock.now(), 0, 0, 0, 0]
            for chunk in chunks {
                answer[2] += UInt64(try session.insertEach(chunk, latency: latency))
                if context.isOverBudget { break }
            }
            answer[1] = MonotonicClock.now()
            answer[3] = UInt64(latency.commits.total - latency.commits.withoutSync)
            answer[4] = UInt64(latency.commits.withoutSync)
            try session.close()
            return Self.write(output, &answer, Self.answerWords * 8) == Self.answerWords * 8 ? 0 : 2
        } catch {
            do {
                try FileTree.writeAll(output, Array("\(error)".utf8), path: "the pipe of a writer")
            } catch {
                return 2
            }
            return error is EngineError ? 1 : 2
        }
    }

    /// The report of a child at its end; nil where the child crashed, which is added to the case's report.
    ///
    /// Throws: the engine's refusal in the child; `HarnessError` for a failure that says nothing about the engine.
    private static func answer(of child: ForkedChild, _ report: CaseReport) throws -> [UInt64]? {
        var bytes: [UInt8] = []
        while child.receive(into: &bytes, milliseconds: 1_000) {}
        switch child.wait() {
        case .exited(0) where bytes.count == answerWords * 8:
            return bytes.withUnsafeBytes { words in
                (0..<answerWords).map { words.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
            }
        case .exited(1):
            throw EngineError(.refused, "a writer was refused: \(String(decoding: bytes, as: UTF8.self))")
        case .exited(let status):
            throw HarnessError("a writer ended with \(status): \(String(decoding: bytes, as: UTF8.self))")
        case .signalled(let signal):
            report.add(
                Trial(
                    address: FaultAddress(text: "writer"), outcome: .crashed, detail: "signal \(signal)",
                    signal: signal))
            return nil
        }
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        Platform.write(descriptor, bytes, count)
    }
}
