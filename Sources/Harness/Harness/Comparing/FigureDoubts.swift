import RunRecords

/// Finds the figures of a run for which `assay verify-figures` got a value without the harness that differs too much.
package struct FigureDoubts {
    private let verdicts: [FigureVerdict]
    private let scenarios: ScenarioRegistry

    /// - Parameter verdicts: those of this build on this machine.
    package init(_ verdicts: [FigureVerdict], _ scenarios: ScenarioRegistry) {
        self.verdicts = verdicts.filter(\.isOff)
        self.scenarios = scenarios
    }

    /// The doubtful figures of each case that has the parameters of the control's case; their numbers may differ.
    package func figures(of cases: [PlannedCase]) -> [DoubtfulFigure] {
        cases.flatMap { planned in
            verdicts.filter { isAbout(planned.test, $0) }.map {
                DoubtfulFigure(test: planned.test.id, label: $0.label, ratio: $0.ratio)
            }
        }
    }

    private func isAbout(_ test: Case, _ verdict: FigureVerdict) -> Bool {
        guard test.scenario == verdict.workload, test.engine == verdict.engine,
            let scenario = scenarios.scenario(named: test.scenario)
        else { return false }
        let sizes = scenario.parameters.filter { $0.role != nil }.map(\.name)
        return verdict.parameters.allSatisfy { sizes.contains($0.name) || test.parameter($0.name) == $0.value }
    }

    /// A warning for the head of the run; nil if no figure is doubtful.
    package static func warning(_ figures: [DoubtfulFigure], of cases: [PlannedCase]) -> String? {
        if figures.isEmpty { return nil }
        var names: [String] = []
        for figure in figures {
            guard let test = cases.first(where: { $0.test.id == figure.test })?.test else { continue }
            let name = "\(test.scenario) of \(test.engine)" + (figure.label.isEmpty ? "" : " \(figure.label)")
            if !names.contains(name) { names.append(name) }
        }
        let shown = names.prefix(4).joined(separator: ", ") + (names.count > 4 ? " and \(names.count - 4) more" : "")
        return "doubtful figures: \(shown), off by more than a tenth from what `assay verify-figures` found without "
            + "the harness; their rows are marked, and nothing is claimed of them"
    }
}
