import Platform
import Synchronization

/// Runs one body on several threads at the same time, and waits for all of them.
package enum ThreadGroup {
    /// Returns the results in the order of the indexes. Each thread waits until the last one has started, so that all
    /// enter the body together.
    ///
    /// Throws: the error of the lowest index that threw, after all threads have ended.
    package static func run<Output: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (_ index: Int) throws -> Output
    ) throws -> [Output] {
        precondition(count > 0)
        let board = Board<Output>(count: count)
        var threads: [pthread_t] = []
        for index in 0..<count {
            let start = ThreadStart { [board] in
                board.arriveAndWait()
                let result = Result { try body(index) }
                board.results.withLock { $0[index] = result }
            }
            do {
                threads.append(try start.spawn())
            } catch {
                // Count the threads that were not started as arrived, so that the others enter the body and end.
                board.arrived.add(count - index, ordering: .sequentiallyConsistent)
                for thread in threads { pthread_join(thread, nil) }
                throw error
            }
        }
        for thread in threads { pthread_join(thread, nil) }
        return try board.results.withLock { results in
            try results.map { result in
                guard let result else { throw HarnessError("a thread ended without a result") }
                return try result.get()
            }
        }
    }

    private final class Board<Output: Sendable>: Sendable {
        let arrived = Atomic<Int>(0)
        let count: Int
        let results: Mutex<[Result<Output, any Error>?]>

        init(count: Int) {
            self.count = count
            results = Mutex(Array(repeating: nil, count: count))
        }

        func arriveAndWait() {
            arrived.add(1, ordering: .sequentiallyConsistent)
            while arrived.load(ordering: .sequentiallyConsistent) < count {
                sched_yield()
            }
        }
    }
}

/// Passes a closure to a new thread.
package final class ThreadStart: Sendable {
    private let body: @Sendable () -> Void

    package init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    /// The caller has to join or detach the thread.
    package func spawn() throws(HarnessError) -> pthread_t {
        let context = Unmanaged.passRetained(self)
        #if canImport(Glibc)
            var thread = pthread_t()
            let status = pthread_create(&thread, nil, { @Sendable in ThreadStart.enter($0) }, context.toOpaque())
            guard status == 0 else {
                context.release()
                throw HarnessError("cannot start a thread: \(String(cString: strerror(status)))")
            }
            return thread
        #else
            var thread: pthread_t?
            let status = pthread_create(&thread, nil, { @Sendable in ThreadStart.enter($0) }, context.toOpaque())
            guard status == 0, let thread else {
                context.release()
                throw HarnessError("cannot start a thread: \(String(cString: strerror(status)))")
            }
            return thread
        #endif
    }

    private static func enter(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue().body()
        return nil
    }
}
