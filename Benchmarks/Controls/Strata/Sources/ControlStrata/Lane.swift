import Foundation

/// Holds threads back until all of them are there. Guarded by its condition.
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

/// A thread that inserts rows of its own. `@unchecked Sendable`: what it writes is read after `wait`, which the
/// semaphore orders after it.
final class Lane: @unchecked Sendable {
    private let path: String
    private let request: Request
    private let people: People
    private let line: Rendezvous
    private let ended = DispatchSemaphore(value: 0)
    private var times: (start: UInt64, end: UInt64) = (0, 0)

    init(_ path: String, _ request: Request, _ people: People, _ line: Rendezvous) {
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
