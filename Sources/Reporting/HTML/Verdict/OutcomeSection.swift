import RunRecords

/// A question that outcomes alone answer: deleted objects, migrations.
struct OutcomeSection: ReportPart {
    let page: ReportPage
    let question: Question

    func write(_ main: inout Markup) {
        section(question.rawValue, question.text, &main) { section in
            QuestionOutcomes(page: page, question: question).write(&section)
        }
    }
}

/// Outcomes of every fault and every check by engine, and where in the files they were.
struct SafetySection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        section(Question.safe.rawValue, Question.safe.text, &main) { section in
            QuestionOutcomes(page: page, question: .safe).write(&section)
            SweepCharts(page: page).write(&section)
        }
    }
}

/// A sentence per engine, the grids that the cases fill, and a table of outcomes.
struct QuestionOutcomes: ReportPart {
    let page: ReportPage
    let question: Question

    func write(_ section: inout Markup) {
        let rows = digest.outcomeRows(question)
        if rows.isEmpty {
            note("This run has no case that answers the question.", &section)
            return
        }
        section.element("ul", ["class": "answers"]) { list in
            for engine in digest.engines {
                let own = rows.filter { $0.engine == engine }
                if !own.isEmpty { list.element("li") { OutcomeAnswer(engine: engine, rows: own).write(&$0) } }
            }
        }
        GridTables(page: page, question: question).write(&section)
        OutcomeTables(page: page, rows: rows.filter { !$0.isInGrid }).write(&section)
    }
}
