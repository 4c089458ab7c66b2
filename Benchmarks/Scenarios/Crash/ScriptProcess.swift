import CaseFiles
import Files
import Harness
import Measuring
import Platform
import ProgramTrials

/// A process that plays a script, possibly under a fault, and that may end early.
struct ScriptProcess {
    enum End: Equatable {
        case whole
        case signalled(Int32)
        case hung(seconds: Double)
        /// It exceeded the memory limit of a trial.
        case tooLarge(bytes: UInt64)
    }

    private static let memoryLimit: UInt64 = 1 << 30

    let events: [ScriptEvent]
    let end: End
    /// The last line of its standard error, where it ended by a signal.
    let lastWords: String
    /// The number of calls that the fault struck. For a limit at least 1 if the kernel ended the process for it, or if
    /// the engine reported an error.
    let struck: Int

    /// Plays the script at an empty location. Only the child has the fault.
    ///
    /// Throws: `HarnessError` for a failure that says nothing about the engine.
    init(
        _ context: CaseContext, at location: DatabaseLocation, _ operations: [ScriptOperation],
        _ fault: ScriptFault = ScriptFault(), witness: IOWitness, seconds: Double = 20
    ) throws {
        // The child counts in memory shared with this process, so that the count survives it.
        if fault.isThere { _ = witness.setFault(nil) }
        let strikesBefore = fault.isThere ? fault.strikes(witness) : 0
        let errorFile = context.trialDirectory + "/history.stderr"
        let child = try ForkedChild.start(errorFile: errorFile) { output in
            let part = ScriptPart(context: context, location: location, operations: operations, fault: fault)
            return part.play(witness, tellingOn: output)
        }
        defer { if fault.isThere { _ = witness.setFault(nil) } }
        let timeout = ProcessTimeout(for: child.processID)
        var said: [UInt8] = []
        var stopped: End?
        while child.receive(into: &said, milliseconds: 50), stopped == nil {
            if timeout.isOver(seconds: seconds) { stopped = .hung(seconds: seconds) }
            if let bytes = ProcessFile.anonymousBytes(processID: child.processID), bytes > Self.memoryLimit {
                stopped = .tooLarge(bytes: bytes)
            }
            if stopped != nil { child.kill() }
        }
        let end = child.wait()
        events = ScriptEvent.list(said)
        for case .broke(let reason) in events { throw HarnessError("a script broke: \(reason)") }
        let strikes = fault.isThere ? fault.strikes(witness) - strikesBefore : 0
        struck = strikes > 0 ? strikes : Self.isStruck(events, end, fault) ? 1 : 0
        if case .signalled = end, stopped == nil {
            lastWords = Self.lastLine(of: errorFile)
        } else {
            lastWords = ""
        }
        if let stopped {
            self.end = stopped
            return
        }
        switch end {
        case .signalled(let signal): self.end = .signalled(signal)
        case .exited(0): self.end = .whole
        case .exited(let status): throw HarnessError("a script ended with status \(status)")
        }
    }

    /// Whether a limit shows as an error or as the end of the process. Some calls that a limit denies are not seen by
    /// the library: mappings by the C library, stores through a mapping without disk space. Faults that the library
    /// injects are counted by it.
    private static func isStruck(_ events: [ScriptEvent], _ end: ChildEnd, _ fault: ScriptFault) -> Bool {
        guard fault.isThere, fault.call == nil else { return false }
        if case .signalled(let signal) = end, signal != SIGKILL { return true }
        return events.contains { if case .failed = $0 { true } else { false } }
    }

    /// The message of a failed assertion or an uncaught exception, shortened.
    private static func lastLine(of file: String) -> String {
        do {
            let text = try FileTree.readText(file)
            let reason = CrashText.reason(text)
            if !reason.isEmpty { return reason }
            return text.split(separator: "\n").last.map { String($0.prefix(300)) } ?? ""
        } catch {
            return ""
        }
    }

    /// Calls by kind, of a complete script.
    var calls: ScriptCalls {
        var calls = ScriptCalls()
        for case .counted(let kind, let count) in events { calls.counts[kind] = count }
        return calls
    }

    /// Steps that ended with an error.
    var failures: Int {
        events.count { if case .failed = $0 { true } else { false } }
    }
}

/// The child: plays the script, and reports to its parent.
private struct ScriptPart {
    let context: CaseContext
    let location: DatabaseLocation
    let operations: [ScriptOperation]
    let fault: ScriptFault

    /// Returns: the exit status: 3 if a failure of the harness was reported, 2 if not even that was possible.
    func play(_ witness: IOWitness, tellingOn output: Int32) -> Int32 {
        var needs = fault.isMeasured ? ScriptNeeds(location) : nil
        func tell(_ event: ScriptEvent) throws {
            needs?.look()
            try FileTree.writeAll(output, Array("\(event.line)\n".utf8), path: "the pipe of a script")
        }
        do {
            do {
                // Calls on files for locks and coordination can fail as well as others.
                _ = witness.setIgnoredNames([])
                guard witness.setFault(fault.call?.words) else {
                    throw HarnessError("the preloaded library does not know \(fault.call?.words ?? "no fault")")
                }
                try fault.begin?()
                var player = ScriptPlayer(context, at: location, operations, fault, tell: tell)
                try player.play()
                for event in needs?.events ?? [] { try tell(event) }
                let kinds = CallKind.allCases.map(\.rawValue) + ScriptCalls.unstruckKinds
                for kind in kinds { try tell(.counted(kind, witness.faultCount(kind))) }
            } catch {
                try tell(.broke("\(error)"))
                return 3
            }
        } catch {
            return 2
        }
        return 0
    }
}
