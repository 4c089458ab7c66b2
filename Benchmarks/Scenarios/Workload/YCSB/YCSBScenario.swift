import Harness
import Measuring
import RunRecords

/// One of YCSB's core workloads, as a closed loop or as an open one.
///
/// A closed loop has as many clients as threads: each sends its next request when the last one is answered, and a pause
/// of the engine costs one slow request. An open loop sends requests at a rate, as independent users do: `rate`, or a
/// share of the engine's largest rate (`load`), which the case determines first.
protocol YCSBScenario: Scenario {
    var mix: KeyedMix { get }
}

extension YCSBScenario {
    var family: Family { .workload }
    var requires: Set<Capability> { [.tables, .threads, .keyedRows] }
    var layers: Set<Layer> { [.storage, .objects] }
    var schedule: Schedule { .free }
    var defaultDataset: String? { "people-wide" }
    var parameters: [ScenarioParameter] {
        [
            ScenarioParameter("threads", .size, default: 2, range: 1...256, summary: "clients"),
            ScenarioParameter("operations", .size, default: 20_000, summary: "requests of all threads together"),
            ScenarioParameter(
                "loop", default: "closed", allowed: ["closed", "open"],
                summary: "the next request when one is answered, or when it is due"),
        ] + OpenLoop.parameters
    }

    func objection(to test: Case) -> String? {
        test.integer("operations") < test.integer("threads") ? "operations needs at least one per thread" : nil
    }

    /// A slow answer is not a wrong one.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome == .hung ? .boundedWait : nil }

    func fixture(for test: Case) -> FixtureRequest? { .changing(test) }

    func run(_ context: CaseContext) throws {
        let load = try KeyedLoad(context, mix, lanes: try context.integer("threads"))
        let report = context.report
        let isOpen = try context.text("loop") == "open"
        let column = mix.rawValue.uppercased()
        if isOpen {
            if let rate = try OpenLoop(context).run(load) {
                let place = GridFigure(grid: "YCSB, requests a second", group: "open loop, most", column: column)
                report.addGridFigure(place, perSecond: rate.value, count: rate.count)
            }
        } else {
            let closed = try closedLoop(load, context)
            let place = GridFigure(grid: "YCSB, requests a second", group: "closed loop", column: column)
            report.addGridFigure(place, perSecond: closed.rate, count: closed.done)
        }
        context.require(load.done, "no request was answered")
        report.note("\(load.done) requests, digest \(String(load.digest, radix: 16))")
        // The seed does not determine how many requests a search sends.
        if try !isOpen || context.text("saturation") != "search" {
            report.add(.operations, Double(load.done), statistic: "count")
        }
        try load.judge()
    }

    private func closedLoop(_ load: KeyedLoad, _ context: CaseContext) throws -> KeyedStretch {
        let report = context.report
        let meter = CostMeter(context)
        let stretch = try load.run(try context.integer("operations"))
        report.add(meter.samples(per: "request", count: stretch.done))
        report.add(.operationsPerSecond, stretch.rate, count: stretch.done)
        report.addFairness(stretch.rates)
        for operation in KeyedOperation.allCases {
            report.add(stretch.service[operation.rawValue], name: operation.name)
        }
        return stretch
    }
}
