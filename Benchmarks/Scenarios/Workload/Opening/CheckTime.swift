import Harness
import Measuring
import RunRecords

/// Times the engine's own check on an intact database. A check opens the database, verifies and closes it; all three
/// are in its time. The checks run one after the other in the process of the case; the report has their median time. A
/// check that throws an error on the intact database is a trial with the outcome `refused`.
///
/// A check that reads nothing, or no more than an open does, would be the fastest. So if the engine promises to detect
/// damage, and the files are small enough, the same check also gets a copy with one flipped bit in a page of rows that
/// an open does not read, and it must report damage.
struct CheckTime: Scenario {
    let slug = "check-time"
    let family = Family.workload
    let question = "How long does an engine take to verify a whole database?"
    let requires: Set<Capability> = [.tables, .persistent, .checks]
    let defaultDataset: String? = "people"
    let parameters = [ScenarioParameter("checks", .size, default: 3, range: 1...1_000, summary: "one after the other")]

    /// Largest size of files of which a damaged copy is made: `DamagedCopy` keeps the files in memory, and writes and
    /// reads whole copies until it finds a page with rows.
    private static let largestSpoilt = 16 << 20

    func fixture(for test: Case) -> FixtureRequest? { .reading(test) }

    func run(_ context: CaseContext) throws {
        let report = context.report
        guard let engine = context.engine as? any CheckingEngine else {
            throw HarnessError("\(context.test.engine) declares a check that it has not")
        }
        let location = try context.fixtureLocation()
        let bytes = try context.fileBytes(at: location)
        var seconds: [Double] = []
        for number in 0..<(try context.integer("checks")) {
            if number > 0 && context.isOverBudget {
                report.cut()
                break
            }
            let start = MonotonicClock.now()
            var found: EngineError?
            do throws(EngineError) { try engine.check(location) } catch { found = error }
            seconds.append(Double(MonotonicClock.now() - start) / 1e9)
            let detail = found.map { "nothing is wrong, and the check says: \($0)" } ?? ""
            report.add(
                Trial(
                    address: FaultAddress(text: "check \(number)"), outcome: found == nil ? .correct : .refused,
                    detail: detail))
        }
        let middle = seconds.sorted()[seconds.count / 2]
        report.add(.durationMilliseconds, middle * 1e3, statistic: "median", count: seconds.count)
        report.add(.gigabytesPerSecond, Double(bytes) / middle / 1e9)
        report.add(.fileBytes, Double(bytes))
        try checkSpoilt(engine, location, bytes: bytes, context: context)
    }

    /// Checks the damaged copy, untimed. Damage that the engine reports is correct; a check without an error is
    /// silently wrong; an error of another kind is a refusal. If `DamagedCopy` finds no suitable page, the case is
    /// inconclusive.
    private func checkSpoilt(
        _ engine: any CheckingEngine, _ location: DatabaseLocation, bytes: Int, context: CaseContext
    ) throws {
        guard engine.promises(.detectsDamage) else { return }
        guard bytes <= Self.largestSpoilt else {
            return context.report.note("too large for a damaged copy: the check is timed, and not tested")
        }
        guard let copy = try DamagedCopy.find(context, of: location) else {
            return context.report.inconclusive("no page was found that holds rows and that an open does not read")
        }
        let place = try copy.place("checked")
        var found: EngineError?
        do throws(EngineError) { try engine.check(place) } catch { found = error }
        let outcome: Outcome
        var detail = ""
        switch found?.kind {
        case .damaged: outcome = .correct
        case .untold:
            // The engine's check accepted the damaged bytes; only the adapter noticed that what it got is no row.
            outcome = .silentlyWrong
            detail = "a bit is flipped in \(copy.flipped), and the check says: \(found?.description ?? "")"
        case nil:
            outcome = .silentlyWrong
            detail = "a bit is flipped in \(copy.flipped), and the check finds nothing"
        case .refused, .outOfSpace, .unsupported:
            outcome = .refused
            detail = "a bit is flipped in \(copy.flipped), and the check says: \(found?.description ?? "")"
        }
        context.report.add(Trial(address: FaultAddress(text: "spoilt copy"), outcome: outcome, detail: detail))
    }
}
