import RunRecords
import Statistics

/// Each question with its answer in a line or two. The sections below have the rest.
struct GlanceSection: ReportPart {
    let page: ReportPage

    /// The engine that the run is about: Strata if it takes part, else the first.
    private var subject: String? {
        let present = Set(digest.results.map(\.test.engine))
        return present.contains("strata") ? "strata" : digest.engines.first(where: present.contains)
    }

    func write(_ section: inout Markup) {
        guard let subject else { return }
        section.element("dl", ["class": "glance"]) { list in
            for question in Question.allCases {
                let answer = Markup.build { markup in
                    violationsOf(question, &markup)
                    switch question {
                    case .safe: safetyGlance(&markup)
                    case .fast: speedGlance(subject, &markup)
                    case .large: sizeGlance(subject, &markup)
                    case .deleted, .migrations: keptGlance(question, &markup)
                    }
                }
                if answer.isEmpty { continue }
                list.element("dt") { $0.element("a", ["href": "#\(question.rawValue)"], question.text) }
                list.element("dd") { $0.raw(answer) }
            }
        }
    }

    /// The broken promises, which figures of speed and size do not show.
    private func violationsOf(_ question: Question, _ markup: inout Markup) {
        let broken = digest.results(for: question).filter(\.verdict.isViolation)
        if broken.isEmpty { return }
        let counts = VerdictCounts(broken)
        markup.element("div") { line in
            line.element("span", ["class": "bad"], Figure.count(counts.violations, "violation"))
            line.add(" \(counts.concernWords()): ")
            let names = RunDigest.unique(broken.map { "\($0.test.engine) \($0.test.scenario)" })
            line.add(names.prefix(4).joined(separator: ", ") + (names.count > 4 ? ", .." : ""))
        }
    }

    private func safetyGlance(_ markup: inout Markup) {
        let rows = digest.outcomeRows(.safe)
        for engine in digest.engines where engine != RunDigest.reference {
            let own = rows.filter { $0.engine == engine }
            if own.contains(where: { $0.trialCount > 0 }) {
                let elsewhere = digest.violationsElsewhere(engine, than: Question.safe.families)
                markup.element("div") { OutcomeAnswer(engine: engine, rows: own, elsewhere: elsewhere).write(&$0) }
            }
        }
    }

    private func keptGlance(_ question: Question, _ markup: inout Markup) {
        let rows = digest.outcomeRows(question)
        for engine in digest.engines where engine != RunDigest.reference {
            let own = rows.filter { $0.engine == engine && $0.trialCount > 0 }
            if own.isEmpty { continue }
            let kept = own.filter { $0.standing == .judged(.pass) }.count
            markup.element("div") { line in
                line.element("strong", engine)
                line.add(": \(Figure.grouped(kept)) of \(Figure.count(own.count, "case")) as promised, ")
                line.add(Figure.count(own.reduce(0) { $0 + $1.trialCount }, "trial"))
            }
        }
    }

    /// The best and the worst figure of speed that was measured in rounds; bytes answer another question. Without such
    /// a figure, the first one of up to four scenarios in the strictest durability class, without a claim.
    private func speedGlance(_ subject: String, _ markup: inout Markup) {
        if !header.measures { return }
        let headlines = digest.headlines.map(\.times).filter { !$0.lines.isEmpty }
        for headline in headlines {
            markup.element("div") { line in
                line.element("strong", headline.engine)
                line.add(" beside the best peer: ")
                DecisionCounts(headline: headline).write(&line)
                if let best = headline.lines.first, let worst = headline.lines.last {
                    line.add(
                        "; best \(best.ratio.sentence(best.figures.measure)) (\(best.name)), worst "
                            + "\(worst.ratio.sentence(worst.figures.measure)) (\(worst.name))")
                }
            }
        }
        if headlines.isEmpty { measuredOnce(subject, &markup) }
    }

    private func measuredOnce(_ subject: String, _ markup: inout Markup) {
        guard let durability = digest.durabilities.first else { return }
        let rows = digest.chartRows(durability).filter { $0.values[subject] != nil }
        let first = RunDigest.unique(rows.map(\.subject.scenario)).compactMap { scenario in
            rows.first { $0.subject.scenario == scenario }
        }
        if first.isEmpty { return }
        markup.element("div") { line in
            line.element("strong", subject)
            line.add(" ")
            for (index, row) in first.prefix(4).enumerated() {
                guard let sample = row.values[subject]?.sample else { continue }
                line.add(index == 0 ? "" : "; ")
                line.add("\(digest.name(row.subject)): \(row.measure.textAlone(sample.value))")
                if let ratio = digest.ratio(row, of: subject) {
                    line.add(" (\(ratio.sentence(row.measure)))")
                }
            }
            let why = run.rounds.isEmpty ? "measured once" : "undecided"
            line.element(
                "span", ["class": "faint"],
                " \(RunDigest.durabilityText(durability)); \(why), so that nothing is claimed")
        }
    }

    private func sizeGlance(_ subject: String, _ markup: inout Markup) {
        if !header.measures { return }
        let lines = digest.sizeLines.filter { $0.engine == subject && $0.subject.family == .growth }
        for line in lines.prefix(2) {
            let totals = line.series.points.map { Double($0.totalBytes) }
            guard let first = totals.first, let last = totals.last, let largest = totals.max() else { continue }
            markup.element("div") { text in
                text.element("strong", subject)
                text.add(
                    " \(digest.name(line.subject)): \(Figure.bytes(first)) at first, \(Figure.bytes(largest)) at most, "
                        + "\(Figure.bytes(last)) at last")
            }
        }
    }
}
