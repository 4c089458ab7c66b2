import FaultModel
import Harness
import Measuring
import ProgramTrials
import RunRecords
import Seeds

/// Opens the disks that a loss of power may have left of a recorded history.
///
/// A crash is named by the operation of the record that never happened (`crash:op=17,state=0x3`). Of an engine with
/// threads of its own the record is another one each time, and the address may then name another moment.
struct RecordedSweep {
    private let recorded: TracedRun
    private let marks: CrashMarks
    private let contents: [HistoryContent]
    private let context: CaseContext
    private let rules: CrashRules

    init(_ run: TracedRun, _ marks: CrashMarks, _ contents: [HistoryContent], _ context: CaseContext) throws {
        recorded = run
        self.marks = marks
        self.contents = contents
        self.context = context
        var rules = CrashRules()
        guard let profile = CrashProfile(rawValue: try context.text("profile")) else {
            throw HarnessError("there is no profile \(try context.text("profile"))")
        }
        rules.profile = profile
        // A disk takes milliseconds to open, so that few of each moment can be: those that lose most stand in front.
        rules.exhaustiveUnits = 5
        rules.sampleCount = 12
        rules.singleLimit = 8
        rules.pairLimit = 4
        rules.cutLimit = 8
        self.rules = rules
    }

    func run() throws {
        let (steps, coverage) = try choose()
        let lacking = TrialTally(context, "lacking")
        let unmade = TrialTally(context, "unmade")
        var rebuild = CrashRebuild(base: recorded.base, trace: recorded.operations, profile: rules.profile)
        let start = MonotonicClock.now()
        var opened = 0
        try context.sweep(
            steps.map { FaultAddress(text: "\(CrashAddress([$0]))") }, secondsPerTrial: 20,
            accepts: { address in Self.step(address).flatMap { rebuild.image(at: $0) } != nil },
            place: { address in Self.step(address).map(words) ?? "" },
            trial: { address in
                guard let step = Self.step(address), let image = rebuild.image(at: step) else {
                    throw HarnessError("the record has no state \(address)")
                }
                // A directory of its own: what an engine knows of another one does not count.
                opened += 1
                let directory = context.trialDirectory + "/disk-\(opened)"
                let found = try judge(image, at: step, in: directory)
                try FileTree.remove(directory)
                if found.lacksAcknowledged { try lacking.add() }
                if found.isUnmade { try unmade.add() }
                return Trial(address: address, outcome: found.outcome, detail: found.detail)
            })
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        try report(coverage, steps, lacking: lacking.count(), unmade: unmade.count(), seconds: seconds)
    }

    private static func step(_ address: FaultAddress) -> CrashAddress.Step? {
        guard let crash = CrashAddress(address.text), crash.steps.count == 1, !crash.steps[0].isKill else { return nil }
        return crash.steps[0]
    }

    /// What is lost on a disk, in few words.
    private func words(_ step: CrashAddress.Step) -> String {
        let lines = recorded.description(of: step, profile: rules.profile)
        return (lines.prefix(4) + (lines.count > 4 ? ["and \(lines.count - 4) more"] : [])).joined(separator: ", ")
    }

    private func report(
        _ coverage: CrashCoverage, _ steps: [CrashAddress.Step], lacking: Int, unmade: Int, seconds: Double
    ) throws {
        let (report, tried) = (context.report, steps.count)
        let rate = Double(tried) / max(seconds, 1e-9)
        report.add(.acknowledgedLacking, Double(lacking), count: tried)
        report.add(.statesPerSecond, rate, count: tried)
        report.add(.statesPerSecond, rate / Double(TrialRunner.standardChildCount), count: tried, label: "a core")
        var words =
            "\(contents.count - 1) transactions, profile \(rules.profile.rawValue), \(coverage), opened \(tried)"
        if lacking > 0 { words += "; \(lacking) of them lack what had been acknowledged" }
        if unmade > 0 {
            words += "; \(unmade) of them were refused, on which nothing had been acknowledged yet"
        }
        report.note(words)
        context.require(marks.acknowledged.count, "nothing was acknowledged")
        let behind = steps.count { $0.operation >= marks.acknowledged.last ?? .max }
        context.require(behind, "no disk was opened on which all transactions were acknowledged")
    }

    // MARK: Choosing

