import RunRecords

/// Sums up trends: how many figures became worse the last time that they changed.
struct ArchiveAnswer {
    /// The state of a trend after its last change.
    enum State: CaseIterable {
        case better, same, changed, worse
        /// The trend has no reference engine, so that the archive claims no change.
        case unclaimed

        var words: String {
            switch self {
            case .better: "better than before"
            case .same: "without a change"
            case .changed: "other than before"
            case .worse: "worse than before"
            case .unclaimed: "without an engine beside it"
            }
        }

        /// The class of its part of the bar.
        fileprivate var style: String {
            switch self {
            case .better: "d-ahead"
            case .same: "b-skipped"
            case .changed: "d-same"
            case .worse: "d-behind"
            case .unclaimed: "d-open"
            }
        }
    }

    let trends: [Trend]

    /// The most changes in the list below the sentence.
    private static let most = 3

    static func state(_ trend: Trend) -> State {
        guard let last = trend.changes.last else { return trend.basis == .nothing ? .unclaimed : .same }
        switch trend.direction(of: last) {
        case "better": return .better
        case "worse": return .worse
        default: return .changed
        }
    }

    func count(_ state: State) -> Int { trends.count { Self.state($0) == state } }

    var tone: PageAnswer.Tone {
        if count(.worse) > 0 { return .bad }
        return count(.unclaimed) == trends.count ? .doubt : .good
    }

    /// `3 of 40 figures became worse at their last change, most of all: commits/s of strata in commit, 25 % worse`.
    var sentence: String {
        if trends.isEmpty { return "No run of the archive has a figure" }
        let all = Figure.count(trends.count, "figure")
        if let worst = worst.first {
            let count = count(.worse)
            let words = TrendWords(trend: worst.trend)
            return "\(Figure.grouped(count)) of \(all) became worse at \(count == 1 ? "its" : "their") last change"
                + "\(count == 1 ? "" : ", most of all"): \(words.pageTitle), \(words.step(worst.change))"
        }
        if count(.unclaimed) == trends.count {
            return "No claim about \(all): no other engine stands beside \(trends.count == 1 ? "it" : "them")"
        }
        return "No figure of \(Figure.grouped(trends.count)) became worse at its last change"
    }

    /// `5 better than before, 30 without a change`.
    var rest: String {
        State.allCases.filter { $0 != .worse && count($0) > 0 }.map { "\(Figure.grouped(count($0))) \($0.words)" }
            .joined(separator: ", ")
    }

    /// Trends that became worse at their last change, the largest step first.
    var worst: [(trend: Trend, change: Trend.Change)] {
        trends.compactMap { trend -> (trend: Trend, change: Trend.Change)? in
            guard Self.state(trend) == .worse, let last = trend.changes.last else { return nil }
            return (trend, last)
        }.sorted { Self.size($0.1) > Self.size($1.1) }
    }

    static func size(_ change: Trend.Change) -> Double { max(change.factor, 1 / change.factor) }

    /// The first section of a page: the sentence, a bar of all figures, and the largest steps, each with the command
    /// that finds the commit.
    var section: SiteSection {
        SiteSection(anchor: "verdict", title: "Did anything become worse?", words: "Answer", content: write)
    }

    private func write(_ section: inout Markup) {
        Headline(tone: tone, sentence: sentence, more: [rest]).write(&section)
        ShareBar(
            parts: State.allCases.map { ShareBar.Part(style: $0.style, words: $0.words, count: count($0)) }
        ).write(&section)
        if worst.isEmpty { return }
        section.element("ul", ["class": "answers"]) { list in
            for (trend, change) in worst.prefix(Self.most) { line(trend, change, &list) }
        }
    }

    private func line(_ trend: Trend, _ change: Trend.Change, _ list: inout Markup) {
        let words = TrendWords(trend: trend)
        list.element("li") { item in
            item.element("a", ["href": ArchiveSite.name(ofWorkload: trend.test.scenario)], words.pageTitle)
            item.add(": \(words.sentence(change))")
            if let command = words.command(change) {
                item.add(". To find the commit: ")
                item.element("code", command)
            }
        }
    }
}
