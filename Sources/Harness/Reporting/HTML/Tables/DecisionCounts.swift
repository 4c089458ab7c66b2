import Statistics

/// How many figures are ahead, behind, the same and open, each count in the colour of its decision.
struct DecisionCounts {
    let headline: HeadlineFigures

    func write(_ markup: inout Markup) {
        for decision in Decision.allCases {
            let count = headline.count(decision)
            markup.element("span", ["class": count == 0 ? "faint" : "t-\(decision.rawValue)"]) {
                $0.element("b", Figure.grouped(count))
                $0.add(" \(decision.rawValue)")
            }
            markup.add(decision == Decision.allCases.last ? " " : ", ")
        }
        markup.add(
            "of \(Figure.count(headline.lines.count, "figure"))\(headline.doubtfulWords())\(headline.withheldWords())")
    }
}
