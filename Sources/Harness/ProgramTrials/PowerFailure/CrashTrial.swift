import FaultModel
import Files
import Harness
import Seeds

/// A possible state of the disk after a power failure that the check does not accept.
package struct CrashFinding: Sendable {
    package var address: CrashAddress
    /// The last line that the check printed, and how it ended.
    package var message: String
    package var ending: String
    /// Whether a second check of the same disk ended in the same way.
    package var isSteady: Bool
}

/// The outcome of all tried states.
package struct CrashOutcome: Sendable {
    package var coverage = CrashCoverage()
    /// The number of states chosen for the check, and of those checked.
    package var chosen = 0
    package var checked = 0
    package var findings: [CrashFinding] = []
    /// An interrupt came before all were checked.
    package var isInterrupted = false
}

/// Checks every state of the disk that a power failure may have left of a recorded run.
package struct CrashTrial: Sendable {
    /// Environment variable of the check: the file with the lines that the program had printed.
    package static let acknowledgedVariable = "ASSAY_ACKNOWLEDGED"

    package let run: TracedRun
    package let check: CheckCommand
    package let rules: CrashRules
    package let seed: Seed
    package let limit: Int
    /// The directory for the states.
    private let place: String
    private let lanes: Int
    /// Operations after which the power fails; nil for all.
    private let points: Set<Int>?

    /// - Parameters:
    ///   - limit: the maximum number of checked states; 0: all of them.
    ///   - place: a directory for the states.
    package init(
        _ run: TracedRun, check: CheckCommand, profile: CrashProfile, limit: Int, seed: Seed, in place: String,
        lanes: Int = TrialLanes.processors
    ) {
        self.run = run
        self.place = place
        self.lanes = max(1, lanes)
        self.check = check
        self.limit = limit
        self.seed = seed
        var rules = CrashRules()
        rules.profile = profile
        var points: Set<Int>?
        if limit > 0 {
            // A check is a process, so only states that may be checked are built: of more operations than the limit, as
            // many as the limit are drawn, with the first and the last.
            let all = run.operations.count + 1
            if all > limit {
                var random = RandomStream(seed.derived(1))
                points = Set(Self.sample(Array(0..<all), limit, &random)).union([0, all - 1])
            }
            let share = max(8, 16 * limit / min(all, limit))
            rules.exhaustiveUnits = share >= 256 ? 8 : 4
            rules.sampleCount = min(100, share / 2)
            rules.singleLimit = min(64, max(2, share / 8))
            rules.pairLimit = min(16, max(2, share / 16))
        }
        self.points = points
        self.rules = rules
    }

    /// Checks the directory as the program left it and as it was before the run; a check has to accept both.
    ///
    /// Returns: whether the check also accepts the earlier directory together with all that the program printed: then
    /// it does not notice lost data.
    /// Throws: `TrialRefusal` if the check fails or cannot be run, or if the program itself failed.
    package func isCheckBlind() throws -> Bool {
        guard run.end.hasSucceeded else {
            throw TrialRefusal(
                "the program fails without any loss of power: it \(run.end.summary): \(lastLine(run.end))")
        }
        guard check.namesPath else {
            throw TrialRefusal("the check has no {}, which is replaced by the path of each disk: \(check.text)")
        }
        let last = run.operations.count
        let finished = DiskModel(run.base, after: last, of: run.operations).current
        let end = try look(at: finished, operation: last, acknowledged: run.acknowledged(at: .max))
        if let refusal = CheckCommand.refusal(end) { throw TrialRefusal("the check \(check.text): \(refusal)") }
        guard end.hasSucceeded else {
            throw TrialRefusal(
                "the check fails on what the program itself left (it \(end.summary)): \(lastLine(end))")
        }
        let start = try look(at: run.base, operation: 0, acknowledged: run.acknowledged(at: 0))
        guard start.hasSucceeded else {
            throw TrialRefusal(
                "the check fails on the directory as it was before the program did anything (it \(start.summary)): "
                    + "\(lastLine(start)); a loss of power may come that early")
        }
        return try look(at: run.base, operation: 0, acknowledged: run.acknowledged(at: .max)).hasSucceeded
    }

    /// - Parameter progress: called with the number of checked states, and the total.
    package func sweep(progress: (Int, Int) -> Void = { _, _ in }) throws -> CrashOutcome {
        var outcome = CrashOutcome()
        let chosen = try choose(&outcome)
        outcome.chosen = chosen.count
        var waiting: [CrashState] = []
        func look() throws {
            let states = waiting
            waiting = []
            let looks = try TrialLanes.run(states.count, lanes: lanes) { index, lane in
                try self.look(at: states[index].image, step: states[index].step, lane: lane)
            }
            outcome.checked += looks.outputs.count
            outcome.findings += looks.outputs.compactMap { $0 }
            if looks.isInterrupted { throw WorkInterrupted() }
            progress(outcome.checked, chosen.count)
        }
        let sweep = CrashSweep(base: run.base, trace: run.operations, rules: rules, seed: seed)
        do {
            try sweep.build(chosen) { state throws in
                waiting.append(state)
                if waiting.count >= 16 * lanes { try look() }
            }
            try look()
        } catch is WorkInterrupted {
            outcome.isInterrupted = true
        }
        return outcome
    }

    /// Checks one state.
    ///
    /// Throws: `TrialRefusal` for an address that the run does not have.
    package func look(at address: CrashAddress) throws -> CrashFinding? {
        guard address.steps.count == 1, let step = address.steps.first, !step.isKill else {
            throw TrialRefusal("\(address) is no loss of power of its own: crash:op=N,state=0xN")
        }
        let sweep = CrashSweep(base: run.base, trace: run.operations, rules: rules, seed: seed)
        guard let image = sweep.image(at: step) else {
            throw TrialRefusal(
                "this run has no state \(address): it has \(run.operations.count) operations, and a state names what "
                    + "was undecided before one of them")
        }
        return try look(at: image, step: step)
    }

    /// The outcome of each undecided operation in a state, for people.
    package func description(of step: CrashAddress.Step) -> [String] {
        run.description(of: step, profile: rules.profile)
    }

    /// Builds a state in a directory, and beside it a file of the lines that the program had printed by then.
    package func keep(_ step: CrashAddress.Step, at path: String) throws {
        let sweep = CrashSweep(base: run.base, trace: run.operations, rules: rules, seed: seed)
        guard let image = sweep.image(at: step) else { return }
        try FileTree.createDirectory(path + "/files")
        try run.build(image, at: step.operation, in: path + "/files")
        try FileTree.writeBytes(path + "/acknowledged", run.acknowledged(at: step.operation))
        let text = description(of: step).joined(separator: "\n")
        try FileTree.writeText(path + "/what-happened", "\(CrashAddress([step]))\n\(text)\n")
    }

    // MARK: States

    private func context(_ operation: Int) -> UInt64 { UInt64(run.acknowledgedCount(at: operation)) }

    /// Chooses the distinct states to check. Among them, for each operation and as far as the limit allows, are the
    /// state without any undecided operation and the state with all of them.
    private func choose(_ outcome: inout CrashOutcome) throws -> [CrashAddress.Step] {
        var sweep = CrashSweep(base: run.base, trace: run.operations, rules: rules, seed: seed)
        var ends: [CrashAddress.Step] = []
        var others: [CrashAddress.Step] = []
        var lastOperation = -1
        outcome.coverage = try sweep.visit(isVisited: { points?.contains($0) ?? true }, context: context) {
            state throws in
            if Interruption.isRequested { throw WorkInterrupted() }
            let isFirst = state.step.operation != lastOperation
            lastOperation = state.step.operation
            if isFirst || state.step.state == StateMask() { ends.append(state.step) } else { others.append(state.step) }
            return true
        }
        guard limit > 0, ends.count + others.count > limit else { return ends + others }
        var random = RandomStream(seed.derived(UInt64(run.operations.count)))
        // Half of the limit is for the states between the two ends, if there are that many.
        let chosen = Self.sample(ends, max(limit / 2, limit - others.count), &random)
        return chosen + Self.sample(others, limit - chosen.count, &random)
    }

    private static func sample<Element>(_ all: [Element], _ count: Int, _ random: inout RandomStream) -> [Element] {
        guard count < all.count else { return all }
        var all = all
        for place in 0..<count { all.swapAt(place, place + random.below(all.count - place)) }
        return Array(all[..<count])
    }

    private func look(at image: DiskImage, step: CrashAddress.Step, lane: Int = 0) throws -> CrashFinding? {
        let words = run.acknowledged(at: step.operation)
        let end = try look(at: image, operation: step.operation, acknowledged: words, lane: lane)
        if end.hasSucceeded { return nil }
        let second = try look(at: image, operation: step.operation, acknowledged: words, lane: lane)
        return CrashFinding(
            // The message hides the directory of the state, which differs in each check.
            address: CrashAddress([step]),
            message: lastLine(end, lane: lane),
            ending: end.summary,
            isSteady: second.end == end.end && second.isTimeOut == end.isTimeOut)
    }

    private func lastLine(_ end: WatchedEnd, lane: Int = 0) -> String {
        CheckCommand.lastLine(end, hiding: ["\(place)/disk\(lane)", "\(place)/data"])
    }

    private func look(
        at image: DiskImage, operation: Int, acknowledged: [UInt8], lane: Int = 0
    ) throws -> WatchedEnd {
        let directory = "\(place)/disk\(lane)"
        let words = "\(place)/acknowledged\(lane)"
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        var image = image
        image.dropUnnamed()
        try run.build(image, at: operation, in: directory)
        try FileTree.writeBytes(words, acknowledged)
        return try check.run(directory, variables: ["\(Self.acknowledgedVariable)=\(words)"])
    }
}
