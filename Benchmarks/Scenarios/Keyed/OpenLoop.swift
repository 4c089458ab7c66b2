import Harness
import Measuring
import RunRecords

/// The open loop of a case: its rate, its figures, and whether the machine kept to the schedule.
struct OpenLoop {
    static let parameters = [
        ScenarioParameter(
            "rate", .condition, default: 0, summary: "open: requests a second; 0: a share of the largest rate"),
        ScenarioParameter("load", .condition, default: 80, range: 1...1000, summary: "open: that share, in percent"),
        ScenarioParameter(
            "saturation", default: "closed", allowed: ["closed", "search"],
            summary: "open: the largest rate is the one of a closed loop, or the one that a search finds"),
        ScenarioParameter(
            "arrivals", default: "poisson", allowed: ArrivalSchedule.Spacing.allCases.map(\.rawValue),
            summary: "open: requests come at random moments, or at equal distances"),
        ScenarioParameter("bound", .allowance, default: 20, summary: "search: milliseconds that p99 may take at most"),
        ScenarioParameter("windows", .effort, default: 8, summary: "search: rates that are tried at most"),
        ScenarioParameter(
            "answer", .allowance, default: 0,
            summary: "open: milliseconds that nine of ten answers may take; 0 judges none"),
        ScenarioParameter(
            "late", .allowance, default: 1, summary: "open: milliseconds that the pacer itself may be late"),
    ]

    /// Length of a window of the search.
    private static let windowSeconds = 0.4

    private let context: CaseContext
    private let operations: Int
    private let spacing: ArrivalSchedule.Spacing
    private let late: UInt64

    init(_ context: CaseContext) throws {
        self.context = context
        operations = try context.integer("operations")
        spacing = ArrivalSchedule.Spacing(rawValue: try context.text("arrivals")) ?? .poisson
        late = UInt64(try context.integer("late")) * 1_000_000
    }

    /// Runs the loop. Returns: the largest rate that is possible, if it was searched for.
    func run(_ load: KeyedLoad) throws -> (value: Double, count: Int)? {
        let report = context.report
        let given = try context.integer("rate")
        var rate = Double(given)
        var most: (value: Double, count: Int)?
        if given == 0 {
            let closed = try load.run(operations)
            report.add(.operationsPerSecond, closed.rate, count: closed.done, label: "closed loop")
            report.addFairness(closed.rates, label: "closed loop")
            var possible = closed.rate
            if try context.text("saturation") == "search" {
                guard let found = try search(load, from: closed.rate) else { return nil }
                report.add(.saturation, found, count: closed.done)
                most = (found, closed.done)
                possible = found
            }
            rate = possible * Double(try context.integer("load")) / 100
        }
        // The closed loop got no answer, which the case reports.
        guard rate > 0 else { return most }
        if context.isOverBudget {
            report.cut()
            return most
        }
        let stretch = try load.run(operations, pace: pace(rate, "open loop"))
        report.add(.offered, rate, count: stretch.done)
        report.add(.operationsPerSecond, stretch.rate, count: stretch.done, label: "open loop")
        report.add(KeyedStretch.all(stretch.response), name: "response")
        report.add(KeyedStretch.all(stretch.service), name: "service")
        for operation in KeyedOperation.allCases where !stretch.service[operation.rawValue].isEmpty {
            report.add(stretch.response[operation.rawValue], name: "\(operation.name) response")
            report.add(stretch.service[operation.rawValue], name: "\(operation.name) service")
        }
        try judge(stretch)
        return most
    }

    private func pace(_ rate: Double, _ label: String) -> KeyedPace {
        KeyedPace(rate: rate, spacing: spacing, seed: context.seed.derived(label))
    }

    private func judge(_ stretch: KeyedStretch) throws {
        let report = context.report
        let lateness = stretch.lateness
        if !lateness.isEmpty {
            let count = Int(lateness.count)
            report.add(.pacerLateness, Double(lateness.quantile(0.9)) / 1e3, statistic: "p90", count: count)
            report.add(.pacerLateness, Double(lateness.maximum) / 1e3, statistic: "max", count: count)
        }
        if let reason = reason(lateness) { report.inconclusive(reason) }
        let allowed = try context.integer("answer")
        guard allowed > 0 else { return }
        let response = KeyedStretch.all(stretch.response)
        let got = Double(response.quantile(0.9)) / 1e6
        let service = Double(KeyedStretch.all(stretch.service).quantile(0.99)) / 1e6
        let isSoon = got <= Double(allowed)
        report.add(
            Trial(
                address: FaultAddress(text: "answer"), outcome: isSoon ? .correct : .hung,
                detail: isSoon
                    ? ""
                    : "nine of ten within \(got) ms of when they were due, allowed \(allowed); "
                        + "99 of 100 within \(service) ms of when they were sent"))
    }

    /// Why a stretch is inconclusive: the pacer itself was late. nil if it kept to its schedule.
    private func reason(_ lateness: Histogram) -> String? {
        guard lateness.count >= 10, lateness.quantile(0.9) > late else { return nil }
        return "the pacer was \(Double(lateness.quantile(0.9)) / 1e6) ms late in one of ten of the arrivals that it "
            + "waited for, allowed \(late / 1_000_000): the machine was too busy to hold the schedule"
    }

    // MARK: Saturation

    /// The largest tried rate whose p99 and whose last response stay under the bound; nil if there is none.
    private func search(_ load: KeyedLoad, from guess: Double) throws -> Double? {
        guard guess > 0 else { return nil }
        let bound = UInt64(try context.integer("bound")) * 1_000_000
        var search = SaturationSearch(guess: guess, most: try context.integer("windows"))
        var tried: [String] = []
        while let rate = search.next, !context.isOverBudget {
            let count = max(20 * load.laneCount, Int(rate * Self.windowSeconds))
            let stretch = try load.run(count, pace: pace(rate, "window \(tried.count)"))
            let worst = KeyedStretch.all(stretch.response).quantile(0.99)
            let isHeld = reason(stretch.lateness) == nil
            search.note(holds: isHeld && worst <= bound && stretch.lastResponse <= bound)
            let words = !isHeld ? "the pacer was late" : search.attempts.last?.holds == true ? "held" : "not held"
            tried.append("\(Int(rate))/s \(words) (p99 \(Double(worst / 10_000) / 100) ms)")
        }
        context.report.note(
            "search for saturation, windows of \(Self.windowSeconds) s: " + tried.joined(separator: ", "))
        if search.largest == nil {
            context.report.inconclusive("no rate was found whose p99 stays under \(bound / 1_000_000) ms")
        }
        return search.largest
    }
}

extension Metric {
    /// The largest rate that an open loop sustained.
    static let saturation = Metric("saturation_per_second", unit: "1/s", .higherIsBetter, .measured)
    /// The rate at which requests were due.
    static let offered = Metric("offered_per_second", unit: "1/s", .neutral, .measured)
    /// Lateness of requests that did not have to wait for earlier ones.
    static let pacerLateness = Metric("pacer_late_us", unit: "us", .neutral, .measured)
}
