import RunRecords
import Statistics

/// Figures over size: for each scenario that ran on several sizes a chart, a table, and the growth of each engine.
struct ScaleSection: ReportPart {
    let page: ReportPage

    static let anchor = "scale"

    func write(_ main: inout Markup) {
        let figures = digest.scaleFigures
        if figures.isEmpty { return }
        section(Self.anchor, "How does it grow with the size?", main: &main) { section in
            sentences(figures, &section)
            // If the run is about growth, the first charts are in the answer above.
            let isAnswer = if case .growth = PageAnswer(digest: digest).subject { true } else { false }
            let all = isAnswer ? steepestFirst(Self.charted(figures)) : Self.charted(figures)
            let charted = all.prefix(detail.charts).dropFirst(isAnswer ? GrowthAnswer.most : 0)
            let drawings = charted.map { figure in
                { (grid: inout Markup) in chart(figure, &grid) }
            }
            gallery(Array(drawings), shown: 4, &section)
            fold("How to read it", nil, section: &section) { details in
                note(
                    "Both axes are logarithmic: what grows with the size rises like the dotted line. Growth "
                        + "is how many times as dear the figure is at the largest size as at the smallest, with "
                        + "the interval over the rounds; a figure or a growth without an interval was measured too "
                        + "seldom to claim anything. The exponent is that of the cost as a power of the size n, "
                        + "for what the figure counts: an operation, or a row of a rate over rows. Where the "
                        + "stretches between neighbouring sizes differ beyond doubt it is no power, and each "
                        + "stretch has its own.",
                    &details)
            }
            fold("Every size and engine", Figure.count(figures.count, "table"), section: &section) { details in
                for (index, figure) in figures.enumerated() { table(figure, index, &details) }
            }
        }
    }

    /// A sentence per engine: the number of figures that grow, and of those without a growth.
    private func sentences(_ figures: [ScaleFigure], _ section: inout Markup) {
        section.element("ul", ["class": "answers"]) { list in
            for engine in digest.engines {
                let laws = figures.compactMap { figure in figure.lines.first { $0.engine == engine }?.law }
                if laws.isEmpty { continue }
                list.element("li") { item in
                    item.element("strong", EngineName.words(engine))
                    item.add(": \(PowerLaw.Counts(laws).sentence)")
                }
            }
        }
    }

    /// The first drawings of the section, which the answer shows, however large the page is.
    func charts(most: Int, _ grid: inout Markup) {
        for figure in steepestFirst(Self.charted(digest.scaleFigures)).prefix(most) { chart(figure, &grid) }
    }

    /// By the largest exponent of an engine that the run is about, so that the answer shows its worst growth. Figures
    /// without an exponent come last.
    private func steepestFirst(_ figures: [ScaleFigure]) -> [ScaleFigure] {
        let own = Set(digest.sides.own)
        let keyed = figures.enumerated().map { place, figure in
            let exponents = figure.lines.filter { own.contains($0.engine) }.compactMap(\.law?.exponent)
            return (figure, exponents.max() ?? -.infinity, place)
        }
        return keyed.sorted { $0.1 == $1.1 ? $0.2 < $1.2 : $0.1 > $1.1 }.map(\.0)
    }

    /// A chart per workload: of the time of an operation, or else of the rate, or else of its first figure.
    private static func charted(_ figures: [ScaleFigure]) -> [ScaleFigure] {
        RunDigest.unique(figures.map(\.subject)).compactMap { subject in
            let own = figures.filter { $0.subject == subject }
            return own.first(where: \.measure.isOperationTime) ?? own.first(where: \.measure.isRate) ?? own.first
        }
    }

    /// `list-operations, place end`.
    func name(_ figure: ScaleFigure) -> String {
        let variant = figure.subject.withoutExtent.parameters.filter {
            !$0.value.isEmpty && digest.isTelling($0, figure.subject)
        }
        return ([figure.subject.scenario] + variant.map { "\($0.name) \($0.value)" }).joined(separator: ", ")
    }

