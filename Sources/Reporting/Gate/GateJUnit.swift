import RunRecords

/// A gate's answer as JUnit XML. A budget that is exceeded is a failure; what is undecided or skipped is skipped, with
/// the type that tells which: the exit status of the gate says that undecided is not fine.
struct GateJUnit {
    let report: GateReport

    private struct Suite {
        var name: String
        var findings: [GateFinding] = []
    }

    private var suites: [Suite] {
        var suites: [Suite] = []
        for finding in report.findings {
            let name = finding.test?.title ?? "budgets"
            if suites.last?.name != name { suites.append(Suite(name: name)) }
            suites[suites.count - 1].findings.append(finding)
        }
        return suites
    }

    var text: String {
        var markup = Markup()
        markup.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        let time = Figure.time(report.startTime)
        markup.element(
            "testsuites",
            [
                "name": "assay gate", "tests": "\(report.findings.count)", "failures": "\(report.count(.exceeded))",
                "errors": "0", "skipped": "\(report.count(.skipped) + report.count(.undecided))",
                "time": "0", "timestamp": time,
            ]
        ) { markup in
            markup.raw("\n")
            for suite in suites { Self.write(suite, time, properties, &markup) }
        }
        return markup.text + "\n"
    }

    private var properties: [(String, String)] {
        [("plan", report.plan), ("baseline", report.baseline), ("run", report.directory)]
            + report.remarks.map { ("remark", $0) }
    }

    private static func write(
        _ suite: Suite, _ time: String, _ properties: [(String, String)], _ markup: inout Markup
    ) {
        func count(_ decisions: Set<GateFinding.Decision>) -> String {
            String(suite.findings.count { decisions.contains($0.decision) })
        }
        markup.element(
            "testsuite",
            [
                "name": suite.name, "tests": "\(suite.findings.count)", "failures": count([.exceeded]),
                "errors": "0", "skipped": count([.skipped, .undecided]), "time": "0", "timestamp": time,
            ]
        ) { markup in
            markup.element("properties") { markup in
                for (name, value) in properties {
                    markup.element("property", ["name": name, "value": value], "")
                }
            }
            markup.raw("\n")
            for finding in suite.findings { write(finding, &markup) }
        }
        markup.raw("\n")
    }

    private static func write(_ finding: GateFinding, _ markup: inout Markup) {
        let name = "\(finding.figure?.description ?? finding.budget.key.description) \(finding.budget.text)"
        let group = finding.test.map { "\($0.scenario).\($0.engine)" } ?? "budgets"
        markup.element("testcase", ["classname": group, "name": name, "time": "0"]) { markup in
            let message = "\(finding.subject): \(finding.reason)"
            switch finding.decision {
            case .kept: if !finding.reason.isEmpty { markup.element("system-out", finding.reason) }
            case .exceeded: markup.element("failure", ["message": message, "type": "exceeded"], message)
            case .undecided: markup.element("skipped", ["message": message, "type": "undecided"], "")
            case .skipped: markup.element("skipped", ["message": message, "type": "skipped"], "")
            }
        }
        markup.raw("\n")
    }
}
