import Files
import Harness
import Measuring
import ModelEngine
import RunRecords
import Testing

@testable import Scenarios

/// Every scenario runs at a tiny size on every supporting engine, and finds nothing wrong.
@Suite struct ScenarioRunTests {
    struct Small: CustomStringConvertible, Sendable {
        var slug: String
        var dataset: String?
        var parameters: [String: String] = [:]
        var metrics: [String]

        var description: String { "\(slug) \(dataset ?? "") \(parameters)" }
    }

    static let cases = [
        Small(
            slug: "bulk-insert", parameters: ["rounds": "2"], metrics: ["rows_per_second", "rows", "peak_rss_bytes"]),
        Small(slug: "bulk-insert", dataset: "people-dogs", metrics: ["rows_per_second"]),
        Small(slug: "commit", parameters: ["commits": "120"], metrics: ["commits_per_second", "latency_ns"]),
        Small(
            slug: "commit", parameters: ["commits": "30", "file": "prepared"],
            metrics: ["commits_per_second", "operations"]),
        Small(
            slug: "raw-disk", parameters: ["syncs": "5", "mebibytes": "1"],
            metrics: ["operations_per_second", "gigabytes_per_second"]),
        Small(slug: "point-read", metrics: ["operation_ns", "latency_ns", "empty_loop_ns"]),
        Small(slug: "point-read", parameters: ["properties": "3"], metrics: ["operation_ns"]),
        Small(slug: "property-read", parameters: ["held": "10"], metrics: ["operation_ns"]),
        Small(slug: "string-equal", metrics: ["rows_per_second"]),
        Small(slug: "traverse", dataset: "people-dogs", metrics: ["links_per_second", "links"]),
        Small(
            slug: "commit-threads", parameters: ["threads": "3", "commits": "60"],
            metrics: ["commits_per_second", "fairness_ratio"]),
        Small(
            slug: "mixed-threads", parameters: ["readers": "2", "writers": "2", "commits": "60"],
            metrics: ["commits_per_second", "operations_per_second", "fairness_ratio", "latency_ns"]),
        Small(
            slug: "lost-update", parameters: ["threads": "3", "increments": "90"], metrics: ["updates_per_second"]),
        Small(
            slug: "pinned-reader", parameters: ["transactions": "4", "updates": "20", "readers": "2"],
            metrics: ["updates_per_second"]),
        Small(slug: "compact-on-launch", metrics: ["file_bytes", "used_bytes"]),
        Small(slug: "commit-nosync", parameters: ["commits": "200"], metrics: ["commits_per_second"]),
        Small(
            slug: "commit-during-checkpoint", parameters: ["commits": "30", "every": "10", "updates": "20"],
            metrics: ["latency_ns"]),
        Small(slug: "column-sum", metrics: ["rows_per_second"]),
        Small(slug: "filter-two", metrics: ["rows_per_second"]),
        Small(slug: "filter-two", parameters: ["updates": "2100"], metrics: ["rows_per_second"]),
        Small(slug: "iterate", metrics: ["objects_per_second"]),
        Small(
            slug: "update-batch", parameters: ["transactions": "6", "updates": "20", "readers": "3"],
            metrics: ["updates_per_second"]),
        Small(slug: "delete-half", metrics: ["rows_per_second"]),
        Small(slug: "compact", metrics: ["duration_ms", "file_bytes"]),
        Small(
            slug: "writer-starvation", parameters: ["greedy": "2", "waits": "10", "bound": "60000"],
            metrics: ["latency_ns", "overtakes"]),
        Small(slug: "delete-refill", parameters: ["rounds": "4"], metrics: ["file_bytes", "rows_per_second"]),
        Small(
            slug: "million-small-commits", parameters: ["commits": "400"],
            metrics: ["file_bytes", "commits_per_second"]),
        Small(
            slug: "many-writer-threads", parameters: ["rounds": "6", "threads": "2", "updates": "10", "held": "2"],
            metrics: ["file_bytes"]),
        Small(
            slug: "account-switch", parameters: ["switches": "6", "transactions": "2", "bound": "60000"],
            metrics: ["latency_ns", "handles"]),
        Small(slug: "compact-vs-readers", parameters: ["compactions": "3"], metrics: ["latency_ns", "compactions"]),
        Small(slug: "compact-memory", parameters: ["bound": "10000"], metrics: ["peak_rss_bytes"]),
        Small(
            slug: "ycsb-a", parameters: ["operations": "200"],
            metrics: ["operations_per_second", "latency_ns", "fairness_ratio", "grid_figure"]),
        Small(slug: "ycsb-b", dataset: "people", parameters: ["operations": "200"], metrics: ["latency_ns"]),
        Small(slug: "ycsb-c", parameters: ["operations": "200", "threads": "1"], metrics: ["operations_per_second"]),
        Small(slug: "ycsb-d", parameters: ["operations": "400"], metrics: ["latency_ns"]),
        Small(slug: "ycsb-e", parameters: ["operations": "200"], metrics: ["latency_ns"]),
        Small(slug: "ycsb-f", parameters: ["operations": "200", "threads": "3"], metrics: ["latency_ns"]),
        Small(
            slug: "ycsb-f",
            parameters: ["operations": "60", "loop": "open", "rate": "3000", "threads": "1", "late": "100000"],
            metrics: ["latency_ns", "offered_per_second", "pacer_late_us"]),
        Small(slug: "visible-latency", parameters: ["commits": "20"], metrics: ["latency_ns"]),
    ]

