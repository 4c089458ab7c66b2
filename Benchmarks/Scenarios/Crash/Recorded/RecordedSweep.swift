import FaultModel
import Files
import Harness
import Measuring
import ProgramTrials
import RunRecords
import Seeds

/// Opens the possible disks after a power failure of a recorded script, and of recoveries on some of them.
///
/// A crash is named by the first operation of the record that did not happen (`crash:op=17,state=0x3`), one in a
/// recovery by a further step (`crash:op=17,state=0x3/op=2,state=0x1`). The record of an engine with background threads
/// differs each time; the address may then name another moment.
struct RecordedSweep {
    private let recorded: TracedRun
    private let marks: CrashMarks
    private let contents: [ScriptContent]
    private let context: CaseContext
    private let rules: CrashRules

    init(_ run: TracedRun, _ marks: CrashMarks, contents: [ScriptContent], context: CaseContext) throws {
        recorded = run
        self.marks = marks
        self.contents = contents
        self.context = context
        rules = try Self.rules(context)
    }

    static let profile = ScenarioParameter(
        "profile", default: CrashProfile.ext4Ordered.rawValue, allowed: CrashProfile.allCases.map(\.rawValue),
        summary: "what a file system keeps of what was not synced")

    /// What a power failure can lose, under the case's profile. Opening a disk takes milliseconds, so few can be opened
    /// for each moment: those that lose most come first.
    static func rules(_ context: CaseContext) throws -> CrashRules {
        var rules = CrashRules()
        guard let profile = CrashProfile(rawValue: try context.text(profile.name)) else {
            throw HarnessError("there is no profile \(try context.text("profile"))")
        }
        rules.profile = profile
        rules.exhaustiveUnits = 5
        rules.sampleCount = 12
        rules.singleLimit = 8
        rules.pairLimit = 4
        rules.cutLimit = 8
        return rules
    }

    func run() throws {
        let (steps, coverage) = try choose()
        let lacking = TrialTally(context, "lacking")
        let unmade = TrialTally(context, "unmade")
        var rebuild = CrashRebuild(base: recorded.base, trace: recorded.operations, profile: rules.profile)
        var recoveries = RecordedRecoveries(context, rules)
        for step in try recoverable(steps) {
            guard let image = rebuild.image(at: step) else { continue }
            try recoveries.record(from: step, image, recorded.directories(at: step.operation))
        }
        let addresses = steps.map { CrashAddress([$0]) } + recoveries.addresses
        let start = MonotonicClock.now()
        var opened = 0
        let tried = try context.sweep(
            addresses.map { FaultAddress(text: "\($0)") }, secondsPerTrial: 20,
            accepts: { address in CrashAddress(address.text).flatMap { recoveries.disk(at: $0, &rebuild) } != nil },
            place: { address in CrashAddress(address.text).map { words($0, recoveries) } ?? "" },
            trial: { address in
                guard let crash = CrashAddress(address.text), let image = recoveries.disk(at: crash, &rebuild) else {
                    throw HarnessError("the record has no state \(address)")
                }
                // A directory of its own: an engine may remember the state of another one.
                opened += 1
                let directory = context.trialDirectory + "/disk-\(opened)"
                let directories =
                    try recoveries.directories(at: crash) ?? recorded.directories(at: crash.steps[0].operation)
                let disk = try RecordedDisk(image, directories: directories, at: directory, context)
                try context.keepDatabase(at: disk.location)
                let found = try disk.judge(by: truth(at: crash.steps[0].operation))
                try FileTree.remove(directory)
                if found.lacksAcknowledged { try lacking.add() }
                if found.isUnmade { try unmade.add() }
                return Trial(address: address, outcome: found.outcome, detail: found.detail)
            })
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        if !recoveries.words.isEmpty { context.report.note(recoveries.words) }
        try report(
            coverage, steps, tried: tried, lacking: lacking.count(), unmade: unmade.count(),
            seconds: seconds)
    }

    /// The allowed contents after a power failure before that operation.
    func truth(at operation: Int) -> RecordedTruth {
        RecordedTruth(marks, contents, at: operation, of: context.test)
    }

    /// The disks from which a recovery is recorded: of those that lost something, as many as the case says, and that of
    /// a replayed trial.
    private func recoverable(_ steps: [CrashAddress.Step]) throws -> [CrashAddress.Step] {
        if let only = context.onlyTrial {
            guard let crash = CrashAddress(only.text), crash.steps.count == 2, !crash.steps[0].isKill else { return [] }
            return [crash.steps[0]]
        }
        var random = context.random("recoveries")
        // Disks from the first acknowledgement on: a recovery before it has nothing to lose.
        let later = steps.filter { $0.operation >= marks.acknowledged.first ?? .max }
        let order = random.permutation(of: later.count)
        return order.prefix(try context.integer("recoveries")).map { later[$0] }
    }

