import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Makes a crash of an `exit` that an engine calls.
///
/// A library that ends the process of its application has crashed it, whatever status it names. The processes of a
/// case end by `_exit`, or by `exit` once they have reported: between `forbid` and `permit` no code of the harness
/// calls `exit`. What ends the process there is turned into an abort behind a line on standard error, so that each
/// place that waits for a process meets a crash. An engine that calls `_exit` is not seen by this: its end is without
/// a report, as that of a broken harness is.
///
/// It holds for the process that asked. A child that a scenario forks by itself, and that ends by `exit` on purpose, is
/// another one.
package enum ExitInsideCall {
    /// The line that stands behind what the engine printed.
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
        // The runtime's crash handler would start a debugger.
        signal(SIGABRT, SIG_DFL)
        abort()
    }

    /// What was printed last before that line; nil where the line is not there, empty where nothing was printed.
    static func lastWords(_ standardError: String) -> String? {
        let lines = standardError.split(whereSeparator: \.isNewline)
        guard let place = lines.lastIndex(where: { $0 == line }) else { return nil }
        return place > 0 ? String(lines[place - 1]) : ""
    }
}
