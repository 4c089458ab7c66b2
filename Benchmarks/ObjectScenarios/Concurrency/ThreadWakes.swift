import Harness
import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How often threads of this process went to sleep, which is how often they were woken: no other work of a machine adds
/// to it.
enum ThreadWakes {
    /// By thread, but for the one that asks; nil where the system does not count.
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

    /// nil for one that has ended by now.
    private static func count(_ thread: String) -> Int? {
        ProcessFile.fields("/proc/self/task/\(thread)/status").first { $0.name == "voluntary_ctxt_switches" }
            .map { Int($0.value) }
    }

    /// Of the threads that are there from the beginning to the end of a pause of this thread.
    static func during(milliseconds: UInt32) -> Int? {
        guard let before = counts() else { return nil }
        usleep(milliseconds * 1_000)
        return counts()?.reduce(0) { sum, thread in sum + (before[thread.key].map { thread.value - $0 } ?? 0) }
    }
}

extension CaseReport {
    private static let silence: UInt32 = 300
    /// What threads still do that have just ended their work. One that looks every ten milliseconds wakes as often.
    private static let mostWakes = 20

    /// Checks that the threads of this process sleep while nothing happens that they would have to hear of.
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
