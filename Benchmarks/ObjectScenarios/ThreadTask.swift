import Foundation
import Harness
import Synchronization

/// Code that runs on a thread of its own from the start.
final class ThreadTask<Output: Sendable>: Sendable {
    private let result: SharedResult<Output>

    private final class SharedResult<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    init(_ body: @escaping @Sendable () throws -> Output) {
        let result = SharedResult<Output>()
        self.result = result
        Thread {
            let end = Result { try body() }
            result.value.withLock { $0 = end }
            result.done.signal()
        }.start()
    }

    /// Waits for the end. Call it once.
    func wait() throws -> Output {
        result.done.wait()
        guard let end = result.value.withLock({ $0 }) else { throw HarnessError("a thread ended without a result") }
        return try end.get()
    }
}

/// Runs code on a thread of its own, and waits for it.
enum OtherThread {
    static func run<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) throws -> Output {
        try ThreadTask(body).wait()
    }
}
