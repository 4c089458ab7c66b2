import Commands
import Files
import Harness
import RunRecords
import Statistics

/// Estimates before a run how many rounds its budget allows, and records the cases' durations for the next estimate.
struct RoundPlan {
    private let forecast: RoundForecast
    private let machine: Machine
    /// Whether durations are recorded for later estimates: not for a run whose directory the user chose elsewhere.
    private let isKept: Bool

    init(_ configuration: RunConfiguration, _ header: RunHeader) {
        machine = header.machine
        isKept = configuration.directory.path.hasPrefix("Reports/")
        let durations = Self.read()
        // A resumed run has completed some rounds already, so that it prints no estimate.
        let isBegun = FileTree.exists(configuration.directory.resultsFile)
        let isMeasured = configuration.plan.measures && !isBegun
        forecast = RoundForecast(
            isMeasured ? configuration.cases : [], rounds: configuration.plan.rounds,
            budget: configuration.budgetSeconds, known: { durations.seconds(of: $0, on: header.machine) })
    }

    /// An unreadable file only loses the estimate.
    private static func read() -> CaseDurations {
        do {
            return try CaseDurations.read(CaseDurations.file)
        } catch {
            Output.error("\(CaseDurations.file): \(error); remove it, and the next run makes it anew")
            return CaseDurations()
        }
    }

    /// A line for each comparison of cases; none for a plan without rounds.
    var lines: [String] {
        let rows = forecast.rows
        guard !rows.isEmpty else { return [] }
        let guessed = rows.filter(\.isGuessed).count
        let source =
            switch guessed {
            case 0: "by their earlier times here"
            case rows.count: "by their sizes, since there are no earlier times here"
            default: "by their earlier times here, and \(guessed) of \(rows.count) by their sizes (?)"
            }
        let bound = forecast.budget.map { "in \(Int($0)) s" } ?? "without a bound of time"
        var lines = ["rounds that there is time for \(bound), estimated \(source):"]
        let names = rows.map { Self.name($0.subject) }
        let width = min(56, names.map(\.count).max() ?? 0)
        for (row, name) in zip(rows, names) {
            let rounds = row.least == row.most ? "\(row.least)" : "\(row.least) to \(row.most)"
            var line = "  " + Self.padded(name, width) + "  " + Self.padded(rounds, 9)
            line += "\(row.engines) engines, \(Self.tenths(row.seconds)) s a round"
            if row.isGuessed, guessed < rows.count { line += " ?" }
            if row.least < forecast.firstLook { line += ", and no decision comes before \(forecast.firstLook)" }
            lines.append(line)
        }
        return lines
    }

    /// Records the durations; if the file cannot be written, only the next run's estimate suffers.
    /// - Parameter seconds: durations of the run's measurements, by case.
    func keep(_ seconds: [Case: [Double]]) {
        if !isKept || seconds.isEmpty || forecast.rows.isEmpty { return }
        var durations = Self.read()
        for (test, values) in seconds { durations.note(MedianInterval.median(values), of: test, on: machine) }
        do {
            try FileTree.createDirectory("Reports")
            try durations.write(CaseDurations.file)
        } catch { Output.error("\(CaseDurations.file): \(error); the next run estimates its rounds by sizes") }
    }

    private static func name(_ test: Case) -> String {
        var words = [test.scenario]
        if !test.dataset.isEmpty { words.append(test.size > 0 ? "\(test.dataset) \(test.size)" : test.dataset) }
        if !test.parameterText.isEmpty { words.append(test.parameterText) }
        if test.durability != .full { words.append(test.durability.rawValue) }
        return words.joined(separator: "  ")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
