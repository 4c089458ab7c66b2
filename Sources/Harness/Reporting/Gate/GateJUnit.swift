import RunRecords

/// The result of a gate as JUnit XML. An exceeded budget is a failure. Undecided and skipped budgets are both
/// `skipped`, and their type tells which they are; the exit status of the gate tells whether any is undecided.
struct GateJUnit {
    let report: GateReport

    var text: String {
        var suites: [JUnitDocument.Suite] = []
        for finding in report.findings {
            let name = finding.test?.title ?? "budgets"
            if suites.last?.name != name { suites.append(JUnitDocument.Suite(name: name)) }
            suites[suites.count - 1].tests.append(Self.test(finding))
        }
        return JUnitDocument(
            name: "assay gate", timestamp: Figure.time(report.startTime), suites: suites, properties: properties
        ).text
    }

    private var properties: [(String, String)] {
        [("plan", report.plan), ("baseline", report.baseline), ("run", report.directory)]
            + report.remarks.map { ("remark", $0) }
    }

    private static func test(_ finding: GateFinding) -> JUnitDocument.Test {
        let name = "\(finding.figure?.description ?? finding.budget.key.description) \(finding.budget.text)"
        let group = finding.test.map { "\($0.scenario).\($0.engine)" } ?? "budgets"
        return JUnitDocument.Test(group: group, name: name, ending: ending(finding))
    }

    private static func ending(_ finding: GateFinding) -> JUnitDocument.Ending {
        let message = "\(finding.subject): \(finding.reason)"
        switch finding.decision {
        case .kept: return .passed(note: finding.reason)
        case .exceeded: return .failure(type: "exceeded", message: message)
        case .undecided: return .skipped(type: "undecided", message: message)
        case .skipped: return .skipped(type: "skipped", message: message)
        }
    }
}