    /// Describes what is lost on a disk, in few words.
    private func words(_ crash: CrashAddress, _ recoveries: RecordedRecoveries) -> String {
        var lines = recorded.description(of: crash.steps[0], profile: rules.profile)
        lines = lines.prefix(4) + (lines.count > 4 ? ["and \(lines.count - 4) more"] : [])
        return (lines + recoveries.description(of: crash)).joined(separator: ", ")
    }

    private func report(
        _ coverage: CrashCoverage, _ steps: [CrashAddress.Step], tried: Int, lacking: Int, unmade: Int, seconds: Double
    ) throws {
        let report = context.report
        let rate = Double(tried) / max(seconds, 1e-9)
        report.add(.acknowledgedLacking, Double(lacking), count: tried)
        if tried > 0 {
            report.add(.statesPerSecond, rate, count: tried)
            report.add(.statesPerSecond, rate / Double(TrialRunner.standardChildCount), count: tried, label: "a core")
        }
        var words =
            "\(contents.count - 1) transactions, profile \(rules.profile.rawValue), \(coverage), opened \(tried)"
        if lacking > 0 { words += "; \(lacking) of them lack what had been acknowledged" }
        if unmade > 0 {
            words += "; \(unmade) of them were refused, on which nothing had been acknowledged yet"
        }
        report.note(words)
        context.require(marks.acknowledged.count, "nothing was acknowledged")
        // A case that ran out of time did not open the last disks.
        let steps = context.onlyTrial == nil ? steps.prefix(tried) : steps[...]
        let behind = steps.count { $0.operation >= marks.acknowledged.last ?? .max }
        context.require(behind, "no disk was opened on which all transactions were acknowledged")
        context.require(coverage.lacking, "no write was ever at risk: a loss of power could take nothing")
        if coverage.distinctLacking > 0 {
            context.require(steps.count(where: lostSomething), "no disk was opened that lost anything")
        }
    }

    /// Whether a write of the program is missing on a disk.
    private func lostSomething(_ step: CrashAddress.Step) -> Bool {
        let model = DiskModel(recorded.base, after: step.operation, of: recorded.operations, profile: rules.profile)
        return CrashPoint(model).parts(of: step.state).contains { part in
            if case .all = part.kept { false } else { true }
        }
    }

    // MARK: Choosing

    /// Some disks of each part of the script, in the order of the record: equally many of each part, however many
    /// transactions were acknowledged in it.
    func choose() throws -> (steps: [CrashAddress.Step], coverage: CrashCoverage) {
        try choose(most: context.integer("states"), total: context.integer("total"))
    }

    /// - Parameters:
    ///   - most: disks per part.
    ///   - first: the first crash point of all.
    func choose(
        most: Int, total: Int, from first: Int = 0
    ) throws -> (steps: [CrashAddress.Step], coverage: CrashCoverage) {
        let parts = marks.parts(operations: recorded.operations.count)
            .map { max($0.lowerBound, min(first, $0.upperBound))..<$0.upperBound }.filter { !$0.isEmpty }
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
            if !ConditionMistake.nothingLost.isPlanted || !lostSomething(state.step) { found[part].append(state.step) }
            return !context.isOverBudget
        }
        var chosen = zip(parts, found).flatMap { Self.first(share, of: $1, in: $0, &random) }
        for place in chosen.indices where chosen.count > total {
            chosen.swapAt(place, place + random.below(chosen.count - place))
        }
        chosen = Array(chosen.prefix(total))
        return (chosen.sorted { $0.operation < $1.operation }, coverage)
    }

    /// `count` crash points of a part, with its first and its last.
    private static func points(of part: Range<Int>, _ count: Int, _ random: inout RandomStream) -> Set<Int> {
        if part.count <= count { return Set(part) }
        var points: Set<Int> = [part.lowerBound, part.upperBound - 1]
        while points.count < count { points.insert(part.lowerBound + random.below(part.count)) }
        return points
    }

    /// Takes disks from the crash points of a part in turn. The first disk of each point is the one that lost all that
    /// it could. That of the part's first point, right after an acknowledgement, comes before all others.
    static func first(
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
}
