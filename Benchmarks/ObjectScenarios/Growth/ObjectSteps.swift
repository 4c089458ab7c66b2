import Foundation
import Harness
import Platform
import RunRecords
import Strata

/// Counts the steps of the engine for one kind of work, at one size and at a quarter of it.
///
/// Steps are the rows, keys, entries, elements and observers that the working thread visits, as counted by the engine.
/// They repeat exactly, even on a busy machine, where times would need rounds. The exponent is that of the steps over
/// the size; an exponent above what the work needs is a violation. Other plans measure the time of a step.
struct ObjectSteps: Scenario {
    let slug = "object-steps"
    let family = Family.growth
    let question = "How does the work of objects, queries and observers grow with the size?"
    let requires: Set<Capability> = [.objects]
    let durability: DurabilityClass? = DurabilityClass.none
    let parameters = [
        ScenarioParameter(
            "what", default: SteppedWork.inValues.rawValue, allowed: SteppedWork.allCases.map(\.rawValue),
            summary: "the work whose steps are counted"),
        ScenarioParameter(
            "elements", .size, default: 2_000, range: 256...1_000_000, summary: "rows, members, keys or observers"),
        ScenarioParameter(
            "slack", .allowance, default: 30, range: 10...60,
            summary: "hundredths by which the measured exponent may exceed that of the work"),
    ]

    func run(_ context: CaseContext) throws {
        guard let work = SteppedWork(rawValue: try context.text("what")) else { throw HarnessError("no such work") }
        let elements = try context.integer("elements")
        let slack = Double(try context.integer("slack")) / 100
        try context.withEngineErrors {
            let small = try steps(work, elements / 4, context)
            let large = try steps(work, elements, context)
            guard context.report.isCut == false else { return }
            let exponent = log(Double(max(large, 1)) / Double(max(small, 1))) / log(4)
            context.report.add(.steps, Double(large), count: elements, label: work.rawValue)
            context.report.add(.stepsExponent, exponent, label: work.rawValue)
            if work.neededExponent > 0, large < elements / 2 {
                context.report.inconclusive(
                    "\(large) steps for \(elements) elements: some steps were not counted")
            }
            let isKept = exponent <= work.neededExponent + slack
            context.report.check(
                "exponent of \(work.rawValue)", expected: "at most \(work.neededExponent + slack)",
                got: isKept
                    ? "at most \(work.neededExponent + slack)"
                    : "\(exponent): \(small) steps for "
                        + "\(elements / 4), \(large) for \(elements)")
        }
    }

    /// Steps of the work at one size.
    private func steps(_ work: SteppedWork, _ count: Int, _ context: CaseContext) throws -> Int {
        let directory = try context.emptyLocation("\(work.rawValue)-\(count)").directory
        let configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory + "/steps.strata"), objectTypes: SteppedWork.classes,
            durability: .none)
        let shelf = SteppedShelf(try Realm(configuration: configuration), count, context.report)
        try work.run(shelf)
        return shelf.steps
    }
}

/// A Realm of one size, and the steps that were taken in it.
final class SteppedShelf {
    let realm: Realm
    let count: Int
    private let report: CaseReport
    private(set) var steps = 0

    init(_ realm: Realm, _ count: Int, _ report: CaseReport) {
        self.realm = realm
        self.count = count
        self.report = report
    }

    /// Runs the work that is counted.
    @discardableResult
    func counting<Value>(_ body: () throws -> Value) rethrows -> Value {
        let start = WorkSteps.taken
        defer { steps += Int(WorkSteps.taken - start) }
        return try body()
    }

    func check<Value: Equatable>(_ what: String, expected: Value, got: Value) {
        report.check("\(what), \(count)", expected: expected, got: got)
    }
}

extension Metric {
    /// Visited rows, keys, entries, elements and observers.
    static let steps = Metric("steps", unit: "count", .lowerIsBetter, .deterministic)
    static let stepsExponent = Metric("steps_exponent", unit: "ratio", .lowerIsBetter, .deterministic)
}
