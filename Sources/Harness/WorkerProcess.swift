import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a worker process ended.
package struct WorkerEnd: Sendable {
    package var report: WorkerReport?
    /// The bytes that came, where they are no report.
    package var unreadable: String?
    package var end: ChildEnd
    /// Set when the runner ended it: `hung` or `memory-limit`.
    package var stopped: Outcome?
    /// The last 8 KiB.
    package var standardError: String
    package var durationNanoseconds: UInt64
}

/// Bounds on a worker process.
package struct WorkerLimits: Sendable {
    /// On the monotonic clock: when it counts as hung.
    package var hangTime: UInt64
    package var memoryBytes: UInt64

    package init(hangTime: UInt64, memoryBytes: UInt64) {
        self.hangTime = hangTime
        self.memoryBytes = memoryBytes
    }
}

/// Runs `EXECUTABLE worker` for one request, and watches it.
///
/// The worker leads a process group of its own, which is killed as a whole when it has ended: no child of it stays
/// behind. It asks the kernel to die with this process, so that a killed run leaves nothing behind either. Must be
/// called on a thread that lives as long as the process: the kernel means the thread when it says parent.
package struct WorkerProcess {
    let executable: String
    private static let errorLimit = 8 << 10

    package init(executable: String) {
        self.executable = executable
    }

    package func run(_ request: WorkerRequest, limits: WorkerLimits) throws -> WorkerEnd {
        let input = try Pipe()
        let output = try Pipe()
        let errors = try Pipe()
        let start = MonotonicClock.now()
        let processID = try spawn(input: input, output: output, errors: errors)
        input.closeRead()
        output.closeWrite()
        errors.closeWrite()
        // A worker that dies before it has read all must not kill the runner: SIGPIPE is ignored by the tool.
        do {
            try FileTree.writeAll(input.writeEnd, request.json.bytes, path: "the worker's input")
        } catch {
            guard error.code == EPIPE else { throw error }
        }
        input.closeWrite()
        output.makeReadNonBlocking()
        errors.makeReadNonBlocking()
        var watch = Watch(processID: processID)
        let end = watch.untilEnd(output: output.readEnd, errors: errors.readEnd, limits: limits)
        kill(-processID, SIGKILL)
        let elapsed = MonotonicClock.now() &- start
        return Self.result(watch, end, elapsed: elapsed)
    }

    private static func result(_ watch: Watch, _ end: ChildEnd, elapsed: UInt64) -> WorkerEnd {
        var result = WorkerEnd(
            report: nil, unreadable: nil, end: end, stopped: watch.stopped,
            standardError: String(decoding: watch.errors.suffix(errorLimit), as: UTF8.self),
            durationNanoseconds: elapsed)
        guard !watch.output.isEmpty else { return result }
        do {
            let value = try JSONReader.read(watch.output)
            result.report = try WorkerReport(json: try JSONObjectReader(value, path: "report"))
        } catch {
            result.unreadable = "\(error)"
        }
        return result
    }

    private func spawn(input: Pipe, output: Pipe, errors: Pipe) throws -> Int32 {
        #if canImport(Glibc)
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input.readEnd, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, STDERR_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output.writeEnd, Worker.reportDescriptor)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        var processID: pid_t = 0
        let status = CommandVector.with([executable, "worker", "--parent", String(getpid())]) { arguments in
            posix_spawn(&processID, executable, &actions, &attributes, arguments, KernelCalls.environment)
        }
        guard status == 0 else {
            throw HarnessError("cannot start \(executable): \(String(cString: strerror(status)))")
        }
        return processID
    }
}

/// Follows a worker until it has ended.
private struct Watch {
    let processID: Int32
    var output: [UInt8] = []
    var errors: [UInt8] = []
    var stopped: Outcome?

    init(processID: Int32) {
        self.processID = processID
    }

    mutating func untilEnd(output outputEnd: Int32, errors errorEnd: Int32, limits: WorkerLimits) -> ChildEnd {
        while true {
            var polls = [
                pollfd(fd: outputEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errorEnd, events: Int16(POLLIN), revents: 0),
            ]
            poll(&polls, 2, 10)
            Self.drain(outputEnd, into: &output)
            Self.drain(errorEnd, into: &errors)
            if errors.count > 1 << 20 { errors.removeFirst(errors.count - 1 << 16) }
            var status: Int32 = 0
            if waitpid(processID, &status, WNOHANG) == processID {
                Self.drain(outputEnd, into: &output)
                Self.drain(errorEnd, into: &errors)
                return ChildEnd(waitStatus: status)
            }
            guard stopped == nil else { continue }
            if MonotonicClock.now() >= limits.hangTime {
                stopped = .hung
            } else if let bytes = ProcessFile.anonymousBytes(processID: processID), bytes > limits.memoryBytes {
                stopped = .memoryLimit
            }
            // The runner drops what comes of it.
            if stopped != nil || Interruption.isRequested { kill(-processID, SIGKILL) }
            // A closed pipe is always ready: do not spin while the worker ends.
            if polls.contains(where: { $0.revents & Int16(POLLHUP) != 0 }) { usleep(1_000) }
        }
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
}

/// A pipe whose ends are closed on exec and at the end of its life.
private final class Pipe {
    private(set) var readEnd: Int32 = -1
    private(set) var writeEnd: Int32 = -1

    init() throws(HarnessError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw HarnessError("cannot make a pipe: \(systemMessage())") }
        // Above the numbers that a worker's descriptors are put on.
        readEnd = fcntl(ends[0], F_DUPFD_CLOEXEC, 16)
        writeEnd = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
        close(ends[0])
        close(ends[1])
        guard readEnd >= 0, writeEnd >= 0 else {
            throw HarnessError("cannot move a pipe: \(systemMessage())")
        }
    }

    deinit {
        closeRead()
        closeWrite()
    }

    func closeRead() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    func closeWrite() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    func makeReadNonBlocking() {
        _ = fcntl(readEnd, F_SETFL, fcntl(readEnd, F_GETFL) | O_NONBLOCK)
    }
}

/// Arguments as C wants them.
enum CommandVector {
    static func with<Output>(
        _ arguments: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
    ) -> Output {
        var pointers = arguments.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an empty command") }
            return body(base)
        }
    }
}
