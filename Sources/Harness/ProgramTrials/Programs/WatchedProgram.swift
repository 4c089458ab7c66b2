import Files
import Harness
import Measuring
import Platform

/// How a watched program ended.
package struct WatchedEnd: Sendable {
    package var end: ChildEnd
    /// The program exceeded its time limit, and the watcher killed it.
    package var isTimeOut: Bool
    /// The beginning of its standard output, and whether the output was cut.
    package var output: [UInt8]
    package var isOutputCut: Bool
    /// The end of its standard error.
    package var errors: [UInt8]
    package var durationNanoseconds: UInt64

    package var hasSucceeded: Bool { end == .exited(0) && !isTimeOut }

    package var outputText: String { String(decoding: output, as: UTF8.self) }
    package var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// As text, for people: `ended with status 3`.
    package var summary: String {
        if isTimeOut { return "did not end in \(durationNanoseconds / 1_000_000_000) s and was killed" }
        switch end {
        case .exited(let status): return "ended with status \(status)"
        case .signalled(let signal): return "was ended by signal \(signal) (\(String(cString: strsignal(signal))))"
        }
    }
}

/// The user's program and all its descendants, run with their output collected, and ended as a whole.
package struct WatchedProgram: Sendable {
    package enum Output: Sendable {
        /// A terminal of its own: the C library then writes each line when it is complete.
        case terminal
        case pipe
    }

    /// The program, searched in PATH if it has no slash, and its arguments.
    package var words: [String]
    /// Working directory; nil: that of this process.
    package var directory: String?
    /// `NAME=VALUE`; they replace variables of this process with the same name.
    package var variables: [String] = []
    /// The library that is loaded before all others; see `Preload`.
    package var library: String?
    package var output = Output.terminal
    /// A descriptor of this process for the program's standard input; nil: empty input.
    package var input: Int32?
    /// Further descriptors of this process, and their numbers in the program.
    package var passed: [(own: Int32, number: Int32)] = []
    package var limitSeconds: Double = 60
    /// The largest number of bytes of standard output to keep, from the beginning.
    package var outputLimit = 1 << 20
    /// The largest number of bytes of standard error to keep, from the end.
    package var errorLimit = 8 << 10

    package init(_ words: [String], library: String? = nil) {
        precondition(!words.isEmpty)
        self.words = words
        self.library = library
    }

    /// Throws: `HarnessError` if it cannot be started, `WorkInterrupted`.
    package func run() throws -> WatchedEnd {
        let running = try start()
        while true {
            if let end = try running.advance(waiting: 0.02) { return end }
        }
    }

    /// Starts it. The caller calls `advance` until it ends; releasing it kills it and all its descendants.
    package func start() throws -> RunningProgram {
        let errors = try Pipe()
        let channel = try OutputChannel(output)
        let isSession = output == .terminal
        var started = StartedProcesses()
        // posix_spawnp searches the PATH of this process. The program gets the same one unless `variables` replaces it.
        let environment = variables(tiedTo: getpid()) + [EnvironmentVariable(started.setting)]
        var hasDirectory = true
        let processID = try started.start {
            try ProcessStart.run(
                words, isOnPath: true, environment: environment, leads: isSession ? .session : .group
            ) { actions in
                if let input {
                    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
                } else {
                    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                }
                channel.connect(&actions)
                posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, STDERR_FILENO)
                for descriptor in passed {
                    posix_spawn_file_actions_adddup2(&actions, descriptor.own, descriptor.number)
                }
                // After the names above, which are relative to this process's directory.
                if let directory { hasDirectory = KernelCalls.addDirectory(directory, to: &actions) }
            }
        }
        errors.closeWrite()
        channel.isConnected()
        let running = RunningProgram(self, started, processID: processID, channel: channel, errors: errors)
        // Releasing it kills it.
        if !hasDirectory { throw HarnessError("this C library cannot start a program in another directory") }
        return running
    }

    private func variables(tiedTo parent: pid_t) -> [EnvironmentVariable] {
        let given = (variables + (library == nil ? [] : ["ASSAY_PARENT=\(parent)"])).map { EnvironmentVariable($0) }
        let kept = WorkerEnvironment.inherited(without: given).filter { !$0.hasPrefix("ASSAY_") }
        return WorkerEnvironment.variables(
            WorkerEnvironment.withoutBacktraces(kept, given: given), library: library) + given
    }
}

