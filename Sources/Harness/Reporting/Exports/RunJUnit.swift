import RunRecords

/// A run as JUnit: a suite per scenario, a test per case. A violation by an engine is a failure, a harness error is an
/// error. An inconclusive or unsupported case is skipped, with its verdict as the type.
struct RunJUnit {
    let exported: ExportedRun

    var text: String {
        let header = exported.run.header
        var suites: [JUnitDocument.Suite] = []
        for result in exported.run.results {
            let place = suites.firstIndex { $0.name == result.test.scenario }
            if place == nil { suites.append(JUnitDocument.Suite(name: result.test.scenario)) }
            suites[place ?? suites.count - 1].tests.append(test(result))
        }
        return JUnitDocument(
            name: "assay \(header.plan)", timestamp: Figure.time(header.startTime), suites: suites,
            properties: [
                ("run", header.id), ("seed", header.seed.description), ("commit", header.commit),
                ("build", header.buildDigest), ("host", header.machine.host),
            ]
        ).text
    }

    private func test(_ result: CaseResult) -> JUnitDocument.Test {
        JUnitDocument.Test(
            group: "\(result.test.scenario).\(result.test.engine)", name: exported.name(result.test),
            seconds: Double(result.durationNanoseconds) / 1e9, ending: ending(result))
    }

    private func ending(_ result: CaseResult) -> JUnitDocument.Ending {
        let type = result.verdict.rawValue
        let message = result.message.isEmpty ? type : result.message
        switch result.verdict {
        case .pass: return .passed(note: result.message)
        case .known, .unpromised: return .passed(note: "\(type): \(message)")
        case .violation: return .failure(type: type, message: message)
        case .harnessError, .suspectedHarness: return .error(type: type, message: message)
        case .inconclusive, .notApplicable, .notBuilt: return .skipped(type: type, message: message)
        }
    }
}
