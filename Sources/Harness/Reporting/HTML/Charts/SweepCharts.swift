import RunRecords

/// The outcomes of sweeps over files by the place of each trial, a drawing per file. Cases whose trials all had the
/// same outcome are left out.
struct SweepCharts: ReportPart {
    let page: ReportPage

    func write(_ section: inout Markup) {
        let sweeps = digest.results.filter { result in
            guard let details = run.details[result.test.id], details.map != nil else { return false }
            return details.trialCodes.count >= 32 && Set(details.trialCodes).count > 1
        }
        if sweeps.isEmpty || detail.charts == 0 { return }
        fold("Where in the file", Figure.count(sweeps.count, "sweep"), section: &section) { draw(sweeps, &$0) }
    }

    private func draw(_ sweeps: [CaseResult], _ section: inout Markup) {
        note(
            "A column stands for a page, for several or for a part of one; its tooltip says which, what was found "
                + "there, and how to repeat the gravest trial in it. Offsets count within the file.", &section)
        outcomeKey(classPrefix: "o", note: "(empty: not tried)", &section)
        section.element("div", ["class": "charts"]) { grid in
            for result in sweeps.prefix(max(4, detail.charts / 4)) { draw(result, &grid) }
        }
    }

    private func draw(_ result: CaseResult, _ grid: inout Markup) {
        guard let details = run.details[result.test.id], let map = details.map else { return }
        let subject = Subject(result.test)
        let title = "\(result.test.engine), \(digest.name(subject))"
        var hits: [Int: [OutcomeStrip.Hit]] = [:]
        for (index, code) in details.trialCodes.enumerated() {
            // The budget left this trial out: nothing was found there, and there is nothing to repeat.
            guard code != .max, let place = map.place(ofTrial: index) else { continue }
            hits[place.file, default: []].append(
                OutcomeStrip.Hit(
                    offset: place.offset, outcome: Outcome(code: code), address: map.address(ofTrial: index)))
        }
        for (index, file) in map.files.enumerated() {
            guard let own = hits[index] else { continue }
            grid.element("figure") { figure in
                let words = "\(file.name) \u{B7} \(RunDigest.durabilityText(subject.durability))"
                caption(title, words, id: result.test.id, scenario: result.test.scenario, figure: &figure)
                OutcomeStrip(
                    title: "\(title): \(file.name)", file: file, hits: own,
                    command: { digest.replayCommand(result.test.id, trial: $0.text) }
                ).draw(&figure)
            }
        }
    }
}