    /// Some disks of each part of the history, in the order of the record: where little was acknowledged as many as
    /// where much was.
    func choose() throws -> (steps: [CrashAddress.Step], coverage: CrashCoverage) {
        let (most, total) = (try context.integer("states"), try context.integer("total"))
        let parts = marks.parts(operations: recorded.operations.count)
        let share = max(1, min(most, total / max(1, parts.count)))
        var random = context.random("states")
        let points = Set(parts.flatMap { Self.points(of: $0, 4 * share, &random) })
        var found = [[CrashAddress.Step]](repeating: [], count: parts.count)
        var part = 0
        var sweep = CrashSweep(base: recorded.base, trace: recorded.operations, rules: rules, seed: context.seed)
        let coverage = sweep.visit(
            isVisited: points.contains,
            context: { operation in UInt64(marks.acknowledged.count { $0 <= operation }) }
        ) { state in
            while state.step.operation >= parts[part].upperBound { part += 1 }
            found[part].append(state.step)
            return !context.isOverBudget
        }
        var chosen = zip(parts, found).flatMap { Self.first(share, of: $1, in: $0, &random) }
        for place in chosen.indices where chosen.count > total {
            chosen.swapAt(place, place + random.below(chosen.count - place))
        }
        chosen = Array(chosen.prefix(total))
        return (chosen.sorted { $0.operation < $1.operation }, coverage)
    }

    /// So many crash points of a part; the first and the last are among them.
    private static func points(of part: Range<Int>, _ count: Int, _ random: inout RandomStream) -> Set<Int> {
        if part.count <= count { return Set(part) }
        var points: Set<Int> = [part.lowerBound, part.upperBound - 1]
        while points.count < count { points.insert(part.lowerBound + random.below(part.count)) }
        return points
    }

    /// Takes turns among the crash points of a part. The first of each is the disk that lost all it could, and that of
    /// the part's first point, right after an acknowledgement, stands in front of all.
    private static func first(
        _ count: Int, of steps: [CrashAddress.Step], in part: Range<Int>, _ random: inout RandomStream
    ) -> [CrashAddress.Step] {
        var ranked: [(rank: Int, order: UInt64, step: CrashAddress.Step)] = []
        for (operation, here) in Dictionary(grouping: steps, by: \.operation).sorted(by: { $0.key < $1.key }) {
            var others = here.filter { $0.state != StateMask() }
            for place in others.indices { others.swapAt(place, place + random.below(others.count - place)) }
            let ordered = here.filter { $0.state == StateMask() } + others
            for (rank, step) in ordered.enumerated() {
                let isFirst = rank == 0 && operation == part.lowerBound
                ranked.append((isFirst ? -1 : rank, random.next(), step))
            }
        }
        return ranked.sorted { ($0.rank, $0.order) < ($1.rank, $1.order) }.prefix(count).map(\.step)
    }

    // MARK: Judging

    struct Finding {
        var outcome: Outcome
        var detail: String
        /// What was acknowledged is not all there, whatever the class says to that.
        var lacksAcknowledged = false
        /// It was refused, and nothing had been acknowledged: nothing is lost.
        var isUnmade = false
    }

    /// Builds a disk in a directory, opens it, and judges what is there.
    func judge(_ image: DiskImage, at step: CrashAddress.Step, in directory: String) throws -> Finding {
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        try DirectorySnapshot.build(image, directories: recorded.directories(at: step.operation), at: directory)
        let location = DatabaseLocation(directory: directory)
        try context.keepDatabase(at: location)
        let acknowledged = marks.allowed(before: step.operation, keepsAcknowledged: true)
        let isFull = context.test.durability == .full
        let allowed = isFull ? acknowledged : 0...acknowledged.upperBound
        var content: HistoryContent?
        let (outcome, detail) = try CrashJudgement(contents: contents, allowed: allowed).judge(
            open: { try context.open(location) },
            check: {
                // An engine whose open makes no file has nothing to check where none was there.
                guard let checking = context.engine as? any CheckingEngine,
                    context.engine.capabilities.contains(.checks), !context.engine.files(at: location).isEmpty
                else { return }
                try checking.check(location)
            },
            found: { content = $0 })
        var finding = Finding(outcome: outcome, detail: detail)
        if let content {
            finding.lacksAcknowledged = !acknowledged.contains { contents[$0] == content }
            return finding
        }
        guard [.refused, .detectedAtRead].contains(outcome) else { return finding }
        if acknowledged.lowerBound == 0 {
            finding.isUnmade = true
            finding.outcome = .correct
        } else {
            finding.lacksAcknowledged = true
            // Nobody damaged its files: not to be read is to have lost what was acknowledged.
            if isFull { finding.outcome = .lostCommit }
        }
        return finding
    }
}
