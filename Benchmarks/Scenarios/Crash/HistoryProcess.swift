import CaseFiles
import Harness
import Measuring
import ProgramTrials
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A history played in a process of its own, which may meet a trouble and may end in the middle.
struct HistoryProcess {
    enum End: Equatable {
        case whole
        case signalled(Int32)
        case hung(seconds: Double)
        /// It held more memory than a trial may.
        case tooLarge(bytes: UInt64)
    }

    private static let memoryLimit: UInt64 = 1 << 30

    let events: [HistoryEvent]
    let end: End
    /// The last line of its standard error, where it ended by a signal.
    let lastWords: String
    /// Calls that the trouble struck; 1 where the system ended the process for it, or the engine told of an error.
    let struck: Int

    /// Plays it at an empty location. Nobody but this process and its child has the trouble.
    ///
    /// Throws: `HarnessError` for what says nothing about the engine.
    init(
        _ context: CaseContext, at location: DatabaseLocation, _ operations: [HistoryOperation],
        _ trouble: HistoryTrouble = HistoryTrouble(), witness: IOWitness, seconds: Double = 20
    ) throws {
        // The child counts in memory of this process, so that the count outlives it.
        if trouble.isThere { _ = witness.setFault(nil) }
        let strikesBefore = trouble.isThere ? trouble.strikes(witness) : 0
        let errorFile = context.trialDirectory + "/history.stderr"
        let child = try ForkedChild.start(errorFile: errorFile) { output in
            let part = HistoryPart(context: context, location: location, operations: operations, trouble: trouble)
            return part.play(witness, tellingOn: output)
        }
        defer { if trouble.isThere { _ = witness.setFault(nil) } }
        let patience = Patience(for: child.processID)
        var said: [UInt8] = []
        var stopped: End?
        while child.receive(into: &said, milliseconds: 50), stopped == nil {
            if patience.isOver(seconds: seconds) { stopped = .hung(seconds: seconds) }
            if let bytes = ProcessFile.anonymousBytes(processID: child.processID), bytes > Self.memoryLimit {
                stopped = .tooLarge(bytes: bytes)
            }
            if stopped != nil { child.kill() }
        }
        let end = child.wait()
        events = HistoryEvent.list(said)
        for case .broke(let reason) in events { throw HarnessError("a history broke: \(reason)") }
        let strikes = trouble.isThere ? trouble.strikes(witness) - strikesBefore : 0
        struck = strikes > 0 ? strikes : Self.isStruck(events, end, trouble) ? 1 : 0
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
        case .exited(let status): throw HarnessError("a history ended with status \(status)")
        }
    }

    /// What calls are denied that the library does not see (maps of the C library's own, stores through a map that has
    /// no room) shows in an error or in the end. A fault of the library's own is counted.
    private static func isStruck(_ events: [HistoryEvent], _ end: ChildEnd, _ trouble: HistoryTrouble) -> Bool {
        guard trouble.isThere, trouble.fault == nil else { return false }
        if case .signalled(let signal) = end, signal != SIGKILL { return true }
        return events.contains { if case .failed = $0 { true } else { false } }
    }

    /// An assertion that failed, an exception that nobody caught: in the program's own words, shortened.
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

    /// Calls by kind, of a history that came to its end.
    var calls: HistoryCalls {
        var calls = HistoryCalls()
        for case .counted(let kind, let count) in events { calls.counts[kind] = count }
        return calls
    }

    /// Steps that an error ended.
    var failures: Int {
        events.count { if case .failed = $0 { true } else { false } }
    }
}

/// What the child does: it plays, and tells the process that started it.
private struct HistoryPart {
    let context: CaseContext
    let location: DatabaseLocation
    let operations: [HistoryOperation]
    let trouble: HistoryTrouble

    /// Returns the status to end with: 3 after telling what broke, 2 where nothing can be told.
    func play(_ witness: IOWitness, tellingOn output: Int32) -> Int32 {
        var needs = trouble.isMeasured ? HistoryNeeds(location) : nil
        func tell(_ event: HistoryEvent) throws {
            needs?.look()
            try FileTree.writeAll(output, Array("\(event.line)\n".utf8), path: "the pipe of a history")
        }
        do {
            do {
                // The files that engines lock and talk through can fail as well as others.
                _ = witness.setIgnoredNames([])
                guard witness.setFault(trouble.fault?.words) else {
                    throw HarnessError("the preloaded library does not know \(trouble.fault?.words ?? "no fault")")
                }
                try trouble.begin?()
                var player = HistoryPlayer(context, at: location, operations, trouble, tell: tell)
                try player.play()
                for event in needs?.events ?? [] { try tell(event) }
                let kinds = CallKind.allCases.map(\.rawValue) + HistoryCalls.unstruckKinds
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
