import Synchronization

/// Shows the progress of a long task: on a terminal as one overwritten line, elsewhere as a new line every ten seconds,
/// so that a log shows it, too.
package final class ProgressLine: Sendable {
    private let isLive: Bool
    private let what: String
    private let now: @Sendable () -> UInt64
    private let write: @Sendable (String) -> Void
    private let interval: UInt64 = 10_000_000_000
    /// When the last line was written, in nanoseconds.
    private let last: Mutex<UInt64>

    /// - Parameters:
    ///   - what: the command's name, which begins each line of a log.
    ///   - now: the time in nanoseconds by a clock that never goes back.
    ///   - write: takes the text of the terminal's line, or a line of a log.
    package init(
        _ what: String, isLive: Bool = Output.isLive, now: @escaping @Sendable () -> UInt64,
        write: (@Sendable (String) -> Void)? = nil
    ) {
        self.what = what
        self.isLive = isLive
        self.now = now
        self.write = write ?? { isLive ? Output.progress($0) : Output.error($0) }
        last = Mutex(now())
    }

    package func report(_ done: Int, of total: Int) {
        if isLive { return write(done == total ? "" : "[\(done)/\(total)]") }
        if done < total, isDue() { write("\(what): \(done) of \(total)") }
    }

    /// Reports the progress of a task without a known total. An empty text removes the terminal's line.
    package func report(_ text: String) {
        if isLive { return write(text) }
        if !text.isEmpty, isDue() { write("\(what): \(text)") }
    }

    private func isDue() -> Bool {
        last.withLock { last in
            let time = now()
            guard time >= last + interval else { return false }
            last = time
            return true
        }
    }
}
