import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Progress of a comparison of builds on standard error: a live line on a terminal, a line per batch otherwise.
struct SessionProgress: SessionObserver {
    private let isLive = Output.isTerminal(STDERR_FILENO) && Output.environment("TERM") != "dumb"

    func batchBegins(_ batch: Int, cases: [Case], rounds: Int) {
        let names = cases.prefix(4).map(\.scenario).joined(separator: ", ") + (cases.count > 4 ? ", .." : "")
        clear()
        Output.error(
            batch == 0
                ? "\(cases.count) cases, \(rounds) rounds of A, B and A again: \(names)"
                : "flagged, and measured once more: \(names)")
    }

    func roundEnds(_ batch: Int, round: Int, rounds: Int, secondsLeft: Double?) {
        guard isLive else { return }
        let left = secondsLeft.map { ", at most \(Int(max(0, $0).rounded(.up))) s left" } ?? ""
        Output.write("\rround \(round + 1) of \(rounds)\(left)\u{1B}[K", to: STDERR_FILENO)
        if round + 1 == rounds { clear() }
    }

    func caseFails(_ test: Case, _ measurement: SideMeasurement) {
        clear()
        let result = measurement.result
        Output.error(
            "\(test.scenario) \(test.engine) ends: side \(measurement.side.rawValue) came to "
                + "\(result.verdict.rawValue)\(result.message.isEmpty ? "" : ", \(result.message.prefix(300))")")
    }

    private func clear() {
        if isLive { Output.write("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}
