import Commands
import Files
import Harness
import Platform
import RunRecords
import Seeds

struct VerifyFiguresCommand: Command {
    let name = "verify-figures"
    let summary = "measures figures in turns with programs that do the same work without the harness"
    let question = "are the figures those of the engines, or of the harness?"
    let positional: [String] = []
    let examples = [
        CommandExample("verify-figures --only lmdb --rounds 3", "one engine, after make controls")
    ]
    let exitStatus = "0 no figure differs by more than a tenth, 2 a figure does, 3 a program is missing or out of date"
    let options = [
        OptionSpecification(
            "--rounds", value: "N", "pairs per figure (7); three, then nine times as many for an undecided figure"),
        OptionSpecification("--only", value: "ENGINE,..", "only these engines"),
        OptionSpecification("--workload", value: "NAME,..", "only these workloads"),
        OptionSpecification("--rows", value: "N", "rows of the data (200000)"),
        OptionSpecification("--seed", value: "N", "of the order of the sides (1)"),
        OptionSpecification("--directory", value: "DIR", "a new directory for databases"),
        OptionSpecification("--controls", value: "DIR", "the directory of the programs (.build/controls)"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans; the list of controls is beside them"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
        let file = checkout.plansDirectory + "/../Controls/figures.json5"
        let list = try ControlList.read(try FileTree.readText(file), file: file)
        let rounds = Int(try arguments.unsigned("--rounds") ?? 7)
        let rows = Int(try arguments.unsigned("--rows") ?? 200_000)
        guard rounds > 0, rows > 0 else { throw UsageError("--rounds and --rows are 1 at the least", command: name) }
        let chosen = try choose(list, arguments)
        let directory = arguments.value("--directory") ?? "Reports/verify-figures-\(getpid())"
        guard !FileTree.exists(directory) else {
            throw UsageError("--directory: \(directory) exists already; name a new directory", command: name)
        }
        let programs = try arguments.value("--controls") ?? controlsDirectory(checkout)
        let control = ControlSide(list: list, programs: programs, directory: directory + "/control", rows: rows)
        let built = Set(chosen.compactMap { control.program($0.engine) }).sorted()
        let missing = built.filter { !FileTree.exists($0) }
        guard missing.isEmpty else {
            Output.error("not built: \(missing.joined(separator: ", "))\nremedy: make controls")
            return 3
        }
        let old = try ProgramAge.complaints(
            controls: built, assay: chosen.contains { $0.engine == "strata" } ? executable : nil,
            checkout: checkout.plansDirectory + "/../..")
        guard old.isEmpty else {
            Output.error(old.joined(separator: "\n"))
            return 3
        }
        let assay = AssaySide(executable: executable, directory: directory + "/assay", rows: rows)
        for side in ["/control", "/assay"] { try FileTree.createDirectory(directory + side) }
        let verification = FigureVerification(
            assay: { try assay.measure($0, engine: $1, round: $2) },
            control: { try control.measure($0, engine: $1, round: $2) })
        let machine = try MachineInspection.inspect(directory: directory + "/assay")
        let found = try measure(
            chosen, verification, rounds: rounds, seed: Seed(try arguments.unsigned("--seed") ?? 1))
        try FileTree.remove(directory)
        try KeptVerdicts.note(found.verdicts, executable, on: machine)
        if !found.isComplete { return 1 }
        return found.verdicts.contains(where: \.isOff) ? 2 : 0
    }

    private func controlsDirectory(_ checkout: Checkout) throws -> String {
        checkout.plansDirectory + "/../../.build/controls"
    }

    /// The selected figures, each with the selected engines that have a control program for it.
    private func choose(
        _ list: ControlList, _ arguments: Arguments
    ) throws -> [(figure: ControlledFigure, engine: String)] {
        let engines = list.programs.map(\.engine)
        let only = arguments.list("--only")
        for name in only where !engines.contains(name) {
            throw UsageError(NearestName.complaint("control", name, among: engines), command: self.name)
        }
        let workloads = Set(list.figures.map(\.workload)).sorted()
        let wanted = arguments.list("--workload")
        for name in wanted where !workloads.contains(name) {
            throw UsageError(NearestName.complaint("workload", name, among: workloads), command: self.name)
        }
        let figures = list.figures.filter { wanted.isEmpty || wanted.contains($0.workload) }
        let built = Set(BuildRegistries.make().engines.engines.map(\.name))
        return figures.flatMap { figure in
            engines.filter { engine in
                built.contains(engine) && (only.isEmpty || only.contains(engine))
                    && (figure.engines?.contains(engine) ?? true)
            }.map { (figure, $0) }
        }
    }

    /// Prints a row as soon as its pairs are complete.
    private func measure(
        _ chosen: [(figure: ControlledFigure, engine: String)], _ verification: FigureVerification, rounds: Int,
        seed: Seed
    ) throws -> (verdicts: [FigureVerdict], isComplete: Bool) {
        let bounds = FigureComparison.bounds
        try Output.line("Assay's figure beside that of a program without it: \(rounds) pairs, the median")
        try Output.line("of their ratios and its interval (95 % from 6 pairs). Above 1: Assay is better.")
        try Output.line("For an undecided figure Assay measures \(3 * rounds) pairs, then \(9 * rounds).")
        try Output.line(
            "Marked outside \(bounds.lowerBound) .. \(bounds.upperBound): OFF, or ? where the interval reaches inside.")
        try Output.line()
        try Output.line(
            row(
                "workload", "engine", assay: "Assay", control: "control", ratio: "ratio", interval: "interval", mark: ""
            ))
        var failures = 0
        var verdicts: [FigureVerdict] = []
        for (figure, engine) in chosen {
            do {
                for found in try verification.compare(figure, engine: engine, rounds: rounds, seed: seed) {
                    try Output.line(row(found, rounds: rounds))
                    verdicts.append(found.verdict(figure))
                }
            } catch {
                failures += 1
                Output.error("\(figure.name), \(engine): \(error)")
            }
        }
        return (verdicts, failures == 0)
    }

    private func row(_ found: FigureComparison, rounds: Int) -> String {
        let mark =
            switch found.standing {
            case .holds: ""
            case .off: "OFF"
            case .undecided: "?"
            }
        let unit = found.metric.hasSuffix("_per_second") ? "/s" : found.metric.hasSuffix("_ns") ? " ns" : " us"
        return row(
            found.name, found.engine, assay: short(found.assayMedian) + unit,
            control: short(found.controlMedian) + unit,
            ratio: decimals(found.ratio), interval: "\(decimals(found.low))..\(decimals(found.high))",
            mark: found.pairs > rounds ? mark + " (\(found.pairs) pairs)" : mark)
    }

    private func row(
        _ name: String, _ engine: String, assay: String, control: String, ratio: String, interval: String,
        mark: String
    ) -> String {
        var text = left(name, 23) + left(engine, 13)
        for (cell, width) in [(assay, 9), (control, 9), (ratio, 7)] { text += right(cell, width) }
        text += "  " + left(interval, 12) + mark
        while text.last == " " { text.removeLast() }
        return text
    }

    private func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }

    private func decimals(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Three digits, followed by k, M or G.
    private func short(_ value: Double) -> String {
        for (bound, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] where value >= bound {
            return digits(value / bound) + letter
        }
        return digits(value)
    }

    private func digits(_ value: Double) -> String {
        if value >= 100 { return "\(Int(value.rounded()))" }
        let tenths = value >= 10
        let scaled = Int((value * (tenths ? 10 : 100)).rounded())
        let base = tenths ? 10 : 100
        let rest = scaled % base
        return "\(scaled / base).\(!tenths && rest < 10 ? "0" : "")\(rest)"
    }
}