    static func scenario(_ slug: String) throws -> any Scenario {
        var registry = ScenarioRegistry()
        ScenarioRegistration.register(into: &registry)
        return try #require(registry.scenario(named: slug))
    }

    @Test("runs, checks its reads and gives its figures", arguments: cases, EnginesUnderTest.names)
    func run(small: Small, engineName: String) throws {
        let scenario = try Self.scenario(small.slug)
        let engine = try EnginesUnderTest.engine(engineName)
        guard scenario.requires.isSubset(of: engine.capabilities) else { return }
        let size = small.slug.hasPrefix("compact") ? 4_000 : 100
        let report = try CaseUnderTest.run(
            scenario, on: engine, dataset: small.dataset, size: size, parameters: small.parameters)
        #expect(report.outcomes[.correct, default: 0] > 0)
        let wrong = report.trials.map { "\($0.address): \($0.outcome.rawValue) \($0.detail)" }
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(wrong)")
        for metric in small.metrics {
            #expect(report.value(metric) != nil, "\(metric) is missing")
        }
        #expect(!report.isCut)
        for sample in report.samples { #expect(sample.value.isFinite, "\(sample)") }
    }

    @Test(
        "a case over its budget reports that it was cut", arguments: ["commit", "commit-threads", "lost-update"])
    func cut(slug: String) throws {
        let scenario = try Self.scenario(slug)
        try EnginesUnderTest.withDirectory { directory in
            let full = try CaseUnderTest.context(scenario, on: ModelEngine(), in: directory)
            let late = CaseContext(
                test: full.test, engine: full.engine, source: full.source, directory: directory + "/late",
                fixture: full.fixture, deadline: 0)
            try FileTree.createDirectory(late.directory)
            try scenario.run(late)
            #expect(late.report.isCut)
            #expect(late.report.outcomes.keys.allSatisfy { $0 == .correct })
        }
    }

    @Test("deterministic figures of two runs are equal", arguments: cases)
    func deterministic(small: Small) throws {
        let scenario = try Self.scenario(small.slug)
        guard scenario.requires.isSubset(of: ModelEngine().capabilities) else { return }
        func figures() throws -> [Sample] {
            try CaseUnderTest.run(
                scenario, on: ModelEngine(), dataset: small.dataset, parameters: small.parameters
            ).samples.filter { $0.metric.kind == .deterministic }
        }
        let first = try figures()
        #expect(try figures() == first)
    }
}
