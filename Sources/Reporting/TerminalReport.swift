import RunRecords

/// The summary at the end of a run: what was asked, the verdict, then each question with the figures that answer it.
struct TerminalReport {
    let digest: RunDigest
    let width: Int
    let colour: Bool

    /// More rows than this of one table are left to the HTML report, and counted.
    static let rowLimit = 24

    var run: Run { digest.run }
    private var header: RunHeader { digest.run.header }

    var text: String {
        var lines = opening + verdict
        let peers = peerLines
        if !peers.isEmpty { lines += [""] + peers }
        for question in Question.allCases {
            // The peers' table has the speed of all of them.
            if question == .fast && !peers.isEmpty { continue }
            let answer = answer(to: question)
            if !answer.isEmpty {
                lines += [""] + answer
            }
        }
        return (lines + [""] + closing).joined(separator: "\n") + "\n"
    }

    func styled(_ text: String, _ style: TextStyle) -> String {
        style.applied(to: text, colour: colour)
    }

    // MARK: Opening and closing

    private var opening: [String] {
        let machine = header.machine
        let facts = [
            header.isReleaseBuild ? "release build" : "DEBUG BUILD", machine.fileSystem,
            "fsync honest: \(machine.fsync.rawValue)",
        ].filter { !$0.isEmpty }.joined(separator: ", ")
        var lines = [
            "assay \(header.assayVersion)  plan \(header.plan)  seed \(header.seed)  "
                + "\(Figure.count(header.cases.count, "case", gap: " "))   (\(facts))"
        ]
        let engines = header.engines.map { "\($0.name) \($0.version)" }
        let missing = header.notBuilt.map { "\($0.name): not built (\($0.remedy))" }
        lines += wrapped("engines  ", engines + missing, separator: " \u{B7} ")
        lines += digest.warnings.map { styled("WARNING", .doubt) + "  \($0)" }
        let done = "[\(digest.results.count)/\(header.cases.count)]"
        let worked = Figure.duration(nanoseconds: Double(digest.workedNanoseconds), gap: " ")
        lines.append(
            digest.missing.isEmpty
                ? "\(done) done, cases took \(worked) together"
                : "\(done) STOPPED EARLY: \(Figure.count(digest.missing.count, "case", gap: " ")) not run")
        return lines
    }

    private var closing: [String] {
        let directory = RunDigest.shellWord(run.directory)
        var lines = digest.results.contains(where: \.isCut) ? ["\u{2020} cut by its budget", ""] : []
        lines += [
            "Report   \(run.directory)/report.html      Numbers  results.csv",
            "Repeat one   assay replay \(directory) CASE [TRIAL]",
        ]
        if !digest.missing.isEmpty {
            lines.append("Finish   \(digest.resumeCommand)")
        }
        return lines
    }

    private func wrapped(_ lead: String, _ items: [String], separator: String) -> [String] {
        var lines = [lead]
        for (index, item) in items.enumerated() {
            let piece = index == 0 ? item : separator + item
            if index > 0, lines[lines.count - 1].count + piece.count > width {
                lines.append(String(repeating: " ", count: lead.count) + item)
            } else {
                lines[lines.count - 1] += piece
            }
        }
        return items.isEmpty ? [] : lines
    }

    // MARK: Verdict

    private var verdict: [String] {
        var lines: [String] = []
        for engine in digest.engines {
            let results = digest.results(of: engine)
            if results.isEmpty { continue }
            let trials = results.reduce(0) { $0 + $1.trialCount }
            let violations = results.filter { $0.verdict == .violation }.count
            let scope =
                "in \(Figure.count(results.count, "case", gap: " ")) (\(Figure.count(trials, "trial", gap: " ")))"
            let words = violations == 0 ? "no violation" : Figure.count(violations, "violation", gap: " ")
            let others = Standing.order.compactMap { standing -> String? in
                guard case .judged(let verdict) = standing, verdict != .pass, verdict != .violation else { return nil }
                let count = results.filter { $0.verdict == verdict }.count
                return count == 0 ? nil : "\(count) \(standing.words)"
            }
            let lead = lines.isEmpty ? styled("VERDICT", .strong) : "       "
            lines.append(
                "\(lead)  \(engine): \(styled(words, violations == 0 ? .good : .bad)) \(scope)"
                    + (others.isEmpty ? "" : "   " + styled(others.joined(separator: ", "), .doubt)))
        }
        if lines.isEmpty {
            lines = [styled("VERDICT", .strong) + "  none: no case was run"]
        }
        return lines + grave
    }

    /// Every violation and every error of the harness, each with the command that repeats it.
    private var grave: [String] {
        let results = digest.results.filter { $0.verdict == .violation || $0.verdict == .harnessError }
        var lines = results.prefix(Self.rowLimit).flatMap { result -> [String] in
            let standing = Standing.judged(result.verdict)
            let what = [result.outcome?.rawValue ?? "", Self.firstLine(result.message)].filter { !$0.isEmpty }
            return [
                TextTable.shortened(
                    "  \(standing.symbol) \(result.test.engine)  \(digest.name(Subject(result.test)))  "
                        + what.joined(separator: ": "), to: max(40, width)),
                styled(
                    "      \(digest.replayCommand(result))",
                    .faint),
            ]
        }
        if results.count > Self.rowLimit {
            lines.append("  \(results.count - Self.rowLimit) more in the report")
        }
        return lines
    }

    static func firstLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
}
