import Synchronization
import Testing

@testable import Commands

@Suite struct ProgressLineTests {
    private final class Log: Sendable {
        let time = Mutex<UInt64>(5)
        let lines = Mutex<[String]>([])
    }

    private func line(_ log: Log, isLive: Bool) -> ProgressLine {
        ProgressLine("assay crash", isLive: isLive, now: { log.time.withLock { $0 } }) { text in
            log.lines.withLock { $0.append(text) }
        }
    }

    @Test("without a terminal there is a line every ten seconds, and none at the end")
    func log() {
        let log = Log()
        let progress = line(log, isLive: false)
        for done in 1...40 {
            log.time.withLock { $0 += 1_000_000_000 }
            progress.report(done, of: 40)
        }
        #expect(log.lines.withLock { $0 } == [10, 20, 30].map { "assay crash: \($0) of 40" })
    }

    @Test("on a terminal each line is overwritten, and the last one removed")
    func live() {
        let log = Log()
        let progress = line(log, isLive: true)
        for done in 1...3 { progress.report(done, of: 3) }
        #expect(log.lines.withLock { $0 } == ["[1/3]", "[2/3]", ""])
    }

    @Test("progress without a total shows its position, in a log every ten seconds")
    func text() {
        let log = Log()
        let progress = line(log, isLive: false)
        for count in 1...25 {
            log.time.withLock { $0 += 1_000_000_000 }
            progress.report("\(count) cases")
        }
        progress.report("")
        #expect(log.lines.withLock { $0 } == ["assay crash: 10 cases", "assay crash: 20 cases"])
    }

    /// After an interrupt the first line of the report stood behind the progress: "16 s left^Cassay 0.1  plan smoke".
    @Test("the next output removes the live line, once")
    func ended() {
        let live = LiveLine()
        #expect(live.end() == "")
        #expect(live.show("16 s left", columns: 80) == "\r\u{1B}[K16 s left")
        #expect(live.end() == "\r\u{1B}[K")
        #expect(live.end() == "")
        _ = live.show("more", columns: 80)
        #expect(live.show("", columns: 80) == "\r\u{1B}[K" && live.end() == "")
    }

    /// A line of a soak was longer than 80 columns, and its first row remained on the terminal.
    @Test("a live line is cut so that it stays in one row of the terminal")
    func cut() {
        let live = LiveLine()
        #expect(live.show("12 cases, 1 cause", columns: 9) == "\r\u{1B}[K12 cases")
        #expect(live.show("12 cases", columns: 9) == "\r\u{1B}[K12 cases")
        #expect(live.show("12 cases", columns: 0) == "\r\u{1B}[K")
    }
}
