import Files
import Measuring
import Platform
import RunRecords

/// The result of one trial of a sweep.
package enum TrialEnd: Sendable, Equatable {
    case tried(Trial)
    /// The trial says nothing about the engine: its process ended without a report, or the harness failed.
    case broken(String)
}

/// Runs trials in forked children, many trials per child, so that a crash costs only the trial that it happened in.
///
/// A child reports the number of each trial before it begins, and its outcome after it. A child may die by a signal,
/// report nothing for longer than a trial may take, or exceed its memory limit: then this is the outcome of its current
/// trial, and a new child continues with the next one. An `exit` by the engine counts as a crash (`ExitInsideCall`). An
/// end by `_exit` without a report is not an outcome of the engine: the trial is broken.
package struct TrialRunner {
    package var secondsPerTrial: Double
    package var memoryLimitBytes: UInt64
    /// The most trials per child, which bounds the memory that a leak in the engine can add up to.
    package var trialsPerChild = 256
    package var childCount = standardChildCount
    package static let standardChildCount = 2
    /// On the monotonic clock. Trials that have not begun by then are left out.
    package var deadline: UInt64
    /// The directory below which each child gets a directory of its own.
    package var scratchDirectory: String
    /// Further directories in which trials keep files.
    package var watchedDirectories: [String] = []

    package init(secondsPerTrial: Double, memoryLimitBytes: UInt64, deadline: UInt64, scratchDirectory: String) {
        self.secondsPerTrial = secondsPerTrial
        self.memoryLimitBytes = memoryLimitBytes
        self.deadline = deadline
        self.scratchDirectory = scratchDirectory
    }

    /// Runs a trial for each address. `body` runs in a child, and gets the child's directory; its changes to memory
    /// stay in the child. The result has an entry for each address; nil for those that the deadline left out.
    package func run(
        _ addresses: [FaultAddress], _ body: (_ address: FaultAddress, _ directory: String) throws -> Trial
    ) throws -> [TrialEnd?] {
        var ends = [TrialEnd?](repeating: nil, count: addresses.count)
        var lanes = Self.split(addresses.count, lanes: childCount).enumerated().map { index, range in
            TrialLane(pending: range, directory: "\(scratchDirectory)/trial-\(index)")
        }
        defer { for lane in lanes { lane.child?.kill() } }
        while true {
            for index in lanes.indices where lanes[index].child == nil && !lanes[index].pending.isEmpty {
                guard MonotonicClock.now() < deadline else {
                    lanes[index].pending = lanes[index].pending.upperBound..<lanes[index].pending.upperBound
                    continue
                }
                try start(&lanes[index], addresses, body)
            }
            let active = lanes.indices.filter { lanes[$0].child != nil }
            if active.isEmpty { return ends }
            wait(for: active.compactMap { lanes[$0].child?.output })
            for index in active {
                for (trial, end) in try advance(&lanes[index], addresses) {
                    ends[trial] = end
                }
            }
        }
    }

    /// Splits the trials into contiguous shares, so that each lane runs its trials in the order of addresses.
    static func split(_ count: Int, lanes: Int) -> [Range<Int>] {
        let lanes = max(1, min(lanes, count))
        return (0..<lanes).map { (count * $0 / lanes)..<(count * ($0 + 1) / lanes) }
    }

    private func start(
        _ lane: inout TrialLane, _ addresses: [FaultAddress],
        _ body: (_ address: FaultAddress, _ directory: String) throws -> Trial
    ) throws {
        let directory = lane.directory
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        let range = lane.pending.prefix(trialsPerChild)
        let deadline = deadline
        lane.child = try ForkedChild.start(errorFile: lane.errorFile) { output in
            for index in range {
                if MonotonicClock.now() >= deadline { break }
                TrialMessage.begin(index).send(to: output)
                do {
                    let trial = try attempt(addresses[index], directory, body)
                    if let fault = fault(trial, directory) {
                        TrialMessage.broken(index, fault).send(to: output)
                    } else {
                        TrialMessage.end(index, trial).send(to: output)
                    }
                } catch {
                    TrialMessage.broken(index, "\(error)").send(to: output)
                }
            }
            TrialMessage.finished.send(to: output)
            return 0
        }
        lane.finished = false
        lane.current = nil
        lane.buffer = []
        lane.noteSignOfLife()
    }

    private func attempt(
        _ address: FaultAddress, _ directory: String,
        _ body: (_ address: FaultAddress, _ directory: String) throws -> Trial
    ) throws -> Trial {
        do {
            return try body(address, directory)
        } catch let error as EngineError {
            let outcome = error.outcomeOfRead
            return Trial(address: address, outcome: outcome, detail: error.description)
        }
    }

    /// What was wrong with the machine in a trial that ended badly; nil if the engine itself caused the end. A limit
    /// that the trial set itself is not a fault of the machine.
    private func fault(_ trial: Trial, _ directory: String) -> String? {
        switch trial.outcome {
        case .correct, .repaired, .hung, .memoryLimit, .overSize: return nil
        default: break
        }
        if let signal = trial.signal, let reason = HarnessFault.reason(signal: signal) { return reason }
        for place in [directory] + watchedDirectories where FileTree.isDirectory(place) {
            // Thousands of trials end with detected damage: the check of these writes no test file.
            if let reason = HarnessFault.reason(in: place, probing: !trial.outcome.isHonest) { return reason }
        }
        return HarnessFault.reason(texts: [trial.detail], directory: directory)
    }

    private func wait(for descriptors: [Int32]) {
        var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&polls, nfds_t(polls.count), 10)
    }

    /// Reads the messages of the lane's child, and kills the child if it exceeded a limit.
    private func advance(_ lane: inout TrialLane, _ addresses: [FaultAddress]) throws -> [(Int, TrialEnd)] {
        guard let child = lane.child else { return [] }
        var ends: [(Int, TrialEnd)] = []
        let isOpen = lane.read()
        while let message = TrialMessage.take(from: &lane.buffer, addresses: addresses) {
            lane.noteSignOfLife()
            lane.apply(message, into: &ends)
        }
        guard isOpen else {
            if let (index, end) = lane.reap(addresses) {
                if case .tried(let trial) = end, let fault = fault(trial, lane.directory) {
                    ends.append((index, .broken(fault)))
                } else {
                    ends.append((index, end))
                }
            }
            return ends
        }
        var killed: (outcome: Outcome, detail: String)?
        if lane.isSilent(for: secondsPerTrial) {
            killed = (.hung, "no answer for \(secondsPerTrial) s")
        } else if let bytes = ProcessFile.anonymousBytes(processID: child.processID), bytes > memoryLimitBytes {
            killed = (.memoryLimit, "more than \(memoryLimitBytes >> 20) MiB of memory")
        }
        if let killed {
            child.kill()
            child.wait()
            if let index = lane.current {
                let trial = Trial(address: addresses[index], outcome: killed.outcome, detail: killed.detail)
                ends.append((index, .tried(trial)))
            }
            lane.stopChild()
        }
        return ends
    }
}

