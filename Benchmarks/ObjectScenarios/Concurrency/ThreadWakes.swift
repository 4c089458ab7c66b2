import Files
import Harness
import Measuring
import Platform
import RunRecords

/// How often threads of this process went to sleep, which is how often they were woken. Unlike times, this does not
/// depend on the other load of the machine.
enum ThreadWakes {
    /// By thread, without the calling one; nil if the system does not count.
    static func counts() -> [String: Int]? {
        guard let own = FileTree.absolute("/proc/thread-self") else { return nil }
        do {
            var counts: [String: Int] = [:]
            for thread in try FileTree.names(in: "/proc/self/task") where !own.hasSuffix("/" + thread) {
                counts[thread] = count(thread)
            }
            return counts
        } catch { return nil }
    }

    /// nil for a thread that has ended meanwhile.
    private static func count(_ thread: String) -> Int? {
        ProcessFile.fields("/proc/self/task/\(thread)/status").first { $0.name == "voluntary_ctxt_switches" }
            .map { Int($0.value) }
    }

    /// The wake-ups of other threads while this thread sleeps. Threads that begin or end meanwhile do not count.
    static func during(milliseconds: UInt32) -> Int? {
        guard let before = counts() else { return nil }
        usleep(milliseconds * 1_000)
        return counts()?.reduce(0) { sum, thread in sum + (before[thread.key].map { thread.value - $0 } ?? 0) }
    }
}

extension CaseReport {
    private static let silence: UInt32 = 300
    /// Allowed wake-ups, of threads that have just ended their work. A thread that polls every ten milliseconds has 30.
    private static let mostWakes = 20

    /// Checks that the threads of this process sleep while no process commits.
    func checkSilence() {
        guard let wakes = ThreadWakes.during(milliseconds: Self.silence) else { return }
        let isAsleep = wakes <= Self.mostWakes
        let words = "threads woke \(wakes) times in \(Self.silence) ms without a commit, allowed \(Self.mostWakes)"
        add(
            Trial(
                address: FaultAddress(text: "silence"), outcome: isAsleep ? .correct : .overSize,
                detail: isAsleep ? "" : words))
    }
}
