import Files
import Harness
import History
import Measuring
import RunRecords
import Seeds

/// Threads of several processes run transactions on few cells; a checker of histories judges what they read.
///
/// Inconclusive when no two transactions overlapped, or none read another's write: such a history proves nothing.
struct TransactionHistory: Scenario {
    let slug = "history"
    let family = Family.concurrency
    let question = "Do concurrent transactions see no more of each other than the engine promises?"
    let requires: Set<Capability> = [.tables, .transactions, .threads]
    let schedule = Schedule.free
    let expects: Promise.Kind? = .isolation
    /// The lowest level: the case judges by the level that the engine promises.
    let isolation = IsolationLevel.readCommitted
    let parameters = [
        ScenarioParameter("threads", .size, default: 2, range: 1...64, summary: "of each process"),
        ScenarioParameter(
            "processes", .size, default: 2, range: 1...16, summary: "1 if the engine supports no more"),
        ScenarioParameter("transactions", .size, default: 400, range: 1...100_000, summary: "of each thread"),
        ScenarioParameter("kills", .size, default: 0, range: 0...15, summary: "processes that are killed meanwhile"),
        ScenarioParameter("export", default: "none", summary: "a directory that gets the history in Elle's form"),
    ]

    func objection(to test: Case) -> String? {
        test.integer("kills") >= test.integer("processes") && test.integer("kills") > 0
            ? "kills must leave one of the processes" : nil
    }

    /// A new database for each case, since effects of killed processes stay in it.
    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest(recipe: "cells") }

    func buildFixture(_ context: CaseContext, at location: DatabaseLocation) throws {
        try TransactionPlace.make(context, at: location, cells: try Self.mix(context).cellCount)
    }

    private static func mix(_ context: CaseContext) throws -> TransactionMix {
        TransactionMix(seed: context.seed.derived("transactions"), transactions: try context.integer("transactions"))
    }

    func run(_ context: CaseContext) throws {
        let mix = try Self.mix(context)
        let threads = try context.integer("threads")
        let isAlone = !context.engine.capabilities.contains(.processes)
        let wanted = try context.integer("processes")
        let kills = try context.integer("kills")
        let processes = isAlone ? 1 : wanted
        if isAlone, wanted > 1 {
            let killed = kills > 0 ? ", and nothing is killed" : ""
            context.report.note(
                "\(context.engine.name) works in one process alone: \(wanted * threads) threads of one\(killed)"
            )
        }
        let location = try TransactionPlace.location(context, cells: mix.cellCount)
        var lanes: [TransactionLane]
        if processes == 1 {
            let alone = isAlone ? threads * wanted : threads
            lanes = try TransactionLane.run(context, location, actors: 0..<alone) { mix.plans(of: $0) }
        } else {
            lanes = try TransactionLane.fork(
                context, location, mix, processes: processes, threads: threads, kills: kills)
        }
        lanes.append(try TransactionLane.read(context, location, mix.finalReads, actor: lanes.count))
        var history = History()
        for lane in lanes { try HistoryLog.add(lane.words, to: &history) }
        try judge(history, lanes, context)
        try TransactionLane.throwFailure(of: lanes)
    }

    private func judge(_ history: History, _ lanes: [TransactionLane], _ context: CaseContext) throws {
        let report = context.report
        let directory = try context.text("export")
        if directory != "none" { try export(history, to: directory, context) }
        let verdict = try HistoryJudgement.judge(history, lanes.map(\.failures), context)
        if lanes.contains(where: \.isCut) { report.cut() }
        let times = history.transactions.filter { $0.end == .committed }
        let start = times.map(\.start).min() ?? 0
        let end = times.map(\.finish).max() ?? 0
        report.add(
            .transactionsPerSecond, Double(verdict.committedCount) / (Double(max(1, end - start)) / 1e9),
            count: verdict.committedCount)
        report.add(.operations, Double(verdict.operationCount), statistic: "count")
        report.add(.overlapping, Double(verdict.overlapCount), statistic: "count")
    }

    /// Writes the history in the form of other checkers.
    private func export(_ history: History, to directory: String, _ context: CaseContext) throws {
        try FileTree.createDirectory(directory)
        for (name, lists) in [("list-append", true), ("rw-register", false)] {
            let path = "\(directory)/\(context.test.id)-\(name).edn"
            try FileTree.writeText(path, ElleExport(history).text(lists: lists))
            context.report.note("for Elle: \(path)")
        }
    }
}

extension Metric {
    static let transactionsPerSecond = Metric("transactions", unit: "1/s", .higherIsBetter, .measured)
    static let overlapping = Metric("overlapping", unit: "count", .neutral, .measured)
}
