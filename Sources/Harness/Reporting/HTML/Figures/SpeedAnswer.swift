import RunRecords
import Statistics

/// The engines of the run beside the best peer: for each a bar of decisions, and the best and the worst figure in
/// words; then the figures at both ends of the first one as a forest plot. Bytes and other costs are kept apart, since
/// they answer another question.
struct SpeedAnswer: ReportPart {
    let page: ReportPage

    /// The most lines of the plot from each end.
    private static let most = 6

    func write(_ column: inout Markup) {
        let stands = PageAnswer(digest: digest).stands
        layers(stands.map(\.figures.engine), &column)
        // All bars come before the plot, so that none is below the first screen.
        column.element("div", ["class": "stands"]) { grid in
            for (headline, what) in stands { decisions(headline, what, &grid) }
        }
        for headline in digest.headlines.map(\.times) where headline.lines.isEmpty { undecided(headline, &column) }
        if let (lead, what) = stands.first { forest(lead, what, &column) }
    }

    /// Tells the two engines of Strata apart, where a run has both.
    private func layers(_ engines: [String], _ column: inout Markup) {
        guard engines.contains(where: { $0 == "strata" }), engines.contains(where: { $0 == "strata-storage" }) else {
            return
        }
        note(
            "Strata: objects, as an app uses them. Strata storage: the storage engine below them, with keys and rows.",
            &column)
    }

    /// For an engine without a figure of speed that the rounds decide: why it has none.
    private func undecided(_ headline: HeadlineFigures, _ column: inout Markup) {
        let words = [headline.onceWords(), headline.doubtfulWords(), headline.withheldWords()].joined()
        if words.isEmpty { return }
        note("\(EngineName.words(headline.engine)), speed: no figure is decided\(words).", &column)
    }

    private func forest(_ headline: HeadlineFigures, _ what: String, _ column: inout Markup) {
        let ends = headline.ends(Self.most)
        column.element("figure", ["class": "forest"]) { figure in
            figure.element("figcaption") { caption in
                let isWhole = ends.count == headline.lines.count
                caption.element(
                    "b",
                    "\(EngineName.words(headline.engine)) beside the best peer, \(what): "
                        + (isWhole ? "every decided figure" : "the \(Self.most) best and the \(Self.most) worst"))
                caption.element("span") { more in
                    more.add("The line at 1 is the peer; right of it is better. ")
                    more.add("Whiskers are intervals; differences within the grey decide nothing. ")
                    more.element("a", ["href": "#ratios"], "All \(Figure.count(headline.lines.count, "figure"))")
                }
            }
            RatioPlots(page: page).plot(headline, ends).draw(&figure)
        }
    }

    private func decisions(_ headline: HeadlineFigures, _ what: String, _ column: inout Markup) {
        column.element("div", ["class": "stand"]) { stand in
            stand.element("p") { text in
                text.element("strong", "\(EngineName.words(headline.engine)), \(what): ")
                let more = headline.unclaimedCount
                text.add(headline.sentence() + (more == 0 ? "." : "; \(Figure.grouped(more)) more without a claim."))
            }
            ShareBar(
                parts: Decision.allCases.map {
                    ShareBar.Part(style: "d-\($0.rawValue)", words: $0.rawValue, count: headline.count($0))
                } + [ShareBar.Part(style: "b-skipped", words: "without a claim", count: headline.unclaimedCount)]
            ).write(&stand)
            guard let best = headline.lines.first, let worst = headline.lines.last else { return }
            stand.element("p", ["class": "ends"]) { text in
                end(best.ratio.value < 1 ? "Nearest" : "Best", best, of: headline.engine, &text)
                if headline.lines.count > 1 { end("Worst", worst, of: headline.engine, &text) }
                for words in [headline.onceWords(), headline.doubtfulWords(), headline.withheldWords()]
                where !words.isEmpty {
                    let sentence = words.dropFirst(2)
                    text.element("span", sentence.prefix(1).uppercased() + sentence.dropFirst() + ". ")
                }
            }
        }
    }

    private func end(_ word: String, _ line: HeadlineFigures.Line, of engine: String, _ text: inout Markup) {
        text.element("span") { part in
            part.element("b", word)
            part.add(" ")
            let id = line.figures.values[engine]?.result.test.id
            part.element("a", ["href": id.flatMap { place(of: $0) }], line.name)
            part.add(": \(line.ratio.sentence(line.figures.measure)). ")
        }
    }
}

/// How the engines grow that the run is about: for each a sentence, a bar, and its steepest figure; then the first
/// charts.
struct GrowthAnswer: ReportPart {
    let page: ReportPage

    /// The number of charts in the answer.
    static let most = 4

    func write(_ column: inout Markup) {
        column.element("div", ["class": "stands"]) { grid in
            for engine in digest.sides.own { stand(engine, &grid) }
        }
        column.element("p", ["class": "key"]) { key in
            for (style, words) in Self.parts {
                key.element("span") { entry in
                    entry.open("i", ["class": style])
                    entry.close("i")
                    entry.add(words)
                }
                key.add(" ")
            }
            key.element("span", "n: rows or elements; its power is that of the cost, in brackets the interval of 95 %")
        }
        peers(&column)
        column.element("div", ["class": "charts"]) { grid in
            ScaleSection(page: page).charts(most: Self.most, &grid)
        }
    }

    /// The parts of a bar: the styles and the words. A cost that grows with the size may be what the work needs, so
    /// that no colour judges it.
    private static let parts = [
        ("d-grows", "cost grows"), ("d-flat", "no growth shown"), ("d-falls", "cost falls"),
    ]

    /// `Beside them: SQLite grows in 28 of 48 figures, LMDB in 17 of 34.`
    private func peers(_ column: inout Markup) {
        let counts = digest.sides.peers.compactMap { engine -> String? in
            let laws = digest.scaleFigures.compactMap { figure in figure.lines.first { $0.engine == engine }?.law }
            if laws.isEmpty { return nil }
            let rising = Figure.grouped(PowerLaw.Counts(laws).rising)
            return "\(EngineName.words(engine)) in \(rising) of \(Figure.grouped(laws.count))"
        }
        if counts.isEmpty { return }
        note("Beside them a figure grows with \(counts.joined(separator: ", ")).", &column)
    }

    private func stand(_ engine: String, _ grid: inout Markup) {
        let laws = digest.scaleFigures.compactMap { figure in
            figure.lines.first { $0.engine == engine }?.law.map { (figure, $0) }
        }
        if laws.isEmpty { return }
        let counts = PowerLaw.Counts(laws.map(\.1))
        grid.element("div", ["class": "stand"]) { stand in
            stand.element("p") { text in
                text.element("strong", EngineName.words(engine))
                text.add(": \(counts.sentence).")
            }
            ShareBar(
                parts: zip(Self.parts, [counts.rising, counts.flat, counts.falling]).map { part, count in
                    ShareBar.Part(style: part.0, words: part.1, count: count)
                }
            ).write(&stand)
            let rising = laws.filter { $0.1.rises }
            guard let (figure, law) = rising.max(by: { $0.1.exponent < $1.1.exponent }) else { return }
            stand.element("p", ["class": "ends"]) { text in
                text.element("b", "Steepest")
                text.add(" ")
                let id = figure.lines.first { $0.engine == engine }?.points.last?.result.test.id
                text.element(
                    "a", ["href": id.flatMap { place(of: $0) }],
                    "\(ScaleSection(page: page).name(figure)), \(figure.measure.words)")
                text.add(": ")
                PowerLaw.write(law.words, &text)
                text.add(".")
            }
        }
    }
}