/// A running program.
///
/// Not Sendable: one thread starts it and follows it.
package final class RunningProgram {
    package let processID: pid_t
    private let program: WatchedProgram
    private let channel: OutputChannel
    private let errorPipe: Pipe
    private let startTime = MonotonicClock.now()
    private let started: StartedProcesses
    /// Readable once the program has ended; -1 if the system has no such descriptor.
    private let endDescriptor: Int32
    /// When zombies were last reaped.
    private var lookTime: UInt64
    private var isOutputClosed = false
    private var areErrorsClosed = false
    /// Its output so far, up to the limit.
    package private(set) var output: [UInt8] = []
    private var isOutputCut = false
    private var errors: [UInt8] = []
    private var isTimeOut = false
    private var end: WatchedEnd?

    fileprivate init(
        _ program: WatchedProgram, _ started: StartedProcesses, processID: pid_t, channel: OutputChannel, errors: Pipe
    ) {
        self.program = program
        self.started = started
        self.processID = processID
        lookTime = startTime
        endDescriptor = KernelCalls.descriptor(of: processID)
        self.channel = channel
        errorPipe = errors
        errors.makeReadNonBlocking()
    }

    deinit {
        if end == nil {
            killAll()
            var status: Int32 = 0
            while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
            started.endAll()
        }
        if endDescriptor >= 0 { close(endDescriptor) }
    }

    /// Kills the program and its process group. `advance` then returns its end, and kills its descendants in other
    /// groups.
    package func killAll() {
        kill(-processID, SIGKILL)
        kill(processID, SIGKILL)
        started.killOrphans()
    }

    /// Waits for at most that long, reads the program's output, and returns its end once it has ended.
    ///
    /// Throws: `WorkInterrupted` after an interrupt.
    package func advance(waiting seconds: Double) throws -> WatchedEnd? {
        if let end { return end }
        wait(seconds)
        drain()
        var status: Int32 = 0
        if waitpid(processID, &status, WNOHANG) == processID {
            started.endAll()
            drain()
            let result = WatchedEnd(
                end: ChildEnd(waitStatus: status), isTimeOut: isTimeOut, output: output, isOutputCut: isOutputCut,
                errors: Array(errors.suffix(program.errorLimit)),
                durationNanoseconds: MonotonicClock.now() &- startTime)
            end = result
            return result
        }
        if Interruption.isRequested {
            killAll()
            throw WorkInterrupted()
        }
        let now = MonotonicClock.now()
        if now &- lookTime > 20_000_000 {
            lookTime = now
            started.takeAwayDead()
        }
        if !isTimeOut, Double(now &- startTime) / 1e9 > program.limitSeconds {
            isTimeOut = true
            killAll()
        }
        return nil
    }

    private func wait(_ seconds: Double) {
        // poll ignores negative descriptors. A closed one would always be ready.
        let output = isOutputClosed && endDescriptor >= 0 ? -1 : channel.readEnd
        let errors = areErrorsClosed && endDescriptor >= 0 ? -1 : errorPipe.readEnd
        var polls = [output, errors, endDescriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&polls, nfds_t(polls.count), Int32(seconds * 1_000))
        func isClosed(_ index: Int) -> Bool { polls[index].revents & Int16(POLLHUP) != 0 }
        isOutputClosed = isOutputClosed || isClosed(0)
        areErrorsClosed = areErrorsClosed || isClosed(1)
        // Without the descriptor: avoids a busy loop while the program ends.
        if endDescriptor < 0, isClosed(0) || isClosed(1) { usleep(500) }
    }

    private func drain() {
        let limit = program.outputLimit
        Self.drain(channel.readEnd) { bytes in
            let room = limit - output.count
            output.append(contentsOf: bytes.prefix(room))
            if bytes.count > room { isOutputCut = true }
        }
        Self.drain(errorPipe.readEnd) { errors.append(contentsOf: $0) }
        let kept = program.errorLimit
        if errors.count > 8 * kept { errors.removeFirst(errors.count - kept) }
    }

    /// Reads only a part if the program prints faster than this reads, so that the time limit holds.
    private static func drain(_ descriptor: Int32, _ take: (ArraySlice<UInt8>) -> Void) {
        for _ in 0..<256 {
            var count = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, used in
                count = read(descriptor, buffer.baseAddress, buffer.count)
                used = max(0, count)
            }
            if count < 0 && errno == EINTR { continue }
            // A terminal that no process has open any more returns an error instead of an end.
            guard count > 0 else { return }
            take(chunk[...])
        }
    }
}

/// The program's standard output: a terminal or a pipe; this process has the other end.
private final class OutputChannel {
    private let pipe: Pipe?
    private let master: Int32
    private let terminal: String

    var readEnd: Int32 { pipe?.readEnd ?? master }

    init(_ output: WatchedProgram.Output) throws {
        guard output == .terminal else {
            let pipe = try Pipe()
            pipe.makeReadNonBlocking()
            self.pipe = pipe
            master = -1
            terminal = ""
            return
        }
        pipe = nil
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var number: UInt32 = 0
        var lock: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN, which the Glibc module does not export.
        guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            if master >= 0 { close(master) }
            throw HarnessError("cannot make a terminal: \(systemMessage()); --pipe does without one")
        }
        terminal = "/dev/pts/\(number)"
        // Raw bytes: no conversion of line ends, no echo.
        var settings = termios()
        if tcgetattr(master, &settings) == 0 {
            settings.c_oflag &= ~tcflag_t(OPOST)
            settings.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(master, TCSANOW, &settings)
        }
    }

    deinit { if master >= 0 { close(master) } }

    func connect(_ actions: inout Spawning.FileActions) {
        if let pipe {
            posix_spawn_file_actions_adddup2(&actions, pipe.writeEnd, STDOUT_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, terminal, O_RDWR, 0)
        }
    }

    func isConnected() { pipe?.closeWrite() }
}
