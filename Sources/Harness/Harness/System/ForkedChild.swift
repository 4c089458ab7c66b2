import Files
import Measuring
import Platform

// Invariants:
// 1. A process forks only while it has one thread, and checks that before every fork: a child that was forked after a
//    Swift Task had run ended with status 0 without running its body.
// 2. A child never returns into the caller's code: it ends by _exit, whatever the body does.
// 3. A child dies with its parent, and stays in its parent's process group: the runner kills the worker's group as a
//    whole.

/// How a child process ended.
package enum ChildEnd: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)

    package init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited(waitStatus >> 8 & 0xFF) : .signalled(signal)
    }
}

/// A forked child process: it runs the same program on a copy of the parent's memory, and reports through a pipe.
///
/// It is for trials that may end their process, and for tests that kill a writer. Not Sendable: the thread that forked
/// it waits for it.
package final class ForkedChild {
    package let processID: Int32
    /// The read end of the pipe through which the child reports.
    package let output: Int32
    private var end: ChildEnd?

    private init(processID: Int32, output: Int32) {
        self.processID = processID
        self.output = output
    }

    deinit {
        if end == nil {
            kill(processID, SIGKILL)
            _ = wait()
        }
        close(output)
    }

    /// Forks. In the child `body` gets the write end of the pipe; its return value is the exit status.
    ///
    /// `errorFile`: where the child's standard error goes; nil leaves it as it is.
    /// Throws: `HarnessError` when this process has threads, or the system refuses.
    package static func start(
        errorFile: String? = nil, _ body: (_ output: Int32) -> Int32
    ) throws(HarnessError) -> ForkedChild {
        guard isAlone() else {
            throw HarnessError("a process with \(threadCount()) threads cannot fork: fork before threads start")
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw HarnessError("cannot make a pipe: \(systemMessage())") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let parent = getpid()
        let child = fork()
        if child == 0 {
            close(ends[0])
            becomeChild(of: parent, errorFile: errorFile)
            ExitInsideCall.forbid()
            _exit(body(ends[1]))
        }
        close(ends[1])
        guard child > 0 else {
            close(ends[0])
            throw HarnessError("cannot fork: \(systemMessage())")
        }
        return ForkedChild(processID: child, output: ends[0])
    }

    private static func becomeChild(of parent: Int32, errorFile: String?) {
        KernelCalls.dieWithParent(parent)
        // The crash handler of Swift's runtime starts a debugger, which takes half a second: too long for a trial.
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT] { signal(number, SIG_DFL) }
        guard let errorFile else { return }
        let descriptor = open(errorFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        if descriptor >= 0 {
            dup2(descriptor, STDERR_FILENO)
            close(descriptor)
        }
    }

    package func kill() {
        kill(processID, SIGKILL)
    }

    private func kill(_ process: Int32, _ signal: Int32) {
        _ = Platform.kill(process, signal)
    }

    /// Waits until the child has ended. A second call returns the same result.
    @discardableResult
    package func wait() -> ChildEnd {
        if let end { return end }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        let result = ChildEnd(waitStatus: status)
        end = result
        return result
    }

    /// Whether this process has one thread. It waits up to a second, since the kernel still counts a thread for a
    /// moment after it was joined.
    private static func isAlone() -> Bool {
        // The thread sanitizer runs a thread of its own, which survives a fork.
        let most = KernelCalls.hasThreadSanitizer ? 2 : 1
        for _ in 0..<1_000 {
            if threadCount() <= most { return true }
            usleep(1_000)
        }
        return false
    }

    /// Threads of this process, by the kernel's count; 1 if the count cannot be read.
    package static func threadCount() -> Int {
        #if canImport(Glibc)
            return ProcessFile.fields("/proc/self/status").first { $0.name == "Threads" }.map { Int($0.value) } ?? 1
        #else
            return 1
        #endif
    }
}

/// Finds in the standard error of a process why it crashed.
package enum CrashText {
    /// Prefix of the message of a failed assertion. The code then stopped itself by a check that most builds lack,
    /// while any other crash is an accident.
    static let assertion = "aborted by an assertion: "
    /// Prefix of what an engine printed before it called `exit`.
    static let exit = "exit inside a call: "

    /// The reason that the process printed; without one, the signal that ended it, so that no crash is without words.
    static func detail(_ standardError: String, signal: Int32) -> String {
        let reason = reason(standardError)
        return reason.isEmpty
            ? "its process was ended by signal \(signal) (\(String(cString: strsignal(signal))))" : reason
    }

    /// The runtime's own line about the failure, shortened; empty if there is none. Other lines contain addresses,
    /// which differ from run to run. For an engine that called `exit`: the last line that it printed.
    package static func reason(_ standardError: String) -> String {
        if let words = ExitInsideCall.lastWords(standardError) {
            return String((exit + (words.isEmpty ? "it printed nothing" : words)).prefix(300))
        }
        let assertions = ["Assertion failed", "Assertion `", "Assertion '"]
        let others = ["Fatal error", "Precondition failed", "terminate called"]
        for line in standardError.split(separator: "\n") {
            if assertions.contains(where: { line.contains($0) }) { return String((assertion + line).prefix(300)) }
            if others.contains(where: { line.contains($0) }) { return String(line.prefix(300)) }
        }
        return ""
    }
}

/// The text of the last failed system call.
package func systemMessage() -> String {
    String(cString: strerror(errno))
}
