import Harness
import Measuring

/// The time waited for a process, without the time in which it was ready to run and had no processor: that is the load
/// of the machine.
struct ProcessTimeout {
    private let processID: Int32
    private let start = MonotonicClock.now()
    private let waitedBefore: UInt64
    /// A process that gets no processor counts as hung after this many times the limit.
    private static let most = 10.0

    init(for processID: Int32) {
        self.processID = processID
        waitedBefore = ProcessFile.processorWait(processID: processID)
    }

    func isOver(seconds: Double) -> Bool {
        let elapsed = Double(MonotonicClock.now() - start) / 1e9
        if elapsed <= seconds { return false }
        let now = ProcessFile.processorWait(processID: processID)
        // The kernel reports no wait of a process that has ended.
        let waited = now > waitedBefore ? Double(now - waitedBefore) / 1e9 : 0
        return elapsed - waited > seconds || elapsed > seconds * Self.most
    }
}
