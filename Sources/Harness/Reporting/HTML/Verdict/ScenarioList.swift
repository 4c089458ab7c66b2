import RunRecords

/// The scenarios of the run by name, each with the question that it answers. Names in maps and tables lead here.
struct ScenarioList: ReportPart {
    let page: ReportPage

    func write(_ section: inout Markup) {
        let asked = RunDigest.unique(digest.results.map(\.test.scenario)).compactMap { name in
            digest.question(ofScenario: name).map { (name, $0) }
        }
        if asked.isEmpty { return }
        fold("What each scenario asks", Figure.count(asked.count, "scenario"), section: &section) { details in
            details.element("dl", ["class": "legend"]) { list in
                for (name, question) in asked {
                    list.element("dt", ["id": Self.anchor(name)], name)
                    list.element("dd", question)
                }
            }
        }
    }

    /// The place of a scenario in the list.
    static func anchor(_ scenario: String) -> String { "s-\(scenario)" }
}

extension ReportPart {
    /// The name of a scenario, which leads to its question and has it as its tooltip; plain text without a question.
    func scenarioName(_ name: String, _ markup: inout Markup) {
        guard let question = digest.question(ofScenario: name) else { return markup.add(name) }
        markup.element("a", ["href": "#\(ScenarioList.anchor(name))", "title": question], name)
    }
}