    private func chart(_ figure: ScaleFigure, _ grid: inout Markup) {
        grid.element("figure") { box in
            let isRate = figure.measure.metric.direction == .higherIsBetter
            let rest = [
                figure.measure.words, isRate ? "higher is better" : "lower is better", figure.subject.dataset,
                figure.subject.durability == .full ? "" : RunDigest.durabilityText(figure.subject.durability),
            ].filter { !$0.isEmpty }
            let first = figure.lines.first?.points.first?.result.test.id
            caption(
                name(figure), rest.joined(separator: " \u{B7} "), id: first, scenario: figure.subject.scenario,
                figure: &box)
            ScaleChart(
                title: "\(name(figure)): \(figure.measure.words) over size", figure: figure,
                asideWords: asideWords(figure), palette: digest.palette
            ).draw(&box)
            let laws = figure.lines.compactMap { line -> String? in
                let isDoubtful = line.points.contains { digest.isDoubtful($0.result, figure.measure) }
                return line.law.map { "\(line.engine)\(isDoubtful ? "\u{2021}" : "") \($0.words)" }
            }
            if !laws.isEmpty {
                let subject = isRate ? "Cost of one: " : ""
                box.element("p", ["class": "note"]) {
                    PowerLaw.write(subject + laws.joined(separator: "; "), &$0)
                    if laws.contains(where: { $0.contains("\u{2021}") }) { $0.add("; \u{2021} doubtful") }
                }
            }
        }
    }

    /// The size of the largest file of the data set that is drawn beside the lines; without it, the name of the data
    /// set.
    private func asideWords(_ figure: ScaleFigure) -> String {
        guard let subject = figure.asideSubject else { return "" }
        let bytes = figure.lines.compactMap {
            digest.fileBytes($0.engine, dataset: subject.dataset, size: subject.size)
        }.max()
        return bytes.map { Figure.bytes($0) } ?? subject.dataset
    }

    private func table(_ figure: ScaleFigure, _ index: Int, _ section: inout Markup) {
        let sizes = figure.sizes
        section.table("grid sort", id: "t-scale-\(index)", caption: "\(name(figure)): \(figure.measure.words)") { row in
            sortable("engine", isNumber: false, &row)
            for size in sizes { sortable(figure.sizeWords(size), isNumber: true, &row) }
            if let aside = figure.asideSubject {
                sortable(RunDigest.datasetText(aside), isNumber: true, &row)
            }
            sortable("growth", isNumber: true, &row)
            sortable("exponent", isNumber: true, &row)
            sortable("n", isNumber: true, &row)
        } rows: { body in
            for line in figure.lines { write(line, figure, sizes: sizes, body: &body) }
        }
    }

    private func write(_ line: ScaleFigure.Line, _ figure: ScaleFigure, sizes: [Int], body: inout Markup) {
        body.element("tr") { row in
            row.element("th", ["scope": "row"], line.engine)
            for size in sizes { cell(line.points.first { $0.size == size }, figure, engine: line.engine, row: &row) }
            if figure.asideSubject != nil { cell(line.aside, figure, engine: line.engine, row: &row) }
            row.element("td", ["class": "n", "data-v": line.growth.map { Figure.exact($0.factor) } ?? ""]) { cell in
                guard let growth = line.growth else { return }
                cell.add(growth.words)
                if let interval = growth.interval { cell.element("small", ["class": "spread"], interval) }
            }
            lawCell(line.law, &row)
            row.element("td", ["class": "n zero"], line.growth.map { Figure.grouped($0.pairCount) } ?? "")
        }
        body.raw("\n")
    }

    private func lawCell(_ law: PowerLaw?, _ row: inout Markup) {
        guard let law else { return row.element("td", ["class": "n zero"], "\u{B7}") }
        row.element("td", ["class": "n", "data-v": Figure.exact(law.exponent), "title": law.words]) { cell in
            cell.add(law.form == .bent ? "bent" : PowerLaw.number(law.exponent))
            if law.form != .bent, let low = law.low, let high = law.high {
                cell.element("small", ["class": "spread"], "\(PowerLaw.number(low)) to \(PowerLaw.number(high))")
            }
            if let shape = law.shape { cell.element("small", shape == .constant ? "constant" : shape.rawValue) }
        }
    }

    private func cell(
        _ point: ScaleFigure.Point?, _ figure: ScaleFigure, engine: String, row: inout Markup
    ) {
        guard let point else { return row.element("td", ["class": "n zero"], "\u{B7}") }
        let measures = MeasureRow(
            subject: Subject(point.result.test), measure: figure.measure,
            values: [engine: (point.sample, point.result)])
        figureCell(measures, point.sample, result: point.result, ratio: nil, line: &row)
    }
}
