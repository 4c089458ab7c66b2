import Commands
import Harness
import Reporting
import RunRecords
import Seeds

/// Progress of a comparison of builds on standard error: a live line on a terminal, a line per batch otherwise.
struct SessionProgress: SessionObserver {
    func batchBegins(_ batch: Int, cases: [Case], rounds: Int) {
        let names = cases.prefix(4).map(\.scenario).joined(separator: ", ") + (cases.count > 4 ? ", .." : "")
        Output.progress("")
        Output.error(
            batch == 0
                ? "\(counted(cases.count, "case")), \(counted(rounds, "round")) of A, B and A: \(names)"
                : "flagged, and measured once more: \(names)")
    }

    func roundEnds(_ batch: Int, round: Int, rounds: Int, secondsLeft: Double?) {
        let left = secondsLeft.map { ", at most \(Int(max(0, $0).rounded(.up))) s left" } ?? ""
        Output.progress(round + 1 == rounds ? "" : "round \(round + 1) of \(rounds)\(left)")
    }

    func caseFails(_ test: Case, _ measurement: SideMeasurement) {
        Output.progress("")
        let result = measurement.result
        Output.error(
            "\(test.scenario) \(test.engine) ends: side \(measurement.side.rawValue) is "
                + "\(result.verdict.shownWord)\(result.message.isEmpty ? "" : ", \(result.message.prefix(300))")")
    }
}
