import Harness
import Measuring

/// How long a process was waited for, without the time in which it stood ready and had no processor: on a busy machine
/// that is not its own.
struct Patience {
    private let processID: Int32
    private let start = MonotonicClock.now()
    private let waitedBefore: UInt64
    /// A process that never gets a processor is given up after so many times the limit all the same.
    private static let most = 10.0

    init(for processID: Int32) {
        self.processID = processID
        waitedBefore = ProcessFile.processorWait(processID: processID)
    }

    func isOver(seconds: Double) -> Bool {
        let elapsed = Double(MonotonicClock.now() - start) / 1e9
        if elapsed <= seconds { return false }
        let now = ProcessFile.processorWait(processID: processID)
        // Of a process that has ended the system says nothing.
        let waited = now > waitedBefore ? Double(now - waitedBefore) / 1e9 : 0
        return elapsed - waited > seconds || elapsed > seconds * Self.most
    }
}
