import Measuring
import RunRecords

/// The result of a case of the self-test.
package struct MistakenResult: Sendable {
    package var test: Case
    package var mistake: String?
    package var expectation: MistakeExpectation
    package var verdict: Verdict
    package var message: String
    package var seconds: Double

    /// Whether the case ran out of time: then the verdict `inconclusive` says nothing about the mistake.
    package var isCut = false

    /// Whether the result is as expected: a pass without a mistake, the expected verdict with a mistake.
    package var isRight: Bool {
        if mistake == nil { return verdict == .pass }
        return expectation.accepts(verdict) && !(isCut && verdict == .inconclusive)
    }
}

/// Runs cases with planted mistakes, to test that every scenario finds the mistakes that it must find.
///
/// Several cases run at a time, since nothing is measured. Each runs in a worker of its own, as in a run. Fixtures are
/// built without the mistake.
package struct SelfTest {
    private var runner: CaseRunner
    private let secondsPerCase: Double
    private let lanes: Int

    /// - Parameter directory: an existing directory, below which the files of the cases are made.
    package init(
        executable: String, registries: Registries, directory: String, lanes: Int,
        secondsPerCase: Double = 60
    ) {
        runner = CaseRunner(
            executable: executable, registries: registries, directory: directory,
            limits: CaseRunner.Limits(hangSeconds: 30, memoryBytes: 3 << 30), readsInPlace: false)
        self.secondsPerCase = secondsPerCase
        self.lanes = lanes
    }

    private struct Lane {
        var place: Int
        var start: UInt64
        var running: RunningCase
    }

    /// Runs the cases, and returns their results in the order of the cases.
    package mutating func run(
        _ cases: [MistakenCase], progress: (_ done: Int, _ result: MistakenResult) throws -> Void
    ) throws -> [MistakenResult] {
        var results = [MistakenResult?](repeating: nil, count: cases.count)
        var running: [Lane] = []
        var next = 0
        var done = 0
        while next < cases.count || !running.isEmpty {
            if Interruption.isRequested {
                for lane in running { try lane.running.cancel() }
                return results.compactMap { $0 }
            }
            while running.count < lanes, next < cases.count {
                let started = try runner.start(
                    cases[next].planned, directory: "case-\(next)", seconds: secondsPerCase,
                    variables: cases[next].mistake.map { ["\(MistakeVariable.name)=\($0)"] } ?? [])
                running.append(Lane(place: next, start: MonotonicClock.now(), running: started))
                next += 1
            }
            RunningCase.wait(for: running.map(\.running))
            for lane in running {
                guard let measured = try lane.running.advance(), !Interruption.isRequested else { continue }
                running.removeAll { $0.place == lane.place }
                let result = Self.result(cases[lane.place], measured, since: lane.start)
                results[lane.place] = result
                done += 1
                try progress(done, result)
            }
        }
        return results.compactMap { $0 }
    }

    private static func result(
        _ mistaken: MistakenCase, _ measured: MeasuredCase, since start: UInt64
    ) -> MistakenResult {
        let first = measured.result.trials.first { !$0.outcome.isHonest }
        let detail = first.map { "\($0.address): \($0.detail)" } ?? ""
        let message = measured.result.message
        return MistakenResult(
            test: mistaken.planned.test, mistake: mistaken.mistake, expectation: mistaken.expectation,
            verdict: measured.result.verdict,
            message: detail.isEmpty ? message : message.isEmpty ? detail : "\(message); \(detail)",
            seconds: Double(MonotonicClock.now() &- start) / 1e9, isCut: measured.result.isCut)
    }
}

/// The result of a self-test as a whole.
package struct SelfTestVerdict: Sendable {
    /// The scenarios that have results, in the order of their first one.
    package private(set) var scenarios: [(slug: String, results: [MistakenResult])] = []
    package private(set) var wrong: [MistakenResult]
    /// The scenarios of `slugs` that found no mistake and are not excused.
    package private(set) var withoutAny: [String]

    /// - Parameter slugs: the scenarios that must find a mistake each, unless they are excused.
    package init(_ results: [MistakenResult], slugs: [String], excused: Set<String>) {
        var order: [String] = []
        var groups: [String: [MistakenResult]] = [:]
        for result in results {
            if groups[result.test.scenario] == nil { order.append(result.test.scenario) }
            groups[result.test.scenario, default: []].append(result)
        }
        scenarios = order.map { ($0, groups[$0] ?? []) }
        wrong = results.filter { !$0.isRight }
        withoutAny = slugs.filter { slug in
            !excused.contains(slug) && !(groups[slug] ?? []).contains { $0.mistake != nil && $0.isRight }
        }
    }

    package var isRight: Bool { wrong.isEmpty && withoutAny.isEmpty }
}
