import Measuring
import RunRecords
import Seeds

/// One process of a round: the side whose program runs, and the directory in which it works.
package struct SideTurn: Hashable, Sendable {
    package var side: BuildSide
    package var place: String
}

/// Gets the progress of a comparison of builds.
package protocol SessionObserver {
    func batchBegins(_ batch: Int, cases: [Case], rounds: Int)
    func roundEnds(_ batch: Int, round: Int, rounds: Int, secondsLeft: Double?)
    func caseFails(_ test: Case, _ measurement: SideMeasurement)
}

/// Measures cases with two builds in rounds: A, B, and A once more, each in a fresh process.
///
/// Invariants:
/// 1. The three measurements of a round follow each other directly, with equal seeds: a disturbance of the machine that
///    lasts longer than the round affects them alike.
/// 2. In each block of six rounds, from the first round on, each side works twice in each directory, and twice comes
///    first, second and last; the seed decides the order of these. A slow directory slows all sides alike.
/// 3. No two processes run at the same time: they would share the disk.
/// 4. Each measurement is passed to `record` before the next begins.
/// 5. The confirming batch works on new fixtures, since the place of the first ones on disk is not a property of a
///    build.
package struct PairedSession {
    package var cases: [Case]
    package var pairs: Int
    package var threshold: Double
    package var seed: Seed
    package var budgetSeconds: Double?
    /// Whether cases with a flagged difference are measured in a second batch.
    package var confirms: Bool

    /// The fewest pairs that give an interval.
    package static let fewestPairs = ComparedCase.fewestPairs

    /// The directories of the sides. Their names are equally long, so that the paths are, too.
    package static let places = ["place-1", "place-2", "place-3"]

    package init(
        cases: [Case], pairs: Int, threshold: Double, seed: Seed, budgetSeconds: Double? = nil, confirms: Bool = true
    ) {
        precondition(pairs > 0)
        self.cases = cases
        self.pairs = pairs
        self.threshold = threshold
        self.seed = seed
        self.budgetSeconds = budgetSeconds
        self.confirms = confirms
    }

    /// Every order of three sides or directories.
    private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    /// The order and the directories of the sides in one round of a case.
    package static func turns(seed: Seed, test: Case, batch: Int, round: Int) -> [SideTurn] {
        let (block, index) = round.quotientAndRemainder(dividingBy: orders.count)
        var random = RandomStream(seed.derived("rounds/\(test.id)/\(batch)/\(block)"))
        let places = orders[random.permutation(of: orders.count)[index]]
        return orders[random.permutation(of: orders.count)[index]].map { side in
            SideTurn(side: BuildSide.allCases[side], place: self.places[places[side]])
        }
    }

    /// Runs a case once with the program of a side, in a directory of that name.
    package typealias Measure = (_ side: BuildSide, _ test: Case, _ place: String) throws -> CaseResult

    /// Discards the fixture of a case, so that its next measurement builds it anew.
    package typealias Renew = (_ test: Case) throws -> Void

    /// The result: the compared cases, and those without a figure to compare.
    package struct Compared {
        package var cases: [ComparedCase] = []
        package var refused: [BuildComparison.Refused] = []
    }

    /// - Parameter record: gets every measurement except those of the trial rounds.
    package func run(
        measure: Measure, record: (SideMeasurement) throws -> Void, renew: Renew = { _ in },
        observer: some SessionObserver
    ) throws -> Compared {
        var work = SessionCourse(session: self, start: MonotonicClock.now())
        try work.trialRound([.a, .b], measure: measure, observer: observer)
        // A case that the first batch flags needs as much time again for the second one.
        try work.batch(0, until: confirms ? 0.6 : 1, measure: measure, record: record, observer: observer)
        guard confirms else { return work.compared }
        try work.keepFlagged(renew)
        try work.trialRound([.b, .a], measure: measure, observer: observer)
        try work.batch(1, until: 1, measure: measure, record: record, observer: observer)
        return work.compared
    }
}

/// The state of a session while it runs.
private struct SessionCourse {
    private let session: PairedSession
    private let start: UInt64
    private var refused: [BuildComparison.Refused] = []
    /// By case id.
    private var batches: [String: [ComparedBatch]] = [:]
    private var failures: [String: SideMeasurement] = [:]
    private var running: [Case]

    init(session: PairedSession, start: UInt64) {
        self.session = session
        self.start = start
        running = session.cases
    }

