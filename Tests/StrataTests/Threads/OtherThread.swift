import Foundation

/// Runs work on a thread of its own and waits for it.
enum OtherThread {
    private struct Carried: @unchecked Sendable {  // the caller waits while it runs
        let work: () -> Void
    }

    static func run(_ work: @escaping () -> Void) {
        let carried = Carried(work: work)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            carried.work()
            done.signal()
        }
        thread.start()
        done.wait()
    }
}
