import RunRecords

/// The summary at the end of a run: the plan, the verdict, each question with its figures, and the answer.
struct TerminalReport {
    let digest: RunDigest
    let width: Int
    let colour: Bool

    /// The most rows of a table. Further rows are only counted; the HTML report has them.
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
        let scale = TerminalScale(digest: digest, width: width, colour: colour).lines
        if !scale.isEmpty { lines += [""] + scale }
        let grids = header.measures ? TerminalFigureGrid(digest: digest, width: width, colour: colour).lines : []
        if !grids.isEmpty { lines += [""] + grids }
        for question in Question.allCases {
            // The table of the peers has the figures of speed already.
            if question == .fast && !peers.isEmpty { continue }
            let answer = answer(to: question)
            if !answer.isEmpty {
                lines += [""] + answer
            }
        }
        return (lines + [""] + closing + [""] + answer).joined(separator: "\n") + "\n"
    }

    /// The answer is the last line, so that it is the end of a log.
    private var answer: [String] {
        let answer = RunAnswer(digest: digest)
        return wrapped(answer.text, answer.style, lead: "ANSWER   ", leadStyle: .strong, hang: 9)
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
        let shards = digest.shardWords.split(separator: Figure.gap).joined(separator: " ")
        let parts = [plan, shards, facts].filter { !$0.isEmpty }
        var lines = items("assay \(header.assayVersion)  ", parts, separator: "; ")
        let engines = header.engines.map { "\($0.name) \($0.version)" }
        let missing = header.notBuilt.map { "\($0.name): not built (\($0.remedy))" }
        lines += items("engines  ", engines + missing, separator: " \u{B7} ")
        for warning in digest.warnings {
            lines += wrapped(warning, lead: "WARNING  ", leadStyle: .doubt, hang: 9)
        }
        let done = "[\(digest.results.count)/\(header.cases.count)]"
        let worked = Figure.duration(nanoseconds: Double(digest.workedNanoseconds), gap: " ")
        let why = header.merged.isEmpty ? "STOPPED EARLY" : "SHARDS ARE MISSING"
        lines.append(
            digest.missing.isEmpty
                ? "\(done) done, cases took \(worked) together"
                : "\(done) \(why): \(Figure.count(digest.missing.count, "case", gap: " ")) not run")
        return lines
    }

    private var closing: [String] {
        let directory = RunDigest.shellWord(run.directory)
        var lines = digest.results.contains(where: \.isCut) ? ["\u{2020} cut by its budget"] : []
        if !header.doubtfulFigures.isEmpty { lines.append("\u{2021} another value without the harness") }
        if !lines.isEmpty { lines.append("") }
        lines += ["Report   \(run.directory)/report.html", "Numbers  \(run.directory)/results.csv", "Repeat a case"]
        lines += WrappedText.command("assay replay \(directory) CASE [TRIAL]", width: width, indent: 4)
        if !digest.missing.isEmpty {
            lines += ["Finish the run"] + WrappedText.command(digest.resumeCommand, width: width, indent: 4)
        }
        return lines
    }

    /// A sentence, wrapped.
    func wrapped(
        _ words: String, _ style: TextStyle = .plain, lead: String, leadStyle: TextStyle = .plain, hang: Int
    ) -> [String] {
        var text = WrappedText()
        text.add(words, style)
        return text.lines(width: width, lead: lead, leadStyle: leadStyle, hang: hang, colour: colour)
    }

    /// Items in lines after the lead. An item that fits in a line is not broken.
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
            lines += engineVerdict(engine, results, isFirst: lines.isEmpty)
        }
        let open = digest.allCounts.openWords(gap: " ")
        if !open.isEmpty { lines += wrapped(open, .doubt, lead: "         ", hang: 11) }
        if lines.isEmpty {
            return [styled("VERDICT", .strong) + "  none: no case was run"]
        }
        return lines + families + causes
    }

    private func engineVerdict(_ engine: String, _ results: [CaseResult], isFirst: Bool) -> [String] {
        let counts = VerdictCounts(results)
        let scope =
            "in \(Figure.count(counts.cases, "case", gap: " ")) (\(Figure.count(counts.trials, "trial", gap: " ")))"
        let words =
            counts.violations == 0
            ? "every promise was kept"
            : "\(Figure.count(counts.violations, "violation", gap: " ")) (\(counts.concernWords(gap: " ")))"
        let others = Standing.order.compactMap { standing -> String? in
            guard case .judged(let verdict) = standing, verdict != .pass, !verdict.isViolation else { return nil }
            let count = results.count { $0.verdict == verdict }
            return count == 0 ? nil : "\(count) \(Self.words(verdict, standing))"
        }
        var text = WrappedText()
        text.add("\(engine):")
        text.add(words, counts.violations == 0 ? .good : .bad)
        text.add(scope + (others.isEmpty ? "" : ","))
        text.add(others.joined(separator: ", "), .doubt)
        return text.lines(
            width: width, lead: isFirst ? "VERDICT  " : "         ", leadStyle: .strong, hang: 11, colour: colour)
    }

    private static func words(_ verdict: Verdict, _ standing: Standing) -> String {
        verdict == .unpromised ? "wrong, but never promised" : standing.words
    }

    /// Every family with its violations, also if there are none: a family that is not listed was not tested.
    private var families: [String] {
        let families = digest.familyCounts
        guard families.count > 1 else { return [] }
        let items = families.map { family, counts in
            counts.violations == 0
                ? "\(family.rawValue) 0 of \(counts.cases)"
                : "\(family.rawValue) \(counts.violations) of \(counts.cases) (\(counts.concernWords(gap: " ")))"
        }
        return self.items("violate  ", items, separator: " \u{B7} ")
    }

    /// Violations, the known ones included, and cases in which the harness failed or is suspected: by cause, each with
    /// its count and a command that repeats one. Then a line for each kind of damage that no engine promised to
    /// prevent.
    private var causes: [String] {
        var lines: [String] = []
        var left = Self.rowLimit
        for verdict in [Verdict.violation, .known, .suspectedHarness, .harnessError] {
            let groups = digest.causeGroups(verdict)
            for group in groups.prefix(left) {
                var commands = WrappedText.command(digest.replayCommand(group), width: width, indent: 4)
                if let file = group.caseFileCommand { commands += WrappedText.command(file, width: width, indent: 4) }
                lines += [line(group, verdict)] + commands.map { styled($0, .faint) }
            }
            if groups.count > left { lines.append("  \(groups.count - left) more in the report") }
            left = max(0, left - groups.count)
        }
        lines += reasons
        let unpromised = digest.causeGroups(.unpromised)
        lines += unpromised.prefix(Self.unpromisedLimit).map { line($0, .unpromised) }
        if unpromised.count > Self.unpromisedLimit {
            lines.append("  \(unpromised.count - Self.unpromisedLimit) more that were not promised, in the report")
        }
        return lines
    }

    private static let unpromisedLimit = 6

    /// Why cases are inconclusive, which explains an exit status of 3 in a log. Cases with the same reason share a
    /// line.
    private var reasons: [String] {
        let groups = digest.causeGroups(.inconclusive)
        var lines = groups.prefix(Self.reasonLimit).flatMap { group -> [String] in
            let whole = group.cases.count == 1 ? digest.name(Subject(group.cases[0].test)) : group.scenario
            // A long lead is shortened, to leave room for the reason.
            let name = TextTable.shortened(whole, to: max(12, width - 40))
            let count = group.cases.count == 1 ? "" : "  \(Figure.count(group.cases.count, "case", gap: " "))"
            let reason = group.detail.isEmpty ? "the case gives no reason" : group.detail
            return wrapped(
                reason, lead: "  \(Standing.judged(.inconclusive).symbol) \(group.engine)  \(name)\(count)  ", hang: 6)
        }
        if groups.count > Self.reasonLimit {
            let left = groups.count - Self.reasonLimit
            lines.append("  \(left) more without an answer, in the report")
        }
        return lines
    }

    private static let reasonLimit = 12

    private func line(_ group: CauseGroup, _ verdict: Verdict) -> String {
        let standing = Standing.judged(verdict)
        let name = group.cases.count == 1 ? digest.name(Subject(group.cases[0].test)) : group.scenario
        let what = [group.countWords(gap: " "), group.detail].filter { !$0.isEmpty }.joined(separator: ": ")
        return TextTable.shortened("  \(standing.symbol) \(group.engine)  \(name)  \(what)", to: max(40, width))
    }
}

extension Reporting {
    /// A summary for a terminal of `width` columns: the verdict first, then each question that the run has figures for.
    /// `colour` adds ANSI sequences; without it the text is plain.
    package static func terminal(_ run: Run, width: Int, colour: Bool) -> String {
        TerminalReport(digest: RunDigest(run), width: width, colour: colour).text
    }
}
