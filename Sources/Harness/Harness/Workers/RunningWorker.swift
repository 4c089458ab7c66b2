import JSONText
import Measuring
import Platform
import RunRecords

/// How a worker process ended.
package struct WorkerEnd: Sendable {
    package var report: WorkerReport?
    /// Why the worker's answer cannot be read, if it is not a report.
    package var unreadable: String?
    package var end: ChildEnd
    package var processID: Int32 = 0
    /// Set if the runner killed it: `hung` or `memory-limit`.
    package var stopped: Outcome?
    /// The last 8 KiB of its standard error.
    package var standardError: String
    package var durationNanoseconds: UInt64
    /// Processor time of the worker and of the children that it waited for.
    package var processorNanoseconds: UInt64 = 0
    /// How often the kernel preempted the worker.
    package var involuntarySwitches: Int = 0
    /// The counts of the worker's memory cgroup, if it had one.
    package var memory: MemoryGroup.Events?

    /// The fault of the machine behind this end; nil if the harness finds none.
    ///
    /// - Parameter directory: the directory of the case, which still holds its files.
    func machineFault(in directory: String) -> String? {
        if case .signalled(let signal) = end, stopped == nil, let reason = HarnessFault.reason(signal: signal) {
            return reason
        }
        var texts = [standardError]
        if let report {
            texts += report.messages + report.brokenTrials + report.trials.map(\.detail)
            if let failure = report.harnessFailure { texts.append(failure) }
        }
        return HarnessFault.reason(in: directory) ?? HarnessFault.reason(texts: texts, directory: directory)
    }
}

/// Limits of a worker process.
package struct WorkerLimits: Sendable {
    /// The time at which the worker counts as hung, on the monotonic clock.
    package var hangTime: UInt64
    package var memoryBytes: UInt64
}

/// A running worker process. It collects the worker's output, and enforces its limits.
///
/// Not Sendable: one thread starts it and calls its functions. Several workers may run at a time.
package final class RunningWorker {
    private static let errorLimit = 8 << 10

    private let processID: Int32
    private let output: Pipe
    private let errors: Pipe
    private let startTime: UInt64
    private let limits: WorkerLimits
    private let group: MemoryGroup?
    private var said: [UInt8] = []
    private var complaints: [UInt8] = []
    private var stopped: Outcome?
    private var end: WorkerEnd?

    init(
        processID: Int32, output: Pipe, errors: Pipe, startTime: UInt64, limits: WorkerLimits, group: MemoryGroup?
    ) {
        self.processID = processID
        self.output = output
        self.errors = errors
        self.startTime = startTime
        self.limits = limits
        self.group = group
        output.makeReadNonBlocking()
        errors.makeReadNonBlocking()
    }

    deinit {
        guard end == nil else { return }
        kill(-processID, SIGKILL)
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        group?.remove()
    }

    /// Waits until one of the workers has output, but at most 10 ms, since `advance` has to check the limits.
    static package func wait(for workers: [RunningWorker]) {
        var polls = workers.flatMap { worker in
            [worker.output.readEnd, worker.errors.readEnd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        }
        poll(&polls, nfds_t(polls.count), 10)
        // A pipe whose worker closed it always counts as ready: sleep, so that the loop of the caller does not spin.
        if polls.contains(where: { $0.revents & Int16(POLLHUP) != 0 }) { usleep(1_000) }
    }

    /// Reads the worker's output, and kills the worker if it exceeds its limits of memory or time. Returns how it
    /// ended, once it has.
    package func advance() -> WorkerEnd? {
        if let end { return end }
        drain()
        var status: Int32 = 0
        var usage = rusage()
        if wait4(processID, &status, WNOHANG, &usage) == processID {
            drain()
            kill(-processID, SIGKILL)
            let result = result(ChildEnd(waitStatus: status), usage)
            end = result
            return result
        }
        guard stopped == nil else { return nil }
        if MonotonicClock.now() >= limits.hangTime {
            stopped = .hung
        } else if let bytes = ProcessFile.anonymousBytes(processID: processID), bytes > limits.memoryBytes {
            stopped = .memoryLimit
        }
        // The result of an interrupted worker is not used.
        if stopped != nil || Interruption.isRequested { kill(-processID, SIGKILL) }
        return nil
    }

    private func drain() {
        Self.drain(output.readEnd, into: &said)
        Self.drain(errors.readEnd, into: &complaints)
        if complaints.count > 1 << 20 { complaints.removeFirst(complaints.count - 1 << 16) }
    }

    private static func drain(_ descriptor: Int32, into bytes: inout [UInt8]) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    private func result(_ end: ChildEnd, _ usage: rusage) -> WorkerEnd {
        var result = WorkerEnd(
            report: nil, unreadable: nil, end: end, stopped: stopped,
            standardError: String(decoding: complaints.suffix(Self.errorLimit), as: UTF8.self),
            durationNanoseconds: MonotonicClock.now() &- startTime)
        result.processID = processID
        result.memory = group?.events
        group?.remove()
        result.processorNanoseconds = Self.nanoseconds(usage.ru_utime) + Self.nanoseconds(usage.ru_stime)
        result.involuntarySwitches = Int(usage.ru_nivcsw)
        guard !said.isEmpty else { return result }
        do {
            result.report = try WorkerReport(document: said, named: "report")
        } catch {
            result.unreadable = "\(error)"
        }
        return result
    }

    private static func nanoseconds(_ time: timeval) -> UInt64 {
        UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(max(0, time.tv_usec)) * 1_000
    }
}
