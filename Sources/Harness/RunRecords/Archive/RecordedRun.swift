import Files
import Seeds
import Statistics

/// What an archive stores of a run: its origin, and the figures of its cases with their ratios.
package struct RecordedRun: Sendable, Equatable {
    package var id: String
    /// A digest of the bytes that the run was read from: only copies of one run have the same.
    package var digest: String
    /// Seconds since 1970.
    package var startTime: Int
    package var plan: String
    package var seed: Seed
    package var commit: String
    package var branch: String
    package var assayVersion: String
    package var buildDigest: String
    package var machine: Machine
    package var cases: [RecordedCase]

    package init(
        header: RunHeader, digest: String, cases: [RecordedCase] = []
    ) {
        id = header.id
        self.digest = digest
        startTime = header.startTime
        (plan, seed) = (header.plan, header.seed)
        (commit, branch) = (header.commit, header.branch)
        (assayVersion, buildDigest) = (header.assayVersion, header.buildDigest)
        machine = header.machine
        self.cases = cases
    }

    /// The commit for people, shortened; `no commit` if the run had none.
    package var shortCommit: String { commit.isEmpty ? "no commit" : String(commit.prefix(12)) }

    package var figureCount: Int { cases.reduce(0) { $0 + $1.figures.count } }
}

/// A case of a recorded run. If its verdict makes its figures invalid, it has none.
package struct RecordedCase: Sendable, Equatable {
    package var test: Case
    package var engineVersion: String
    package var verdict: Verdict
    package var figures: [RecordedFigure]

    package init(test: Case, engineVersion: String, verdict: Verdict, figures: [RecordedFigure] = []) {
        (self.test, self.engineVersion) = (test, engineVersion)
        (self.verdict, self.figures) = (verdict, figures)
    }
}

/// A figure of a recorded case: the median of its rounds with its interval, or a single measurement.
package struct RecordedFigure: Sendable, Equatable {
    package var name: FigureName
    package var value: Double
    package var low: Double?
    package var high: Double?
    /// The number of measurements behind the value.
    package var count: Int
    /// The figure relative to each other engine of the same run that did the same work.
    package var ratios: [RecordedRatio]

    package init(_ sample: Sample, ratios: [RecordedRatio] = []) {
        name = FigureName(sample)
        (value, low, high, count) = (sample.value, sample.low, sample.high, sample.count)
        self.ratios = ratios
    }
}

/// A figure as a multiple of that of a reference, which is another engine of the same run.
package struct RecordedRatio: Sendable, Equatable {
    package var reference: String
    package var version: String
    /// Above 1 is better, for both directions of a figure.
    package var value: Double
    /// The bounds over the rounds; nil if there were too few.
    package var low: Double?
    package var high: Double?
    /// The number of rounds that measured both engines; 1 for figures that were measured once.
    package var pairCount: Int

    package init(
        reference: String, version: String, value: Double, low: Double? = nil, high: Double? = nil, pairCount: Int
    ) {
        (self.reference, self.version) = (reference, version)
        (self.value, self.low, self.high, self.pairCount) = (value, low, high, pairCount)
    }
}

/// An archive refuses a run; the message has the remedy.
package struct RecordingError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension RecordedRun {
    /// The recorded form of a finished run. Of a plan that does not measure, only counts are recorded.
    ///
    /// Throws: if the run is damaged, not finished, or of a debug build.
    package init(_ run: Run, digest: String) throws(RecordingError) {
        do throws(BaselineError) {
            try run.requireFinished()
        } catch {
            throw RecordingError(error.description)
        }
        guard run.header.isReleaseBuild else {
            throw RecordingError(
                "the run in \(run.directory) is of a debug build, whose figures nothing can be told from: run the plan "
                    + "with a release build")
        }
        self.init(header: run.header, digest: digest)
        let groups = Dictionary(grouping: run.results) { Subject($0.test) }
        cases = run.results.map { result in
            var recorded = RecordedCase(
                test: result.test, engineVersion: result.engineVersion, verdict: result.verdict)
            let others = (groups[Subject(result.test)] ?? []).filter {
                $0.test.engine != result.test.engine && Self.counts($0)
            }
            recorded.figures = Self.figures(of: result, beside: others, run)
            return recorded
        }
    }

    private static func counts(_ result: CaseResult) -> Bool { CountedCase.objection(to: result) == nil }

    private static func figures(of result: CaseResult, beside others: [CaseResult], _ run: Run) -> [RecordedFigure] {
        run.lastingFigures(of: result).map { sample in
            var figure = RecordedFigure(sample)
            guard sample.metric.direction != .neutral else { return figure }
            figure.ratios = others.compactMap { ratio(figure.name, result, other: $0, run: run) }
                .sorted { $0.reference < $1.reference }
            return figure
        }
    }

    /// The ratio over the pairs of the rounds, or, for cases that were measured once, of their two figures. nil if a
    /// figure is 0.
    private static func ratio(
        _ name: FigureName, _ own: CaseResult, other: CaseResult, run: Run
    ) -> RecordedRatio? {
        var pairs: [(own: Double, other: Double)] = []
        if run.rounds[own.test.id] != nil, run.rounds[other.test.id] != nil {
            pairs = run.pairs(
                own.test.id, other.test.id, metric: name.metric.name, statistic: name.statistic, label: name.label)
        } else if let first = name.value(in: own), let second = name.value(in: other) {
            pairs = [(first, second)]
        }
        let higher = name.metric.direction == .higherIsBetter
        guard let ratio = PairedRatio(pairs, higherIsBetter: higher) else { return nil }
        return RecordedRatio(
            reference: other.test.engine, version: other.engineVersion, value: ratio.ratio, low: ratio.low,
            high: ratio.high, pairCount: ratio.pairs.count)
    }
}

extension Run {
    /// The figures of a case that mean something later: none if the case failed or was cut, and only counts if the plan
    /// does not measure. Each has a unique name.
    package func lastingFigures(of result: CaseResult) -> [Sample] {
        guard CountedCase.objection(to: result) == nil else { return [] }
        var seen: Set<FigureName> = []
        return result.samples.filter { sample in
            sample.value.isFinite && (header.measures || CountedName(sample) != nil)
                && seen.insert(FigureName(sample)).inserted
        }
    }
}

extension RunDirectory {
    /// Identifies a run in an archive: a digest of its measurements, and of their time, machine and build.
    package func digest() throws(FileTreeError) -> String {
        let header = StableHash.of(try FileTree.readBytes(headerFile))
        let results = StableHash.of(try FileTree.readBytes(resultsFile))
        return [header, results].map { hash in
            let digits = String(hash, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}
