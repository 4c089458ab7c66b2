import RunRecords

/// The section of a question that outcomes alone answer: deleted objects, migrations.
struct OutcomeSection: ReportPart {
    let page: ReportPage
    let question: Question

    func write(_ main: inout Markup) {
        if digest.results(for: question).isEmpty { return }
        section(question.rawValue, question.text, main: &main) { section in
            QuestionOutcomes(page: page, question: question).write(&section)
        }
    }
}

/// The section on safety: the outcomes of every fault and check by engine, and their places in the files.
struct SafetySection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        if digest.results(for: .safe).isEmpty { return }
        section(Question.safe.rawValue, Question.safe.text, main: &main) { section in
            QuestionOutcomes(page: page, question: .safe).write(&section)
            SweepCharts(page: page).write(&section)
        }
    }
}

/// A sentence per engine, the tables that the cases fill, and a table of outcomes.
struct QuestionOutcomes: ReportPart {
    let page: ReportPage
    let question: Question

    func write(_ section: inout Markup) {
        let rows = digest.outcomeRows(question)
        section.element("ul", ["class": "answers"]) { list in
            for engine in digest.engines {
                let own = rows.filter { $0.engine == engine }
                if !own.isEmpty { list.element("li") { OutcomeAnswer(engine: engine, rows: own).write(&$0) } }
            }
        }
        GridTables(page: page, question: question).write(&section)
        let tabled = rows.filter { !$0.isInGrid }
        fold("Every case", Figure.count(tabled.count, "row"), section: &section) { details in
            OutcomeTables(page: page, rows: tabled).write(&details)
        }
    }
}
