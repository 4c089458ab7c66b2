import CaseFiles
import Harness
import Measuring
import ProgramTrials
import RunRecords

/// A history played in a process of its own, which may have a call fail and may end in the middle.
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
    /// Calls that the fault struck.
    let struck: Int

    /// Plays it at an empty location. Where a fault is given, nobody but this process and its child has it.
    ///
    /// Throws: `HarnessError` for what says nothing about the engine.
    init(
        _ context: CaseContext, at location: DatabaseLocation, _ operations: [HistoryOperation],
        fault: CallFault? = nil, witness: IOWitness, seconds: Double = 20
    ) throws {
        // The child counts in memory of this process, so that the count outlives it.
        if fault != nil { _ = witness.setFault(nil) }
        let child = try ForkedChild.start { output in
            func tell(_ event: HistoryEvent) throws {
                try FileTree.writeAll(output, Array("\(event.line)\n".utf8), path: "the pipe of a history")
            }
            do {
                do {
                    // The files that engines lock and talk through can fail as well as others.
                    _ = witness.setIgnoredNames([])
                    guard witness.setFault(fault?.words) else {
                        throw HarnessError("the preloaded library does not know the fault \(fault?.words ?? "")")
                    }
                    var player = HistoryPlayer(
                        context, at: location, operations, closes: Self.closes(fault), tell: tell)
                    try player.play()
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
        defer { if fault != nil { _ = witness.setFault(nil) } }
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
        struck = fault == nil ? 0 : witness.faultCount("struck")
        for case .broke(let reason) in events { throw HarnessError("a history broke: \(reason)") }
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

    /// Every other fault leaves the database as a kill would: what was acknowledged in memory alone is missing then.
    private static func closes(_ fault: CallFault?) -> Bool {
        if case .fails(_, let number, _, _)? = fault { number % 2 == 0 } else { true }
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

/// The file calls of a history.
struct HistoryCalls: CallCounting {
    /// What no fault strikes.
    static let unstruckKinds = ["unseen", "maps", "streams"]

    var counts: [String: Int] = [:]

    func count(_ kind: CallKind) -> Int { counts[kind.rawValue] ?? 0 }

    /// For a report: what was struck, and what could not be.
    var words: String {
        let struck = CallKind.allCases.filter { count($0) > 0 }.map { "\(count($0)) \($0.rawValue)" }
        var words = "\(count(CallKind.allCases)) file calls in a history: \(struck.joined(separator: ", "))"
        let missing = [
            ("unseen", "system calls by number"), ("maps", "shared writable maps, whose stores are no calls"),
            ("streams", "streams of the C library that write"),
        ].compactMap { kind, text in counts[kind].flatMap { $0 > 0 ? "\($0) \(text)" : nil } }
        if !missing.isEmpty { words += "; NOT STRUCK: \(missing.joined(separator: ", "))" }
        return words
    }
}
