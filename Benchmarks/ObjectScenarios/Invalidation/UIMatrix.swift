import Harness
import Measuring
import RunRecords
import Strata

/// A list on a screen while its content changes: 48 combinations of a user interface.
///
/// Under the substituting policy the program is written as Strata's documentation recommends, and no cell may fail.
/// Under the trapping policy it is written as for Realm, with identity by live row, and every cell must end as users of
/// Realm reported it: some cells crash.
struct UIMatrix: Scenario {
    let slug = "ui-matrix"
    let family = Family.invalidation
    let question = "Does a list on a screen survive what happens to its objects, in every kind of view?"
    let requires: Set<Capability> = [.objects]
    let expects: Promise.Kind? = .safeDeletedAccess
    let parameters = [
        PolicyTrials.parameter,
        ScenarioParameter(
            "container", default: "navigation", allowed: ScreenCell.Container.allCases.map(\.rawValue),
            summary: "a stack whose top renders, or tabs that all stay mounted"),
        ScenarioParameter(
            "action", default: "delete", allowed: ScreenCell.Action.allCases.map(\.rawValue),
            summary: "what the button does"),
        ScenarioParameter(
            "view", default: "same", allowed: ScreenCell.View.allCases.map(\.rawValue),
            summary: "whether the button is in the view of the list"),
        ScenarioParameter(
            "key", default: "primary", allowed: ScreenCell.Key.allCases.map(\.rawValue),
            summary: "whether the class has a primary key"),
        ScenarioParameter(
            "observer", default: "on", allowed: ["on", "off"], summary: "whether a view model sends objectWillChange"),
        ScenarioParameter("rows", .size, default: 100, summary: "rows of the list at the start"),
        ScenarioParameter("events", .size, default: 50, summary: "presses of the button; fewer than rows"),
    ]

    func objection(to test: Case) -> String? {
        test.integer("rows") > test.integer("events") ? nil : "needs more rows than events"
    }

    func run(_ context: CaseContext) throws {
        let policy = try context.text("policy")
        let cell = ScreenCell(
            container: try Self.choice(context, "container"), action: try Self.choice(context, "action"),
            view: try Self.choice(context, "view"), key: try Self.choice(context, "key"),
            isObserved: try context.text("observer") == "on")
        let (rows, events) = (try context.integer("rows"), try context.integer("events"))
        let end = try PolicyTrials(context).ends(["\(cell.container)"]) { _, place in
            let realm = try place.realm([KeyedCell.self, PlainCell.self])
            let outcome = try cell.run(realm, rows: rows, events: events)
            return (.correct, "\(outcome.finding.rawValue)|\(outcome.detail)")
        }.first?.end
        guard let end, case .tried(let trial) = end else {
            if case .broken(let reason)? = end { context.report.addBroken(FaultAddress(text: "cell:1"), reason) }
            return
        }
        let finding = Self.finding(of: trial)
        let expected = policy == "trap" ? cell.reported : .fine
        let text = finding.map(\.rawValue) ?? "ended by signal \(trial.signal ?? 0)"
        let isRight = finding == expected
        context.report.add(
            Trial(
                address: FaultAddress(text: "cell:1"),
                outcome: isRight ? .correct : finding == nil ? trial.outcome : .silentlyWrong,
                detail: isRight ? "" : "expected \(expected.rawValue), got \(text): \(trial.detail)",
                signal: isRight ? nil : trial.signal))
        context.report.addGridCell(
            GridCell(
                grid: policy == "trap" ? "invalidAccess .trap, written as for Realm" : "invalidAccess .substitute",
                row: "\(cell.action.rawValue), \(cell.view.rawValue) view",
                group: cell.container == .tab ? "TabView" : "NavigationView",
                column: (cell.key == .primary ? "primary key" : "no key") + (cell.isObserved ? ", observer" : ""),
                text: text),
            isGood: finding == .fine)
        guard finding != .invalidated, finding != .outOfRange, finding != nil else { return }
        try measure(cell, context, rows: rows, events: events)
    }

    /// Measures a cell in this process; only for cells that do not end the process.
    private func measure(_ cell: ScreenCell, _ context: CaseContext, rows: Int, events: Int) throws {
        let place = TrialPlace(
            directory: try context.emptyLocation("measured").directory,
            policy: try context.text("policy") == "trap" ? .trap : .substitute)
        let outcome = try context.withEngineErrors {
            try cell.run(try place.realm([KeyedCell.self, PlainCell.self]), rows: rows, events: events)
        }
        context.report.add(.renders, Double(outcome.renders), statistic: "count")
        context.report.add(.commits, Double(outcome.commits), statistic: "count")
        context.report.add(outcome.latency, name: "render")
    }

    private static func finding(of trial: Trial) -> ScreenCell.Finding? {
        guard trial.outcome == .crashed else {
            return ScreenCell.Finding(rawValue: String(trial.detail.prefix { $0 != "|" }))
        }
        if trial.detail.contains("Object has been deleted or invalidated") { return .invalidated }
        if trial.detail.contains("out of range") || trial.detail.contains("out of bounds") { return .outOfRange }
        return nil
    }

    private static func choice<Value: RawRepresentable>(_ context: CaseContext, _ name: String) throws -> Value
    where Value.RawValue == String {
        let text = try context.text(name)
        guard let value = Value(rawValue: text) else { throw HarnessError("\(name) cannot be \(text)") }
        return value
    }
}

extension Metric {
    static let renders = Metric("renders", unit: "count", .lowerIsBetter, .deterministic)
    static let commits = Metric("commits", unit: "count", .neutral, .deterministic)
}