    /// Runs each case once with each program, and records nothing. This builds the fixtures, fills the page cache, and
    /// finds cases without figures before they cost much time.
    mutating func trialRound(
        _ sides: [BuildSide], measure: PairedSession.Measure, observer: some SessionObserver
    ) throws {
        for test in running {
            var figures: [FigureName?] = []
            for side in sides where failures[test.id] == nil {
                let result = try measure(side, test, PairedSession.places[0])
                figures.append(result.judgedFigure)
                let measurement = SideMeasurement(
                    batch: 0, round: 0, side: side, position: 0, place: PairedSession.places[0], result: result)
                if !Self.isComparable(result) { fail(test, measurement, observer) }
            }
            guard failures[test.id] == nil else { continue }
            if figures.contains(nil) {
                refused.append(BuildComparison.Refused(test: test, reason: "gives no rate or time to compare"))
            } else if Set(figures).count > 1 {
                refused.append(BuildComparison.Refused(test: test, reason: "gives other figures on side B than on A"))
            }
        }
        let gone = Set(refused.map(\.test.id)).union(failures.keys)
        running.removeAll { gone.contains($0.id) }
    }

    /// Keeps only the cases that a second batch has to confirm, and has their fixtures of the first batch discarded.
    mutating func keepFlagged(_ renew: PairedSession.Renew) throws {
        let isOver = secondsLeft(1).map { $0 <= 0 } ?? false
        running = isOver ? [] : running.filter(needsConfirmation)
        for test in running { try renew(test) }
    }

    /// Measures rounds of the remaining cases, until the share of the budget is used up.
    mutating func batch(
        _ batch: Int, until share: Double, measure: PairedSession.Measure,
        record: (SideMeasurement) throws -> Void, observer: some SessionObserver
    ) throws {
        guard !running.isEmpty else { return }
        observer.batchBegins(batch, cases: running, rounds: session.pairs)
        var measurements: [String: [SideMeasurement]] = [:]
        for round in 0..<session.pairs {
            if let left = secondsLeft(share), left <= 0 { break }
            for test in running where failures[test.id] == nil {
                for measurement in try self.round(round, batch, test: test, measure: measure, record: record) {
                    measurements[test.id, default: []].append(measurement)
                    if !Self.isComparable(measurement.result) { fail(test, measurement, observer) }
                }
            }
            observer.roundEnds(batch, round: round, rounds: session.pairs, secondsLeft: secondsLeft(share))
        }
        for test in running {
            let compared = ComparedBatch(
                measurements[test.id] ?? [], threshold: session.threshold, seed: session.seed.derived(test.id))
            if let compared { batches[test.id, default: []].append(compared) }
        }
    }

    /// Measures one round. It ends early if a side gives nothing to compare.
    private func round(
        _ round: Int, _ batch: Int, test: Case, measure: PairedSession.Measure,
        record: (SideMeasurement) throws -> Void
    ) throws -> [SideMeasurement] {
        var measurements: [SideMeasurement] = []
        let turns = PairedSession.turns(seed: session.seed, test: test, batch: batch, round: round)
        for (position, turn) in turns.enumerated() {
            var result = try measure(turn.side, test, turn.place)
            result.turn = Turn(round: round)
            let measurement = SideMeasurement(
                batch: batch, round: round, side: turn.side, position: position, place: turn.place, result: result)
            try record(measurement)
            measurements.append(measurement)
            if !Self.isComparable(result) { break }
        }
        return measurements
    }

    /// Whether the result has figures to compare. A case with an unpromised or known violation has; a case that was cut
    /// has not, since it did less work.
    private static func isComparable(_ result: CaseResult) -> Bool {
        [.pass, .known, .unpromised].contains(result.verdict) && !result.isCut
    }

    private mutating func fail(_ test: Case, _ measurement: SideMeasurement, _ observer: some SessionObserver) {
        failures[test.id] = measurement
        observer.caseFails(test, measurement)
    }

    /// Whether a comparison of the first batch is flagged, be it of B or of the control.
    private func needsConfirmation(_ test: Case) -> Bool {
        guard failures[test.id] == nil, let first = batches[test.id]?.first else { return false }
        return [first.judged.measured, first.judged.control].contains { $0?.isFlagged == true }
    }

    private func secondsLeft(_ share: Double) -> Double? {
        session.budgetSeconds.map { $0 * share - Double(MonotonicClock.now() &- start) / 1e9 }
    }

    var compared: PairedSession.Compared {
        let ids = Set(refused.map(\.test.id))
        let cases = session.cases.filter { !ids.contains($0.id) }.map { test in
            ComparedCase(
                test: test, batches: batches[test.id] ?? [], failure: failures[test.id], confirms: session.confirms)
        }
        return PairedSession.Compared(cases: cases, refused: refused)
    }
}
