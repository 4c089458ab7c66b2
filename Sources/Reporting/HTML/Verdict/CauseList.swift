import RunRecords

/// What went wrong under one verdict, by cause: how often, one example with its command, and the cases.
struct CauseList: ReportPart {
    let page: ReportPage
    let verdict: Verdict
    let title: String

    func write(_ section: inout Markup) {
        let groups = digest.causeGroups(verdict)
        if groups.isEmpty { return }
        let most = max(4, detail.rows / 10)
        if verdict == .unpromised {
            // It blames nobody: who wants to see it opens it.
            section.element("details", ["class": "numbers"]) { details in
                details.element("summary", "\(title) (\(Figure.count(groups.count, "cause")))")
                list(groups, most, &details)
            }
            return
        }
        section.element("h3", title)
        list(groups, most, &section)
    }

    private func list(_ groups: [CauseGroup], _ most: Int, _ section: inout Markup) {
        section.element("ul", ["class": "causes"]) { list in
            for group in groups.prefix(most) {
                list.element("li") { item in
                    badge(.judged(verdict), "\(group.engine), \(group.scenario)", &item)
                    item.add(" ")
                    item.element("span", ["class": "outcome"], group.countWords())
                    if !group.text.isEmpty { item.add(" \(group.text)") }
                    places(group, &item)
                    if !group.detail.isEmpty, group.detail != group.text {
                        item.element("div", ["class": "example"]) { example in
                            if let trial = group.example { example.element("code", trial.text + " ") }
                            example.add(group.detail)
                        }
                    }
                    command(digest.replayCommand(group), &item)
                    if let file = group.caseFileCommand { command(file, &item) }
                }
            }
        }
        if groups.count > most {
            note("\(Figure.grouped(groups.count - most)) more causes stand in results.jsonl.", &section)
        }
    }

    private func places(_ group: CauseGroup, _ item: inout Markup) {
        item.element("span", ["class": "places"]) { places in
            for result in group.cases.prefix(8) {
                let variant = digest.variant(Subject(result.test))
                places.element("a", ["href": place(of: result.test.id)], variant.isEmpty ? result.test.id : variant)
                places.add(" ")
            }
            if group.cases.count > 8 { places.add("and \(group.cases.count - 8) more") }
        }
    }
}
