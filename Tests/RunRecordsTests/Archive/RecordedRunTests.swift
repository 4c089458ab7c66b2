import Files
import Seeds
import Testing

@testable import RunRecords

@Suite struct RecordedRunTests {
    private static let rate = Metric("rows_per_second", unit: "1/s", .higherIsBetter, .measured)

    /// Three rounds of one figure on each engine.
    private static func run(
        _ values: [String: [Double]], metric: Metric = rate, _ change: (inout Run) -> Void = { _ in }
    )
        throws -> Run
    {
        var run = CountedRun.sound().run
        for (engine, figures) in values.sorted(by: { $0.key < $1.key }) {
            let test = CountedRun.test("bulk-insert", engine: engine)
            let rounds = figures.enumerated().map { round, value in
                var result = CaseResult(test: test, verdict: .pass, turn: Turn(round: round))
                result.engineVersion = "\(engine) 1"
                result.samples = [Sample(metric, value)]
                return result
            }
            run.header.cases.append(test.id)
            run.header.rounds[test.id] = figures.count
            run.rounds[test.id] = rounds
            run.results.append(try #require(CaseResult.merged(rounds)))
        }
        change(&run)
        return run
    }

    private static func recorded(_ run: Run) throws -> RecordedCase {
        let recorded = try RecordedRun(run, digest: "d")
        return try #require(
            recorded.cases.first { $0.test.scenario == "bulk-insert" && $0.test.engine == "strata" })
    }

    @Test("the ratio is of pairs, above 1 for better, and only to engines with valid figures")
    func ratios() throws {
        // The medians would give 2; in two of three rounds it is 3.
        let values = ["strata": [3.0, 20, 300], "sqlite": [1.0, 10, 100], "lmdb": [6.0, 40, 600]]
        let own = try Self.recorded(try Self.run(values))
        let figure = try #require(own.figures.first)
        #expect(figure.value == 20 && figure.count == 3 && figure.name.text == "rows_per_second")
        #expect(figure.ratios.map(\.reference) == ["lmdb", "sqlite"])
        #expect(figure.ratios.map { ($0.value * 1_000).rounded() } == [500, 3_000])
        #expect(figure.ratios.map(\.pairCount) == [3, 3] && figure.ratios.last?.version == "sqlite 1")
        let lower = Metric("operation_ns", unit: "ns", .lowerIsBetter, .measured)
        let times = try Self.recorded(try Self.run(values, metric: lower))
        #expect(times.figures.first?.ratios.map { ($0.value * 1_000).rounded() } == [2_000, 333])
        let wrong = try Self.run(values) { run in
            for index in run.results.indices where run.results[index].test.engine == "lmdb" {
                run.results[index].verdict = .violation
            }
        }
        #expect(try Self.recorded(wrong).figures.first?.ratios.map(\.reference) == ["sqlite"])
    }

    @Test("of a plan that measures nothing counts alone are kept; a debug build and half a run are refused")
    func refused() throws {
        let values = ["strata": [3.0], "sqlite": [1.0]]
        let still = try RecordedRun(try Self.run(values) { $0.header.measures = false }, digest: "d")
        #expect(Set(still.cases.flatMap { $0.figures.map(\.name.metric.name) }).contains("file_syncs"))
        #expect(!still.cases.contains { $0.figures.contains { $0.name.metric.name == "rows_per_second" } })
        for (change, expected) in [
            ({ $0.header.isReleaseBuild = false }, "debug build"), ({ $0.results.removeLast() }, "not finished"),
            ({ $0.unreadable = ["results.jsonl line 3"] }, "results.jsonl line 3"),
        ] as [((inout Run) -> Void, String)] {
            let run = try Self.run(values, change)
            let error = try #require(throws: RecordingError.self) { try RecordedRun(run, digest: "d") }
            #expect(error.description.contains(expected))
        }
    }

    // MARK: Trends

    private static func points(
        _ ratios: [Double?], version: (Int) -> String = { _ in "3.40" },
        change: (Int, inout TrendPoint) -> Void = { _, _ in }
    ) -> [TrendPoint] {
        ratios.enumerated().map { index, ratio in
            var header = CountedRun().header
            header.id = "run-\(index)"
            header.commit = "c\(index)"
            var point = TrendPoint(
                run: RecordedRun(header: header, digest: "\(index)"), engineVersion: "0.1", value: 100,
                ratio: ratio.map {
                    RecordedRatio(reference: "sqlite", version: version(index), value: $0, pairCount: 1)
                })
            change(index, &point)
            return point
        }
    }

