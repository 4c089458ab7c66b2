import History
import Platform
import RunRecords
import Seeds

/// Times the checker over a history of many operations, without an anomaly and with one, and prints what it took.
///
/// `HistoryProbe [OPERATIONS]`, a million unless told otherwise. To be run in a release build.
@main
struct HistoryProbe {
    static func main() throws {
        let wanted = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
        var plan = RandomHistory()
        plan.actors = 16
        plan.keys = 40
        plan.mostElements = 100
        // About 2.9 operations each: half of the writes to registers are two.
        plan.transactions = wanted * 10 / 29
        var made: History?
        let making = seconds { made = plan.make(Seed(1)) }
        guard var history = made else { return }
        print(
            "\(history.operations.count) operations in \(history.transactions.count) transactions, "
                + "\(history.elements.count) elements read; made in \(making) s, peak \(peakMebibytes()) MiB")
        try check(history, "without an anomaly")
        plantWriteSkew(&history)
        try check(history, "with a write skew at its end")
    }

    private static func check(_ history: History, _ what: String) throws {
        var verdict: HistoryVerdict?
        var failure: (any Error)?
        let time = seconds {
            do { verdict = try HistoryChecker(history).check() } catch { failure = error }
        }
        if let failure { throw failure }
        guard let verdict else { return }
        let found = verdict.findings.map { "\($0.anomaly.rawValue), \($0.witness.transactions.count) transactions" }
        print(
            "\(what): \(time) s, \(verdict.edgeCount) edges, peak \(peakMebibytes()) MiB, "
                + "found: \(found.isEmpty ? "nothing" : found.joined(separator: "; "))")
    }

    /// Two transactions that each read what the other writes.
    private static func plantWriteSkew(_ history: inout History) {
        let end = history.transactions.map(\.latest).filter { $0 < .max }.max() ?? 0
        for (own, other) in [(1_000_000_001, 1_000_000_003), (1_000_000_003, 1_000_000_001)] {
            history.begin(actor: own % 2, at: end + 1)
            history.read(other, History.initialValue)
            history.read(own, History.initialValue)
            history.write(own, Int64(own))
            history.end(.committed, at: end + 100)
        }
    }

    private static func seconds(_ body: () -> Void) -> Double {
        let clock = ContinuousClock()
        let time = clock.measure(body).components
        return (Double(time.seconds) * 1000 + Double(time.attoseconds / 1_000_000_000_000_000)).rounded() / 1000
    }

    private static func peakMebibytes() -> Int {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return usage.ru_maxrss / 1024
        #else
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss / 1_048_576
        #endif
    }
}
