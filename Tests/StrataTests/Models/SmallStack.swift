import Foundation

/// Runs work on a thread with the small stack of a dispatch queue's threads, and waits for it.
enum SmallStack {
    private struct Carried: @unchecked Sendable {  // the caller waits while it runs
        let work: () -> Void
    }

    static func run(kilobytes: Int = 512, _ work: @escaping () -> Void) {
        let carried = Carried(work: work)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            carried.work()
            done.signal()
        }
        thread.stackSize = kilobytes << 10
        thread.start()
        done.wait()
    }

    /// Runs work that may throw, and throws its error.
    static func trying(kilobytes: Int = 512, _ work: @escaping () throws -> Void) throws {
        var failure: (any Error)?
        run(kilobytes: kilobytes) {
            do { try work() } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
