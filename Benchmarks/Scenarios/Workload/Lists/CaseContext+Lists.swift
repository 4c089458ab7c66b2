import Harness
import RunRecords

extension CaseContext {
    static let listKeeping = ScenarioParameter(
        "keeping", default: ListKeeping.dense.rawValue, allowed: ListKeeping.allCases.map(\.rawValue),
        summary: "how engines without lists keep one: places without gaps, with gaps, or all elements as one value")

    func openLists(_ location: DatabaseLocation) throws -> any ListSession {
        guard let engine = engine as? any ListEngine else {
            throw HarnessError("\(engine.name) declares a capability that it has not: lists")
        }
        guard let keeping = ListKeeping(rawValue: try text("keeping")) else { throw HarnessError("no such keeping") }
        return try engine.openLists(location, settings: settings, keeping: keeping)
    }

    func noteKeeping() throws {
        guard let engine = engine as? any ListEngine else { return }
        let keeping = try text("keeping")
        let isOwn = engine.hasOwnLists && keeping != ListKeeping.packed.rawValue
        report.note(isOwn ? "lists of the engine's own" : "elements kept \(keeping)")
    }
}
