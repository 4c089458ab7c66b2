import Foundation
import Harness
import Synchronization

/// Runs code on a thread of its own, and waits for it.
enum OtherThread {
    private final class Result<Output: Sendable>: Sendable {
        let value = Mutex<Swift.Result<Output, any Error>?>(nil)
    }

    static func run<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) throws -> Output {
        let result = Result<Output>()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let end = Swift.Result { try body() }
            result.value.withLock { $0 = end }
            done.signal()
        }
        thread.start()
        done.wait()
        guard let end = result.value.withLock({ $0 }) else { throw HarnessError("a thread ended without a result") }
        return try end.get()
    }
}