    private static func trend(_ points: [TrendPoint], _ basis: Trend.Basis = .ratio(reference: "sqlite")) -> Trend {
        Trend(
            test: CountedRun.test("bulk-insert"), figure: FigureName(Sample(rate, 1)), basis: basis, points: points)
    }

    @Test("a change is named with the runs before and after it, and its direction")
    func change() throws {
        let levels = (0..<30).map { index -> Double? in index == 16 ? nil : index < 17 ? 2.0 : 1.6 }
        let trend = Self.trend(Self.points(levels))
        let change = try #require(trend.changes.first)
        #expect(trend.changes.count == 1 && change.index == 17 && abs(change.factor - 0.8) < 1e-9)
        #expect(trend.direction(of: change) == "worse" && change.remarks == [])
        let sides = try #require(trend.neighbours(of: change))
        #expect(sides.before.id == "run-15" && sides.after.id == "run-17", "a run without the reference is no side")
        #expect(trend.remarks == ["1 of 30 runs have no figure of sqlite"])
        let moved = Self.points(
            levels,
            change: { index, point in
                if index >= 17 { point.run.machine.processor = "other" }
            })
        #expect(Self.trend(moved).changes.first?.remarks.first?.hasPrefix("another machine") == true)
    }

    @Test("no change is claimed across versions of the reference, or of times without a reference; counts need none")
    func basis() {
        let levels = (0..<30).map { $0 < 15 ? 2.0 : 1.6 as Double? }
        let pinned = Self.trend(Self.points(levels, version: { $0 < 15 ? "3.40" : "3.41" }))
        #expect(pinned.changes == [] && pinned.remarks.first?.contains("sqlite is 3.40 up to run-14") == true)
        #expect(Self.trend(Self.points(levels), .nothing).changes == [])
        let counts = Self.points(levels, change: { index, point in point.value = index < 15 ? 100 : 150 })
        #expect(Self.trend(counts, .count).changes.map(\.index) == [15])
        let test = CountedRun.test("bulk-insert")
        let syncs = FigureName(Sample(Metric("file_syncs", unit: "count", .neutral, .measured), 1))
        #expect(Trend.Basis(of: test, syncs, references: ["sqlite"]) == .count)
        let times = FigureName(Sample(Self.rate, 1))
        #expect(
            Trend.Basis(of: test, times, references: ["strata-storage", "model", "lmdb"]) == .ratio(reference: "lmdb"))
        #expect(Trend.Basis(of: test, times, references: ["strata-storage"]) == .nothing)
        let peer = CountedRun.test("bulk-insert", engine: "sqlite-tuned")
        #expect(Trend.Basis(of: peer, times, references: ["strata", "sqlite"]) == .nothing, "both move")
    }

    // MARK: Site

    @Test("a site is written into an empty directory or over an earlier site, and touches nothing else")
    func siteDirectory() throws {
        let scratch = try ScratchDirectory.make(in: "/tmp")
        defer { try? FileTree.remove(scratch.path) }
        let out = scratch.files + "/a/site"
        func write(_ names: [String]) throws { try SiteDirectory(out).write(names.map { ($0, "page \($0)") }) }
        try write(["index.html", "old.html"])
        try FileTree.writeText(out + "/notes.txt", "mine")
        try write(["index.html", "new.html"])
        #expect(try FileTree.names(in: out) == [".assay-site", "index.html", "new.html", "notes.txt"])
        #expect(try FileTree.readText(out + "/notes.txt") == "mine")
        try FileTree.writeText(out + "/theirs.html", "mine")
        let taken = try #require(throws: RecordingError.self) { try write(["index.html", "theirs.html"]) }
        #expect(taken.description.contains("is not of this site"))
        #expect(try FileTree.readText(out + "/theirs.html") == "mine")
        for marker in [
            #"{"format":"assay-site/1","pages":["../../victim.html"]}"#, #"{"format":"assay-site/2","pages":[]}"#,
            #"{"format":"assay-site/1","pages":["notes.txt"]}"#, "",
        ] {
            try FileTree.writeText(out + "/.assay-site", marker)
            #expect(throws: RecordingError.self, "\(marker)") { try write([]) }
        }
        let foreign = scratch.files + "/foreign"
        try FileTree.createDirectory(foreign)
        try FileTree.writeText(foreign + "/index.html", "mine")
        #expect(throws: RecordingError.self) { try SiteDirectory(foreign) }
        #expect(throws: RecordingError.self) { try SiteDirectory(foreign + "/index.html") }
    }
}
