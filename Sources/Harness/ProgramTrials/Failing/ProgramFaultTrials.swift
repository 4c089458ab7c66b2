import FaultModel
import Files
import Harness
import Measuring
import RunRecords
import Seeds

/// Runs the user's program once for each fault in a copy of a directory, and checks the files that it left there.
package struct ProgramFaultTrials: Sendable {
    /// Environment variable of the check: a file with the lines that the program printed before it ended.
    package static let acknowledgedVariable = "ASSAY_ACKNOWLEDGED"
    private static let memoryLimit = 64 << 20

    /// The program and its arguments, with `{}` for the directory.
    package let words: [String]
    package let check: CheckCommand
    package let library: String
    /// Initial content of each copy; nil: an empty directory.
    package var original: String?
    /// The directory of the copies.
    package let directory: String
    package var output = WatchedProgram.Output.terminal
    package var limitSeconds: Double?
    package var ignoredNames: [String] = []
    package var lanes = TrialLanes.processors
    package var seed = Seed(1)

    package init(_ words: [String], check: CheckCommand, library: String, directory: String) {
        self.words = words
        self.check = check
        self.library = library
        self.directory = directory
    }

    /// The run without a fault.
    package struct Baseline: Sendable {
        package let state: FaultState
        package let durationNanoseconds: UInt64
        /// The check also accepts the directory from before the run together with all lines of the run: it does not
        /// notice lost data.
        package let isCheckBlind: Bool
        package let lineCount: Int
        /// The program's calls that bypassed the library, as text: no fault can strike them.
        package let past: [String]
    }

    /// One run of the program.
    private struct Ran {
        var end: WatchedEnd
        var state: FaultState
        /// This process killed the program at the chosen moment.
        var isKilled = false
        var place: Place

        var lines: ArraySlice<UInt8> {
            let end = end.output.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            return self.end.output[..<end]
        }
    }

    private struct Place {
        let directory: String
        var data: String { directory + "/data" }
        var state: String { directory + "/state" }
        var acknowledged: String { directory + "/acknowledged" }

        /// The last line that a program or a check printed, without the paths of this run.
        func lastLine(_ end: WatchedEnd) -> String {
            CheckCommand.lastLine(end, hiding: [data, directory])
        }
    }

    // MARK: Without a fault

    /// Throws: `TrialRefusal` if no trial could decide anything.
    package func baseline() throws -> Baseline {
        let ran = try run(nil, in: Place(directory: directory + "/baseline"))
        let end = ran.end
        guard ran.state.programs > 0 else {
            throw TrialRefusal(
                "the program did not load \(library), so that none of its calls can be made to fail: is it linked "
                    + "statically, or does it empty its environment?")
        }
        guard end.hasSucceeded else {
            throw TrialRefusal(
                "the program fails without any fault: it \(end.summary): \(CheckCommand.lastLine(end))")
        }
        guard !end.isOutputCut else { throw TrialRefusal("the program prints more than 64 MiB") }
        let checked = try checked(ran)
        if let refusal = CheckCommand.refusal(checked) { throw TrialRefusal("--check: \(refusal)") }
        guard checked.hasSucceeded else {
            throw TrialRefusal(
                "the check fails after a run without any fault: it \(checked.summary): "
                    + CheckCommand.lastLine(checked))
        }
        guard ran.state.count(CallKind.allCases) > 0 else {
            throw TrialRefusal(
                "the program made no call to a file below the directory that {} stands for: is that where its files "
                    + "are?")
        }
        try prepare(ran.place)
        let isBlind = try self.checked(ran).hasSucceeded
        try FileTree.remove(ran.place.directory)
        let past = try past()
        return Baseline(
            state: ran.state, durationNanoseconds: end.durationNanoseconds, isCheckBlind: isBlind,
            lineCount: ran.lines.count { $0 == UInt8(ascii: "\n") }, past: past)
    }

    /// Runs the program once more under the recorder, and returns its calls that the library did not see.
    private func past() throws -> [String] {
        let place = Place(directory: directory + "/recorded")
        try FileTree.remove(place.directory)
        try prepare(place)
        var program = WatchedProgram(
            words.map { $0.replacing(CheckCommand.placeholder, with: place.data) }, library: library)
        program.output = output
        program.outputLimit = Self.memoryLimit
        program.limitSeconds = limitSeconds ?? 60
        let past: [String]
        do {
            let volatile = try VolatileNames(adding: ignoredNames, to: [])
            let recorder = try Recorder(program, directory: place.data, volatile: volatile, in: place.directory)
            let run = try recorder.run()
            past = run.past + (run.end.hasSucceeded ? [] : ["under the recorder the program \(run.end.summary)"])
        } catch let refusal as TrialRefusal {
            past = ["what the program did could not be compared with its files: \(refusal)"]
        }
        try FileTree.remove(place.directory)
        return past
    }

    // MARK: Trials

    /// Runs the trials, without those whose call cannot be struck in that way.
    package func run(
        _ faults: [CallFault], _ baseline: Baseline, progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws -> LaneResults<ProgramFaultTrial> {
        let trials = try TrialLanes.run(faults.count, lanes: lanes, progress: progress) { index, lane in
            try run(faults[index], baseline, in: directory + "/lane\(lane)")
        }
        return LaneResults(trials.outputs.compactMap { $0 }, isInterrupted: trials.isInterrupted)
    }

    /// The most runs of one trial that kills at a moment: a short program may end before the kill comes. With 6 runs
    /// beside compilers, a program of some milliseconds ended before each of them in one of 20 trials.
    private static let mostAttempts = 24

    /// Nil if the call cannot be struck in that way. `keeps`: leaves the directory as the check found it.
    package func run(
        _ fault: CallFault, _ baseline: Baseline, in directory: String, keeps: Bool = false
    ) throws -> ProgramFaultTrial? {
        let place = Place(directory: directory)
        var ran = try run(fault, in: place, moment: moment(of: fault, baseline, attempt: 0))
        // A run may be faster than the baseline, and on a busy machine this process may be woken after its end.
        if case .killAtMoment = fault {
            for attempt in 1..<Self.mostAttempts where !ran.isKilled {
                ran = try run(fault, in: place, moment: moment(of: fault, baseline, attempt: attempt))
            }
        }
        if ran.state.isMisread { throw TrialRefusal("the preloaded library does not know the fault \(fault)") }
        if ran.state.struck == 0, ran.state.isInapplicable { return nil }
        let trial = try judge(fault, ran, baseline)
        if !keeps { try FileTree.remove(directory) }
        return trial
    }

    private func judge(_ fault: CallFault, _ ran: Ran, _ baseline: Baseline) throws -> ProgramFaultTrial {
        let end = ran.end
        let said = "the program \(end.summary)" + (end.errors.isEmpty ? "" : ": \(ran.place.lastLine(end))")
        func trial(_ outcome: ProgramFaultOutcome, _ detail: String) -> ProgramFaultTrial {
            ProgramFaultTrial(fault: fault, outcome: outcome, detail: detail)
        }
        if end.isTimeOut { return trial(.hung, said) }
        let isStruck = ran.isKilled || ran.state.struck > 0
        guard isStruck else { return trial(.notStruck, said) }
        let signal = ProgramCrash.signal(of: end.end)
        if fault.isKill {
            guard signal != nil else { return trial(.notStruck, "the kill did not end it: \(said)") }
        } else if signal != nil {
            return trial(.crashed, said)
        }
        let checked = try checked(ran)
        guard checked.hasSucceeded else {
            return trial(.broken, "the check \(checked.summary): \(ran.place.lastLine(checked)) (\(said))")
        }
        if fault.isKill { return trial(.survived, "") }
        guard end.end == .exited(0) else { return trial(.reported, said) }
        return trial(isCompleted(fault, ran.state, baseline.state) ? .completed : .notNoticed, said)
    }

    /// Whether a call that transferred half was followed by one for the rest that did not fail.
    private func isCompleted(_ fault: CallFault, _ state: FaultState, _ baseline: FaultState) -> Bool {
        guard case .fails(_, _, .short, false) = fault, let kind = state.struckKind else { return false }
        return state.count(kind) > baseline.count(kind)
    }

    // MARK: One run

    private func prepare(_ place: Place) throws {
        try FileTree.remove(place.data)
        if let original {
            try FileTree.createDirectory(place.directory)
            try FileTree.copy(from: original, to: place.data)
        } else {
            try FileTree.createDirectory(place.data)
        }
    }

    private func run(_ fault: CallFault?, in place: Place, moment: Double? = nil) throws -> Ran {
        try FileTree.remove(place.directory)
        try prepare(place)
        try FaultState.make(place.state)
        var program = WatchedProgram(
            words.map { $0.replacing(CheckCommand.placeholder, with: place.data) }, library: library)
        program.output = output
        program.outputLimit = Self.memoryLimit
        program.limitSeconds = limitSeconds ?? 60
        program.variables = [
            "ASSAY_IO_ROOT=\(place.data)", "ASSAY_IO_IGNORED_NAMES=\(ignoredNames.joined(separator: ":"))",
            "\(FaultState.variable)=\(place.state)",
        ]
        if let words = fault?.words { program.variables.append("\(FaultState.faultVariable)=\(words)") }
        let (end, isKilled) = try follow(program, killingAfter: moment)
        return Ran(end: end, state: try FaultState(reading: place.state), isKilled: isKilled, place: place)
    }

    private func follow(
        _ program: WatchedProgram, killingAfter moment: Double?
    ) throws -> (end: WatchedEnd, isKilled: Bool) {
        guard let moment else { return (try program.run(), false) }
        let running = try program.start()
        let start = MonotonicClock.now()
        while case let left = moment - Double(MonotonicClock.now() &- start) / 1e9, left > 0 {
            if let end = try running.advance(waiting: min(0.02, left)) { return (end, false) }
        }
        running.killAll()
        while true {
            if let end = try running.advance(waiting: 0.02) { return (end, end.end == .signalled(9)) }
        }
    }

    private func checked(_ ran: Ran) throws -> WatchedEnd {
        try FileTree.writeBytes(ran.place.acknowledged, ran.lines)
        return try check.run(
            ran.place.data, variables: ["\(Self.acknowledgedVariable)=\(ran.place.acknowledged)"])
    }

    /// Seconds from the start; each attempt halves the time of the one before.
    private func moment(of fault: CallFault, _ baseline: Baseline, attempt: Int) -> Double? {
        guard case .killAtMoment(let number) = fault else { return nil }
        var random = RandomStream(seed.derived("moments").derived(UInt64(number)))
        let share = Double(random.below(1_000_000)) / 1_000_000
        return share * Double(baseline.durationNanoseconds) / 1e9 / Double(1 << attempt)
    }
}
