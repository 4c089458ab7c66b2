import Commands
import Files
import Harness
import Reporting
import Statistics

/// Searches a line of revisions for the first slower one. Each step builds, compares and marks a revision. The search
/// saves each step before the next, so that an interrupted search can continue.
struct BisectSearch {
    private let record: BisectRecord
    private var programs: ProgramOptions
    private let measuring: SessionMeasuring
    private var steps: [BisectStep]
    /// The mark of each measured program, by its digest. A revision with an equal program is not measured again.
    private var marks: [String: RevisionMark] = [:]
    private let directory: String
    private let words: BisectText

    /// - Parameter steps: steps of the same search before it was interrupted.
    init(record: BisectRecord, programs: ProgramOptions, measuring: SessionMeasuring, steps: [BisectStep]) {
        (self.record, self.programs, self.measuring, self.steps) = (record, programs, measuring, steps)
        directory = measuring.claim.directory.path
        words = BisectText(width: min(100, Output.width))
    }

    /// Returns the exit status.
    mutating func run() throws -> Int32 {
        try FileTree.createDirectory(directory + "/steps")
        try Output.write(words.opening(record, measuring.planned.test))
        let good = try programs.built(record.good, option: "--good")
        let bad = try programs.built(record.bad, option: "--bad")
        let ends = try compareEnds(good, bad)
        guard let gap = ends.measured.first, gap.finding == .slower, let difference = gap.comparison else {
            return try conclude(words.nothing(ends, record), first: nil)
        }
        marks = [good.description.build.digest: .good, bad.description.build.digest: .bad]
        var search = RevisionSearch(count: record.revisions.count)
        for step in steps.dropFirst() {
            guard let place = record.revisions.firstIndex(where: { $0.commit == step.commit }),
                search.candidates.contains(place), place != search.candidates.upperBound
            else { throw HarnessError("\(BisectStep.file) does not fit \(BisectRecord.file): begin a new search") }
            search.mark(place, step.mark)
            try Output.write(words.step(step, record.revisions[place], search))
        }
        while let place = search.next {
            let step = try look(at: record.revisions[place], good, bad, difference)
            try step.append(to: directory)
            steps.append(step)
            search.mark(place, step.mark)
            try Output.write(words.step(step, record.revisions[place], search))
        }
        guard let conclusion = search.conclusion else { throw HarnessError("the search ended without an end") }
        var first: Int?
        if case .first(let place) = conclusion { first = place }
        return try conclude(words.found(conclusion, record, steps), first: first)
    }

    private func conclude(_ text: String, first: Int?) throws -> Int32 {
        var ended = record
        ended.conclusion = text
        try ended.write(to: directory)
        try Output.write(words.closing(text, record, test: measuring.planned.test, directory: directory, first: first))
        return first == nil ? 3 : 0
    }

    /// Compares the ends, which is the first step. If they do not differ, there is nothing to search for.
    private mutating func compareEnds(_ good: DescribedProgram, _ bad: DescribedProgram) throws -> BisectStep {
        if let first = steps.first, first.commit == record.bad.commit {
            try Output.write(words.ends(first))
            return first
        }
        guard steps.isEmpty else { throw HarnessError("\(BisectStep.file) does not begin with the ends: begin anew") }
        let file = "steps/00-ends.jsonl"
        let outcome = try measuring.measure(good, bad, file: file)
        let measured = BisectStep.Measured(
            beside: .good, finding: outcome.finding, comparison: outcome.comparison, raw: file)
        let step = BisectStep(
            commit: record.bad.commit, mark: .bad, reason: outcome.reason, measured: [measured])
        try step.append(to: directory)
        steps.append(step)
        try Output.write(words.ends(step))
        return step
    }

    // MARK: One revision

    private mutating func look(
        at revision: Revision, _ good: DescribedProgram, _ bad: DescribedProgram, _ ends: SideComparison
    ) throws -> BisectStep {
        let program: DescribedProgram
        do {
            program = try programs.built(revision, option: "revision")
        } catch let error as RevisionBuildError {
            return BisectStep(
                commit: revision.commit, mark: .skipped, reason: "does not build: \(error.reason)")
        } catch let error as UnusableRevision {
            return BisectStep(commit: revision.commit, mark: .skipped, reason: error.message)
        }
        let digest = program.description.build.digest
        if let mark = marks[digest] {
            return BisectStep(commit: revision.commit, mark: mark, reason: "the same program as one that is \(mark)")
        }
        let descriptions = (good.description, program.description)
        let refused = WorkerDescription.compare([measuring.planned], a: descriptions.0, b: descriptions.1).refused
        if let reason = refused.first?.reason ?? ComparisonOptions.objection(good, program) {
            return BisectStep(commit: revision.commit, mark: .skipped, reason: "cannot be compared: \(reason)")
        }
        let step = try measure(revision, program, good: good, bad: bad, ends: ends)
        marks[digest] = step.mark
        return step
    }

    private func measure(
        _ revision: Revision, _ program: DescribedProgram, good: DescribedProgram, bad: DescribedProgram,
        ends: SideComparison
    ) throws -> BisectStep {
        var step = BisectStep(commit: revision.commit, mark: .skipped)
        let number = steps.count < 10 ? "0\(steps.count)" : "\(steps.count)"
        func compare(_ a: DescribedProgram, _ b: DescribedProgram, _ end: BisectStep.Measured.End) throws
            -> SideComparison.Finding
        {
            let file = "steps/\(number)-\(revision.shortCommit)-\(end.rawValue).jsonl"
            let outcome = try measuring.measure(a, b, file: file)
            step.measured.append(
                BisectStep.Measured(
                    beside: end, finding: outcome.finding, comparison: outcome.comparison, raw: file))
            if !outcome.reason.isEmpty { step.reason += (step.reason.isEmpty ? "" : "; ") + outcome.reason }
            return outcome.finding
        }
        if let mark = RevisionMark(besideGood: try compare(good, program, .good)) {
            step.mark = mark
            return step
        }
        step.mark = RevisionMark(besideBad: try compare(program, bad, .bad), ends: ends) ?? .skipped
        return step
    }
}
