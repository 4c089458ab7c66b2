import Foundation

/// A barrier that holds threads until all have arrived. Guarded by its condition.
final class Rendezvous: @unchecked Sendable {
    private let condition = NSCondition()
    private var missing: Int

    init(_ count: Int) { missing = count }

    func arriveAndWait() {
        condition.lock()
        missing -= 1
        condition.broadcast()
        while missing > 0 { condition.wait() }
        condition.unlock()
    }
}

/// A thread that inserts rows of its own. `@unchecked Sendable`: its results are read after `wait`, which the semaphore
/// orders after the writes.
final class Lane: @unchecked Sendable {
    private let path: String
    private let request: Request
    private let people: People
    private let line: Rendezvous
    private let ended = DispatchSemaphore(value: 0)
    private var times: (start: UInt64, end: UInt64) = (0, 0)

    init(_ path: String, _ request: Request, people: People, line: Rendezvous) {
        (self.path, self.request, self.people, self.line) = (path, request, people, line)
    }

    func start() {
        Thread { [self] in
            do {
                let database = try Database(path, request)
                line.arriveAndWait()
                times.start = now()
                try database.insertEach(people)
                times.end = now()
                database.close()
            } catch {
                fail("\(error)")
            }
            ended.signal()
        }.start()
    }

    func wait() -> (start: UInt64, end: UInt64) {
        ended.wait()
        return times
    }
}
