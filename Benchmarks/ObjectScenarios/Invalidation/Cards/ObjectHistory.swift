import CaseFiles
import Harness
import RunRecords

/// Random operations on objects through the object interface, each compared with a model in plain Swift.
///
/// Objects, links and lists are changed here and on other threads, in writes that are committed or cancelled; objects,
/// lists and frozen objects are held and read after they were deleted; observers of objects, lists and results are
/// notified; the Realm is refreshed, invalidated, reopened, and migrated to another class and back. After each
/// operation everything is read. The operations are drawn from the seed, or given by a case file. A script ends at the
/// first wrong operation, since later ones would show nothing.
struct ObjectHistory: ScriptedScenario {
    let slug = "object-history"
    let family = Family.invalidation
    let question = "Is what a program holds of objects, and is told of them, right after every operation?"
    let requires: Set<Capability> = [.objects]
    let parameters = [
        ScenarioParameter(
            "operations", .size, default: 200, range: 1...20_000, summary: "operations that the seed draws"),
        ScenarioParameter("cards", .size, default: 8, range: 1...1_000, summary: "keys that the objects get"),
        ScenarioParameter("slots", .size, default: 6, range: 1...100, summary: "objects held, and observers, at once"),
        Self.historyParameter,
    ]

    func run(_ context: CaseContext) throws {
        let operations = try Self.operations(of: context.test)
        let location = try context.emptyLocation("history")
        let file = CardFile(
            path: location.directory + "/cards.strata", durability: context.test.durability, reports: CardReports())
        let deadline = context.deadline
        // A thread without a run loop: notifications come only when the script refreshes or writes.
        let end = try OtherThread.run { CardHistory(file).run(operations, deadline: deadline) }
        for (operation, trial) in zip(operations, end.trials) {
            context.report.add(
                Trial(
                    address: FaultAddress(text: operation.label), outcome: trial.outcome, detail: trial.detail))
        }
        if end.isCut { context.report.cut() }
        context.report.add(.trials, Double(end.trials.count), statistic: "count")
        let tally = end.tally
        context.report.note(
            "\(end.trials.count) operations, \(tally.changes) changes, \(tally.changeSets) calls of observers, "
                + "\(tally.readsOfDeleted) reads of what was deleted, \(tally.readsOfFrozen) of frozen objects")
        if end.did == 0 { context.report.inconclusive("no operation found anything to do") }
    }

    // MARK: Operations

    func script(of test: Case) throws -> String { ScriptOperation.text(of: try Self.operations(of: test)) }

    func words(of operation: String) -> String? { ScriptOperation(operation).flatMap { CardOperation.words($0) } }

    private static func operations(of test: Case) throws -> [ScriptOperation] {
        guard let text = test.parameter(historyParameter.name), !text.isEmpty else { return CardOperation.drawn(test) }
        guard let list = ScriptOperation.list(text) else {
            throw HarnessError("history needs operations such as op-1:rename:5:17, parted by slashes, not \(text)")
        }
        for operation in list { _ = try CardOperation.kind(operation) }
        return list
    }
}