/// A contiguous share of the trials, which one child after another runs.
private struct TrialLane {
    var pending: Range<Int>
    let directory: String
    var child: ForkedChild?
    var current: Int?
    var finished = false
    var buffer: [UInt8] = []
    private var lastMessage: UInt64 = 0
    /// How long the child had waited for a processor when it sent its last message, in nanoseconds.
    private var waitedBefore: UInt64 = 0
    /// A child is killed after this many times its limit, even if it was waiting for a processor.
    private static let patience = 20.0

    init(pending: Range<Int>, directory: String) {
        self.pending = pending
        self.directory = directory
    }

    var errorFile: String { directory + ".stderr" }

    mutating func noteSignOfLife() {
        lastMessage = MonotonicClock.now()
        waitedBefore = child.map { ProcessFile.processorWait(processID: $0.processID) } ?? 0
    }

    /// Whether the child sent no message for too long. Time that it waited for a processor does not count: on a busy
    /// machine, slow trials would otherwise be reported as hangs.
    func isSilent(for seconds: Double) -> Bool {
        let elapsed = Double(MonotonicClock.now() &- lastMessage) / 1e9
        if elapsed <= seconds { return false }
        guard let child else { return true }
        let waited = Double(ProcessFile.processorWait(processID: child.processID) &- waitedBefore) / 1e9
        return elapsed - waited > seconds || elapsed > seconds * Self.patience
    }

