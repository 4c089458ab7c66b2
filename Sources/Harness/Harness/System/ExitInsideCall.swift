import Platform
import Synchronization

/// Turns a call of `exit` by an engine into a crash of the process.
///
/// A library that ends the process of its application has crashed it, whatever the status. The processes of a case end
/// by `_exit`, or by `exit` after their report: between `forbid` and `permit` the harness itself never calls `exit`. So
/// an `exit` there writes a line to standard error and aborts, and the parent sees a crash. A call of `_exit` by an
/// engine is not detected: the process then ends without a report, as it does if the harness fails.
///
/// It applies to the calling process alone. A child that a scenario forks may call `exit` on purpose.
package enum ExitInsideCall {
    /// The line on standard error, after what the engine printed.
    static let line = "exit was called inside a call of the engine"

    private static let process = Atomic<Int32>(0)
    private static let isRegistered = Atomic<Bool>(false)

    package static func forbid() {
        process.store(getpid(), ordering: .relaxed)
        guard !isRegistered.exchange(true, ordering: .relaxed) else { return }
        atexit { ExitInsideCall.end() }
    }

    package static func permit() { process.store(0, ordering: .relaxed) }

    private static func end() {
        guard process.load(ordering: .relaxed) == getpid() else { return }
        (line + "\n").withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
        // Swift's crash handler would start a debugger.
        signal(SIGABRT, SIG_DFL)
        abort()
    }

    /// The last line that was printed before `line`; nil if `line` was not printed, empty if it is the first line.
    static func lastWords(_ standardError: String) -> String? {
        let lines = standardError.split(whereSeparator: \.isNewline)
        guard let place = lines.lastIndex(where: { $0 == line }) else { return nil }
        return place > 0 ? String(lines[place - 1]) : ""
    }
}
