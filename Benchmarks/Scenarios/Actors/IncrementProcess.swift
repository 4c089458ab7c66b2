import Files
import Harness
import Platform

/// A process that adds 1 to one row of a database, each time in a transaction.
///
/// It sends a byte for each acknowledged commit. If the engine refuses a call, or the process itself fails, it sends
/// the reason last.
final class IncrementProcess {
    /// How it ended.
    enum End: Equatable {
        /// As it was told to: all its commits were acknowledged.
        case done
        /// Killed by the scenario.
        case killed
        /// The engine refused an open, a write or a close, with this message.
        case refused(String)
        /// By a signal that the scenario did not send.
        case crashed(Int32)
        /// It did not end when it was told to, and was killed.
        case hung
        /// A failure outside of the engine, which says nothing about it.
        case broken(String)
    }

    private enum Word {
        static let acknowledged: UInt8 = 1
        static let refused: UInt8 = 2
        static let broken: UInt8 = 3
    }

    private let child: ForkedChild
    private var isKilled = false
    private(set) var acknowledged = 0
    /// The bytes that tell how it ended, as far as they were received.
    private var last: [UInt8] = []
    private(set) var end: End?

    /// Runs until the file `stop` exists, then closes the database.
    ///
    /// `each`: called in the process after each acknowledgement, with their number.
    init(
        _ context: CaseContext, _ location: DatabaseLocation, _ cell: CellPlace, stop: String,
        each: ((Int) throws -> Void)? = nil
    ) throws {
        child = try ForkedChild.start { output in
            var words: [UInt8] = []
            var status: Int32 = 0
            var count = 0
            do {
                let session = try context.open(location, as: (any UpdateSession).self)
                while !FileTree.exists(stop) {
                    let done = try session.increment(
                        table: cell.table, column: cell.column, key: Int64(cell.row), times: 1, latency: nil)
                    if done == 0 { continue }
                    try FileTree.writeAll(output, [Word.acknowledged], path: "the pipe of a writer")
                    count += 1
                    try each?(count)
                }
                try session.close()
            } catch let error as EngineError {
                words = [Word.refused] + Array("\(error)".utf8)
                status = 1
            } catch {
                words = [Word.broken] + Array("\(error)".utf8)
                status = 1
            }
            do { try FileTree.writeAll(output, words, path: "the pipe of a writer") } catch { return 2 }
            return status
        }
    }

    func kill() {
        isKilled = true
        child.kill()
    }

    /// Stops it by SIGSTOP, and waits until it is stopped. Throws: `HarnessError` when it ended instead.
    func pause() throws {
        signal(SIGSTOP)
        let timeout = ProcessTimeout(for: child.processID)
        while true {
            var information = siginfo_t()
            let answer = waitid(P_PID, id_t(child.processID), &information, WSTOPPED | WNOHANG | WNOWAIT)
            if answer == 0 && information.si_signo == SIGCHLD { return }
            if timeout.isOver(seconds: 5) { throw HarnessError("a writer did not stop within 5 s of SIGSTOP") }
            usleep(200)
        }
    }

    func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
        _ = Platform.kill(child.processID, number)
    }

    /// Reads its report so far.
    /// - Parameter milliseconds: how long to wait for data.
    /// - Returns: false when it has ended, or is about to.
    @discardableResult
    func listen(milliseconds: Int32 = 0) -> Bool {
        var bytes: [UInt8] = []
        let isOpen = child.receive(into: &bytes, milliseconds: milliseconds)
        note(bytes)
        return isOpen && last.isEmpty
    }

    /// Waits for `more` further acknowledgements.
    /// - Returns: false when it ended, or the time passed, first.
    func hears(_ more: Int, seconds: Double = 10) -> Bool {
        let wanted = acknowledged + more
        let timeout = ProcessTimeout(for: child.processID)
        while acknowledged < wanted {
            if !listen(milliseconds: 50) || timeout.isOver(seconds: seconds) { break }
        }
        return acknowledged >= wanted
    }

    /// Waits for its end, and kills it after that time.
    @discardableResult
    func wait(seconds: Double = 20) -> End {
        if let end { return end }
        let timeout = ProcessTimeout(for: child.processID)
        var isHung = false
        while true {
            var rest: [UInt8] = []
            let isOpen = child.receive(into: &rest, milliseconds: 50)
            note(rest)
            if !isOpen { break }
            if timeout.isOver(seconds: seconds) {
                isHung = true
                child.kill()
                break
            }
        }
        let found = isHung ? End.hung : classed(child.wait())
        if isHung { child.wait() }
        end = found
        return found
    }

    private func note(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        if last.isEmpty {
            let count = bytes.firstIndex { $0 != Word.acknowledged } ?? bytes.count
            acknowledged += count
            bytes = bytes[count...]
        }
        last += bytes
    }

    private func classed(_ end: ChildEnd) -> End {
        switch end {
        case .signalled(SIGKILL) where isKilled: return .killed
        case .signalled(let number): return .crashed(number)
        case .exited(0): return .done
        case .exited(let status):
            let words = String(decoding: last.dropFirst(), as: UTF8.self)
            if last.first == Word.refused { return .refused(words) }
            return .broken(words.isEmpty ? "it ended with status \(status) and without a word" : words)
        }
    }

    /// Commits that may have happened without an acknowledgement.
    var uncertain: Int { end == .done ? 0 : 1 }
}
