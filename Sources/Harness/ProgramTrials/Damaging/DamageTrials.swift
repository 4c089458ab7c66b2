import FaultModel
import Files
import Harness

/// One damage, and the result of the read command on it.
package struct DamageTrial: Sendable {
    package var damage: FileDamage
    package var outcome: DamageOutcome
    /// The first difference, the command's last line, or the signal.
    package var detail: String
}

/// Damages copies of files in one place each, and compares the output of the user's read command with its output for
/// the undamaged files.
package struct DamageTrials: Sendable {
    package let subject: DamageSubject
    package let command: CheckCommand
    /// The directory of the copies.
    package let directory: String
    package var older: DamagedFiles?
    package var pageSize = 4_096
    package var ignored: [String] = []
    /// Bytes of memory that the command and its children may use.
    package var memoryLimit = 1 << 30
    package var lanes = TrialLanes.processors

    package init(_ subject: DamageSubject, command: CheckCommand, directory: String) {
        self.subject = subject
        self.command = command
        self.directory = directory
    }

    package var files: DamagedFiles { subject.files }

    // MARK: The undamaged copy

    /// The command's output for undamaged files, the same in two runs.
    ///
    /// Throws: `TrialRefusal` if no output could be compared with it.
    package func reference() throws -> PrintedLines {
        var printed: [PrintedLines] = []
        for name in ["undamaged", "undamaged-again"] {
            let reading = try read(nil, in: directory + "/" + name)
            let end = reading.end
            guard !reading.isTooLarge else {
                throw TrialRefusal("the read command takes more than \(memoryLimit >> 20) MiB: --memory-limit")
            }
            if let refusal = CheckCommand.refusal(end) { throw TrialRefusal("--read: \(refusal)") }
            guard end.hasSucceeded else {
                throw TrialRefusal(
                    "the read command fails on an undamaged copy: it \(end.summary): \(CheckCommand.lastLine(end)); "
                        + "are all files of the database named?")
            }
            guard !end.isOutputCut else {
                throw TrialRefusal(
                    "the read command prints more than \(command.outputLimit >> 20) MiB: let it print a digest")
            }
            printed.append(reading.lines)
        }
        if let difference = printed[1].difference(from: printed[0]) {
            throw TrialRefusal(
                "the read command prints something else each time (\(difference)), so that nothing can be compared "
                    + "with it; --ignore PATTERN leaves lines out")
        }
        guard printed[0].lines.contains(where: { !$0.isEmpty }) else {
            throw TrialRefusal("the read command prints nothing: let it print what it reads")
        }
        return printed[0]
    }

    // MARK: Trials

    /// Runs the trials, without those that change no byte.
    package func run(
        _ damages: [FileDamage], against reference: PrintedLines, progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws -> LaneResults<DamageTrial> {
        let trials = try TrialLanes.run(damages.count, lanes: lanes, progress: progress) { index, lane in
            try run(damages[index], against: reference, in: directory + "/lane\(lane)")
        }
        return LaneResults(trials.outputs.compactMap { $0 }, isInterrupted: trials.isInterrupted)
    }

    /// Nil if the damage changes no byte.
    package func run(
        _ damage: FileDamage, against reference: PrintedLines, in directory: String
    ) throws -> DamageTrial? {
        guard let change = files.change(damage, pageSize: pageSize, older: older) else { return nil }
        let reading = try read(change, in: directory)
        if reading.isTooLarge {
            return DamageTrial(damage: damage, outcome: .memoryLimit, detail: "more than \(memoryLimit >> 20) MiB")
        }
        let (outcome, detail) = Self.judge(reading.end, reading.lines, against: reference, hiding: [directory])
        return DamageTrial(damage: damage, outcome: outcome, detail: detail)
    }

    private struct Reading {
        var end: WatchedEnd
        var isTooLarge: Bool
        var lines: PrintedLines
    }

    /// Writes a fresh copy with the change, and runs the read command on it.
    private func read(_ change: FileChange?, in directory: String) throws -> Reading {
        try subject.write(change, to: directory)
        let path = subject.name.isEmpty ? directory : directory + "/" + subject.name
        let (end, isTooLarge) = try follow(command.program(path))
        try FileTree.remove(directory)
        let lines = PrintedLines(end.output, directory: directory, ignoring: ignored)
        return Reading(end: end, isTooLarge: isTooLarge, lines: lines)
    }

    /// Runs the program until it ends; kills it if it exceeds the memory limit.
    private func follow(_ program: WatchedProgram) throws -> (WatchedEnd, Bool) {
        let running = try program.start()
        var isTooLarge = false
        while true {
            if let end = try running.advance(waiting: 0.02) { return (end, isTooLarge) }
            if !isTooLarge, ProcessMemory.residentBytes(of: running.processID) > memoryLimit {
                isTooLarge = true
                running.killAll()
            }
        }
    }

    /// The outcome, from the end and the output of the command alone.
    ///
    /// - Parameter hidden: the path of the copy, which differs each time.
    package static func judge(
        _ end: WatchedEnd, _ lines: PrintedLines, against reference: PrintedLines, hiding hidden: [String] = []
    ) -> (DamageOutcome, String) {
        if end.isTimeOut { return (.hung, end.summary) }
        if let signal = ProgramCrash.signal(of: end.end) {
            return (.crashed, "signal \(signal): \(CheckCommand.lastLine(end, hiding: hidden))")
        }
        if end.end == .exited(0) {
            guard let difference = lines.difference(from: reference) else { return (.correct, "") }
            return (.silentlyWrong, difference)
        }
        if lines.isBeginning(of: reference) { return (.detected, CheckCommand.lastLine(end, hiding: hidden)) }
        let difference = lines.difference(from: reference) ?? ""
        return (.wrongThenDetected, "\(difference); then it \(end.summary)")
    }
}