    /// Reads what the child has sent so far. Returns false if the child has closed its end.
    mutating func read() -> Bool {
        guard let child else { return false }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var state = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, 0) > 0 else { return true }
            let count = Platform.read(child.output, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            buffer.append(contentsOf: chunk[..<count])
        }
    }

    mutating func apply(_ message: TrialMessage, into ends: inout [(Int, TrialEnd)]) {
        switch message {
        case .begin(let index):
            current = index
        case .end(let index, let trial):
            ends.append((index, .tried(trial)))
            advance(past: index)
        case .broken(let index, let reason):
            ends.append((index, .broken(reason)))
            advance(past: index)
        case .finished:
            finished = true
        }
    }

    private mutating func advance(past index: Int) {
        pending = min(index + 1, pending.upperBound)..<pending.upperBound
        current = nil
    }

    /// Decides the outcome of the child's current trial, after the child has closed its pipe.
    mutating func reap(_ addresses: [FaultAddress]) -> (Int, TrialEnd)? {
        guard let child else { return nil }
        let end = child.wait()
        var result: (Int, TrialEnd)?
        if let index = current {
            switch end {
            case .signalled(let signal):
                let detail = CrashText.detail((try? FileTree.readText(errorFile)) ?? "", signal: signal)
                let trial = Trial(address: addresses[index], outcome: .crashed, detail: detail, signal: signal)
                result = (index, .tried(trial))
            case .exited(let status):
                result = (index, .broken("its process exited with status \(status) without a report"))
            }
        } else if !finished, let index = pending.first {
            // The child died between two trials. Its death counts against the next trial, which never began: otherwise
            // a new child could die in the same way for ever.
            result = (index, .broken("its process ended (\(end)) before the trial began"))
            current = index
        } else if finished, case .signalled(let signal) = end, let index = pending.first {
            result = (index, .broken("its process died of signal \(signal) after the last trial"))
            current = index
        }
        stopChild()
        return result
    }

    /// Drops the child; its current trial gets no further outcome.
    mutating func stopChild() {
        child = nil
        if let index = current { advance(past: index) }
    }
}

/// A message of a child: its length in 4 bytes (little-endian), a tag, the trial's number in 4 bytes, and then the
/// trial if it ended, or the reason if it broke.
private enum TrialMessage {
    case begin(Int)
    case end(Int, Trial)
    case broken(Int, String)
    case finished

    private static let detailLimit = 2_000

    func send(to output: Int32) {
        var body: [UInt8] = []
        switch self {
        case .begin(let index):
            body.append(UInt8(ascii: "B"))
            Self.append(index, to: &body)
        case .end(let index, let trial):
            body.append(UInt8(ascii: "E"))
            Self.append(index, to: &body)
            body.append(trial.outcome.code)
            body.append(UInt8(truncatingIfNeeded: trial.signal ?? 0))
            body.append(contentsOf: trial.detail.utf8.prefix(Self.detailLimit))
        case .broken(let index, let reason):
            body.append(UInt8(ascii: "X"))
            Self.append(index, to: &body)
            body.append(contentsOf: reason.utf8.prefix(Self.detailLimit))
        case .finished:
            body.append(UInt8(ascii: "F"))
            Self.append(0, to: &body)
        }
        var message: [UInt8] = []
        Self.append(body.count, to: &message)
        // This write fails only if the parent has died, and this process is about to die with it.
        do {
            try FileTree.writeAll(output, message + body, path: "the report pipe")
        } catch {
            _exit(1)
        }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Takes the first complete message from the buffer; nil if there is none yet.
    static func take(from buffer: inout [UInt8], addresses: [FaultAddress]) -> TrialMessage? {
        guard buffer.count >= 4 else { return nil }
        let length = number(buffer[..<4])
        guard length >= 5, buffer.count >= 4 + length else { return nil }
        let body = buffer[4..<4 + length]
        defer { buffer.removeFirst(4 + length) }
        let index = number(body.dropFirst().prefix(4))
        let rest = body.dropFirst(5)
        switch body.first {
        case UInt8(ascii: "B"): return .begin(index)
        case UInt8(ascii: "X"): return .broken(index, String(decoding: rest, as: UTF8.self))
        case UInt8(ascii: "E"):
            guard rest.count >= 2, let outcome = Outcome(code: rest[rest.startIndex]) else {
                return .broken(index, "its report cannot be read")
            }
            let signal = Int32(rest[rest.startIndex + 1])
            let trial = Trial(
                address: addresses[index], outcome: outcome, detail: String(decoding: rest.dropFirst(2), as: UTF8.self),
                signal: signal == 0 ? nil : signal)
            return .end(index, trial)
        default: return .finished
        }
    }
}
