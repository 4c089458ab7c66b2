import RunRecords

/// The failures of one verdict: a sentence per engine, scenario and outcome. Folded below it are its causes, each with
/// an example, its commands and its cases.
struct CauseList: ReportPart {
    let page: ReportPage
    let verdict: Verdict
    let title: String

    func write(_ section: inout Markup) {
        let findings = digest.findings(verdict)
        if findings.isEmpty { return }
        let causes = findings.reduce(0) { $0 + $1.groups.count }
        if verdict == .unpromised {
            // Folded, since no engine promised to prevent these outcomes.
            fold(title, Figure.count(causes, "cause"), section: &section) { list(findings, &$0) }
            return
        }
        section.element("h3", title)
        list(findings, &section)
    }

    private func list(_ findings: [Finding], _ section: inout Markup) {
        section.element("ul", ["class": "findings"]) { list in
            for finding in findings.prefix(max(8, detail.rows / 10)) {
                list.element("li") { item in
                    item.element("details") { details in
                        details.element("summary") { summary in
                            badge(.judged(verdict), nil, &summary)
                            summary.add(" " + sentence(finding))
                            let words = counts(finding)
                            if !words.isEmpty { summary.element("small", ["class": "spread"], words) }
                        }
                        causes(finding, &details)
                    }
                }
            }
        }
        if findings.count > max(8, detail.rows / 10) {
            note("\(Figure.grouped(findings.count - max(8, detail.rows / 10))) more are in results.jsonl.", &section)
        }
    }

    /// A sentence about a failure. The sentence of an error of the harness names the case, and not the engine.
    private func sentence(_ finding: Finding) -> String {
        if [.harnessError, .suspectedHarness].contains(verdict) {
            let count = finding.groups.reduce(0) { $0 + $1.cases.count }
            return "\(finding.engine), \(finding.scenario): \(Figure.count(count, "case"))"
        }
        return finding.sentence
    }

    /// `shape log, 4 of 107`: what the cases with this failure have in common, and their trials.
    private func counts(_ finding: Finding) -> String {
        let variants = RunDigest.unique(
            finding.groups.flatMap { $0.cases.map { digest.variant(Subject($0.test)) } })
        let common = variants.count == 1 ? variants[0] : ""
        return [common, finding.countWords].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private func causes(_ finding: Finding, _ details: inout Markup) {
        let most = max(4, detail.rows / 10)
        details.element("ul", ["class": "causes"]) { list in
            for group in finding.groups.prefix(most) {
                list.element("li") { cause(group, &$0) }
            }
        }
        if finding.groups.count > most {
            note("\(Figure.grouped(finding.groups.count - most)) more causes are in results.jsonl.", &details)
        }
    }

    private func cause(_ group: CauseGroup, _ item: inout Markup) {
        item.element("span", ["class": "outcome"], group.countWords())
        places(group, &item)
        // The first failure, with its numbers; the text without them only groups failures.
        item.element("div", ["class": "example"]) { example in
            if let trial = group.example { example.element("code", trial.text + " ") }
            example.add(group.detail.isEmpty ? group.text : group.detail)
        }
        if verdict == .known, let message = group.cases.first?.message.firstLine, !message.isEmpty,
            message != group.detail
        {
            // The message of a known violation has the reason that the list of them gives.
            item.element("div", ["class": "example"], "Known: \(message)")
        }
        command(digest.replayCommand(group), &item)
        if let file = group.caseFileCommand { command(file, &item) }
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
