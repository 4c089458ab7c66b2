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
        // Of the surroundings of the run: below the verdict, which they do not change.
        let notes = digest.notes.flatMap { wrapped($0, lead: "NOTE     ", leadStyle: .doubt, hang: 9) }
        var lines = opening + verdict + notes
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

    /// The answer is the last line, so that it is the end of a log; it is not broken, whatever its length.
    private var answer: [String] {
        let answer = RunAnswer(digest: digest)
        return [styled("ANSWER", .strong) + "   " + styled(answer.text, answer.style)]
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
        for warning in digest.doubts {
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
        // An engine keeps or breaks promises in these cases, and not in those without an answer.
        let concluded = VerdictCounts(results.filter { PageAnswer.isConcluded($0) })
        let words =
            counts.violations > 0
            ? "\(Figure.count(counts.violations, "violation", gap: " ")) (\(counts.concernWords(gap: " ")))"
            : concluded.cases > 0 ? "every promise was kept" : "no case came to a conclusion"
        let scope =
            "in \(Figure.count(concluded.cases, "case", gap: " ")) "
            + "(\(Figure.count(concluded.trials, "trial", gap: " ")))"
        let others = [ShownVerdict.unanswered, .unprotected, .skipped].compactMap { shown -> String? in
            let count = results.count { Standing.judged($0.verdict).shown == shown }
            return count == 0 ? nil : "\(count) \(shown.rawValue)"
        }
        var text = WrappedText()
        text.add("\(engine):")
        let comma = others.isEmpty ? "" : ","
        text.add(
            words + (concluded.cases == 0 ? comma : ""),
            counts.violations > 0 ? .bad : concluded.cases > 0 ? .good : .doubt)
        if concluded.cases > 0 { text.add(scope + comma) }
        text.add(others.joined(separator: ", "), .doubt)
        return text.lines(
            width: width, lead: isFirst ? "VERDICT  " : "         ", leadStyle: .strong, hang: 11, colour: colour)
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

    /// Violations, the known ones included, and cases in which the harness failed or is suspected: a sentence, its
    /// causes, and for each a command that repeats one. Then a line for each kind of damage that no engine promised to
    /// prevent.
    private var causes: [String] {
        var lines: [String] = []
        var left = Self.rowLimit
        var leftOut = 0
        for finding in [Verdict.violation, .known].flatMap(digest.findings) {
            lines += failure(finding, most: left)
            leftOut += max(0, finding.groups.count - left)
            left = max(0, left - finding.groups.count)
        }
        for verdict in [Verdict.suspectedHarness, .harnessError] {
            let groups = digest.causeGroups(verdict)
            lines += groups.prefix(left).flatMap { line($0, verdict) + commands($0) }
            leftOut += max(0, groups.count - left)
            left = max(0, left - groups.count)
        }
        if leftOut > 0 { lines.append("  \(Figure.count(leftOut, "more cause", gap: " ")) in the report") }
        lines += reasons
        let unpromised = digest.findings(.unpromised)
        lines += unpromised.prefix(Self.unpromisedLimit).flatMap { line($0, .unpromised) }
        if unpromised.count > Self.unpromisedLimit {
            lines.append("  \(unpromised.count - Self.unpromisedLimit) more unprotected, in the report")
        }
        return lines
    }

    /// A sentence, and below it at most `most` causes, each with its commands.
    private func failure(_ finding: Finding, most: Int) -> [String] {
        if most == 0 { return [] }
        return line(finding, finding.isKnown ? .known : .violation)
            + finding.groups.prefix(most).flatMap { group -> [String] in
                let count = finding.groups.count == 1 ? "" : Figure.count(group.count, "trial", gap: " ")
                let detail = TextTable.shortened(group.detail.firstLine, to: Self.detailLimit)
                let what = [count, detail].filter { !$0.isEmpty }.joined(separator: ": ")
                return (what.isEmpty ? [] : wrapped(what, lead: "    ", hang: 6)) + commands(group)
            }
    }

    private func line(_ finding: Finding, _ verdict: Verdict) -> [String] {
        wrapped(sentence(finding), lead: "  \(Standing.judged(verdict).symbol) ", hang: 6)
    }

    /// `SQLite: acknowledged data was gone, and the engine reported nothing, on a full disk (disk-full, 4 of 24)`.
    func sentence(_ finding: Finding) -> String {
        let cases = RunDigest.unique(finding.groups.flatMap { $0.cases.map(\.test) })
        let name = cases.count == 1 ? digest.name(Subject(cases[0])) : finding.scenario
        // The clause of some scenarios ends with their name.
        let parts = [finding.sentence.hasSuffix(" \(name)") ? "" : name, finding.countWords].filter { !$0.isEmpty }
        let place = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
        return (finding.sentence + place).replacing(Figure.gap, with: " ")
    }

    private func commands(_ group: CauseGroup) -> [String] {
        var commands = WrappedText.command(digest.replayCommand(group), width: width, indent: 4)
        if let file = group.caseFileCommand { commands += WrappedText.command(file, width: width, indent: 4) }
        return commands.map { styled($0, .faint) }
    }

    /// The most characters of a detail, which may be all that a process printed.
    private static let detailLimit = 300
    private static let unpromisedLimit = 6

    /// Why cases are inconclusive, which explains an exit status of 3 in a log: a line per reason.
    private var reasons: [String] {
        let reasons = digest.unanswered.filter { $0.cases.contains { $0.verdict == .inconclusive } }
        let symbol = Standing.judged(.inconclusive).symbol
        var lines = reasons.prefix(Self.reasonLimit).flatMap { reason in
            wrapped(words(reason), lead: "  \(symbol) ", hang: 6)
        }
        if reasons.count > Self.reasonLimit {
            lines.append("  \(Figure.count(reasons.count - Self.reasonLimit, "more reason", gap: " ")) in the report")
        }
        return lines
    }

    /// `67 cases: the budget of 10 min was used up (sqlite commit; strata scan; strata walk; ..)`.
    func words(_ reason: Unanswered) -> String {
        let message = reason.cases.first?.message.firstLine ?? ""
        // A reason that several cases share has no numbers.
        let isVaried = message != reason.reason && FailureCause.text(of: message) == reason.reason
        let first = isVaried && reason.cases.count > 1 ? ", the first" : ""
        var names = reason.cases.prefix(Self.nameLimit).map { "\($0.test.engine) \(digest.name(Subject($0.test)))" }
        if reason.cases.count > Self.nameLimit { names.append("..") }
        let words = "\(Figure.count(reason.cases.count, "case"))\(first): \(isVaried ? message : reason.reason)"
        return "\(words) (\(names.joined(separator: "; ")))".replacing(Figure.gap, with: " ")
    }

    private static let reasonLimit = 12
    /// The most cases that a reason names.
    private static let nameLimit = 3

    /// The cases of one cause in which the harness failed or is suspected.
    private func line(_ group: CauseGroup, _ verdict: Verdict) -> [String] {
        let name = group.cases.count == 1 ? digest.name(Subject(group.cases[0].test)) : group.scenario
        let detail = TextTable.shortened(group.detail.firstLine, to: Self.detailLimit)
        let what = [group.countWords(gap: " "), detail].filter { !$0.isEmpty }.joined(separator: ": ")
        return wrapped("\(group.engine) \(name) \(what)", lead: "  \(Standing.judged(verdict).symbol) ", hang: 6)
    }
}

extension Reporting {
    /// A summary for a terminal of `width` columns: the verdict first, then each question that the run has figures for.
    /// `colour` adds ANSI sequences; without it the text is plain.
    package static func terminal(_ run: Run, width: Int, colour: Bool) -> String {
        TerminalReport(digest: RunDigest(run), width: width, colour: colour).text
    }
}
