import Platform
import Synchronization

/// Standard output that could not be written: the disk is full, or the reader of the pipe has ended.
package struct OutputError: Error, CustomStringConvertible {
    package let errno: Int32

    /// Whether the reader closed the pipe, as `head` does: no failure of the program.
    package var isClosedPipe: Bool { errno == EPIPE }

    package var description: String { "standard output: \(String(cString: strerror(errno)))" }
}

/// Writes to standard output, throwing its errors, and to standard error, ignoring errors, as they cannot be reported.
package enum Output {
    package static func line(_ text: String = "") throws(OutputError) { try write(text + "\n") }

    package static func write(_ text: String) throws(OutputError) { try write(Array(text.utf8)) }

    package static func write(_ bytes: [UInt8]) throws(OutputError) {
        writeError(live.end())
        try write(bytes, to: STDOUT_FILENO)
    }

    /// A line on standard error.
    package static func error(_ text: String) { writeError(live.end() + text + "\n") }

    /// Overwrites the progress line that the previous call wrote; an empty text removes it. A text that is too long for
    /// the terminal is cut. Does nothing unless `isLive`.
    package static func progress(_ text: String) {
        if isLive { writeError(live.show(text, columns: columns(STDERR_FILENO) ?? width)) }
    }

    private static let live = LiveLine()

    private static func writeError(_ text: String) {
        if text.isEmpty { return }
        do throws(OutputError) { try write(Array(text.utf8), to: STDERR_FILENO) } catch { return }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(OutputError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                return Platform.write(descriptor, base + done, buffer.count - done)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw OutputError(errno: errno)
            }
            done += count
        }
    }

    // MARK: Terminal

    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Whether standard error is a terminal whose lines can be overwritten.
    package static var isLive: Bool { isTerminal(STDERR_FILENO) && environment("TERM") != "dumb" }

    /// Whether to colour standard output: it is a terminal that shows colours, and NO_COLOR is unset
    /// (https://no-color.org).
    package static var wantsColour: Bool {
        isTerminal(STDOUT_FILENO) && environment("NO_COLOR") == nil && environment("TERM") != "dumb"
    }

    /// Columns of the terminal if they are at least 40, else the number in COLUMNS, else 100.
    package static var width: Int {
        if let columns = columns(STDOUT_FILENO), columns >= 40 { return columns }
        return environment("COLUMNS").flatMap { Int($0) } ?? 100
    }

    /// nil unless it is a terminal that knows its size.
    private static func columns(_ descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// nil for a variable that is unset or empty.
    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

/// The terminal's progress line. `Output` removes it before it writes anything else, so that no message is appended to
/// it.
final class LiveLine: Sendable {
    private static let erased = "\r\u{1B}[K"
    private let isShown = Mutex(false)

    /// The bytes that overwrite the line. A text of `columns` characters or more would go on in the next row, where
    /// nothing removes it.
    func show(_ text: String, columns: Int) -> String {
        isShown.withLock { $0 = !text.isEmpty }
        return Self.erased + text.prefix(max(0, columns - 1))
    }

    /// The bytes that remove the line; empty if none is shown.
    func end() -> String {
        isShown.withLock { isShown in
            defer { isShown = false }
            return isShown ? Self.erased : ""
        }
    }
}

extension String {
    /// Pads the text with spaces to `width` characters.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
