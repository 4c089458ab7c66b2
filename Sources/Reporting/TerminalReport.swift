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
        if !run.header.measures {
            lines += ["", " This plan measures nothing: only the outcomes of its cases count."]
        }
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
        let plan = "plan \(header.plan), seed \(header.seed), \(Figure.count(header.cases.count, "case", gap: " "))"
        var lines = items("assay \(header.assayVersion)  ", [plan, facts], separator: "; ")
        let engines = header.engines.map { "\($0.name) \($0.version)" }
        let missing = header.notBuilt.map { "\($0.name): not built (\($0.remedy))" }
        lines += items("engines  ", engines + missing, separator: " \u{B7} ")
        for warning in digest.warnings {
            lines += wrapped(warning, lead: "WARNING  ", leadStyle: .doubt, hang: 9)
        }
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
        lines += ["Report   \(run.directory)/report.html", "Numbers  \(run.directory)/results.csv", "Repeat a case"]
        lines += WrappedText.command("assay replay \(directory) CASE [TRIAL]", width: width, indent: 4)
        if !digest.missing.isEmpty {
            lines += ["Finish the run"] + WrappedText.command(digest.resumeCommand, width: width, indent: 4)
        }
        return lines
    }

    /// A sentence on as many lines as it takes.
    func wrapped(
        _ words: String, _ style: TextStyle = .plain, lead: String, leadStyle: TextStyle = .plain, hang: Int
    ) -> [String] {
        var text = WrappedText()
        text.add(words, style)
        return text.lines(width: width, lead: lead, leadStyle: leadStyle, hang: hang, colour: colour)
    }

    /// Items that stay whole where they fit on a line, under each other behind the lead.
    private func items(_ lead: String, _ items: [String], separator: String) -> [String] {
        let start = String(repeating: " ", count: lead.count)
        var lines: [String] = []
        var line = ""
        for item in items {
            if !line.isEmpty, lead.count + line.count + separator.count + item.count > width {
                lines.append(line)
                line = item
            } else {
                line += line.isEmpty ? item : separator + item
            }
        }
        lines += line.isEmpty ? [] : [line]
        return lines.enumerated().flatMap { index, line in
            wrapped(line, lead: index == 0 ? lead : start, hang: lead.count)
        }
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
            var text = WrappedText()
            text.add("\(engine):")
            text.add(words, violations == 0 ? .good : .bad)
            text.add(scope + (others.isEmpty ? "" : ","))
            text.add(others.joined(separator: ", "), .doubt)
            lines += text.lines(
                width: width, lead: lines.isEmpty ? "VERDICT  " : "         ", leadStyle: .strong, hang: 11,
                colour: colour)
        }
        let unfinished = digest.unfinishedWords(gap: " ").drop { $0 == ";" || $0 == " " }
        if !unfinished.isEmpty { lines += wrapped(String(unfinished), .doubt, lead: "         ", hang: 11) }
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
            let line =
                "\(standing.symbol) \(result.test.engine)  \(digest.name(Subject(result.test)))  "
                + what.joined(separator: ": ")
            let command = WrappedText.command(digest.replayCommand(result), width: width, indent: 4)
            return [TextTable.shortened("  " + line, to: max(40, width))] + command.map { styled($0, .faint) }
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
