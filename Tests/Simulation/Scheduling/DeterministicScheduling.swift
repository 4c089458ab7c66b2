import Dispatch
import Synchronization

@testable import StrataFiles

/// Runs one thread at a time and chooses which, so that a history of several threads is repeatable, and every
/// interleaving of a short one can be visited.
///
/// Each thread is a real one with a semaphore of its own. A thread may pass the baton to another one at these points:
/// before it takes a lock, when it waits for a condition, and at `spawn`, `yield` and `pause`. A simulated disk can be
/// set to yield before its operations. The scheduler simulates time: it advances the clock when the schedule resumes a
/// thread that pauses, and when only a deadline can resume a thread. It ends each wait whose deadline the clock
/// reaches.
///
/// Concurrency: the baton guards everything. Only the thread that has it calls, and the semaphore that passes it orders
/// the work of the two threads.
final class DeterministicScheduling: Scheduling, @unchecked Sendable {
    private enum State {
        case ready
        case locking(DeterministicMonitor)
        case waiting(DeterministicMonitor, until: UInt64)
        /// The thread pauses until this time. The schedule may resume it at any point, which advances the clock.
        case pausing(UInt64)
        case joining(Set<Int>)
        case done
    }

    private struct Member {
        var label: String
        var state = State.ready
        /// Whether the deadline ended its last wait.
        var isLate = false
        let turn = DispatchSemaphore(value: 0)
    }

    /// Thrown where no thread can go on, or where threads go on without an end.
    struct Deadlock: Error, CustomStringConvertible {
        var description: String
    }

    private var members: [Member] = []
    private var current = 0
    private var chooser: any ScheduleChoosing
    private let ended = DispatchSemaphore(value: 0)
    private var failure: (any Error)?
    private var isAtomic = false
    private var isRunning = false
    private var heldMonitors = 0
    /// Called at every point with the baton, while no monitor is held, for checks and for overwriting free pages.
    var atEveryPoint: (() -> Void)?
    /// Called at every point with the baton, also while threads hold monitors, for checks that take none.
    var atAnyPoint: (() -> Void)?
    private(set) var points = 0
    /// Simulated nanoseconds since the start.
    private var clock: UInt64 = 0

    /// A history with more points than this is considered endless.
    private let pointLimit: Int
    /// The scheduler reports a deadlock if no thread can run, and the nearest deadline is at this time or later.
    private static let timeLimit: UInt64 = 1_000_000_000_000

    init(_ chooser: any ScheduleChoosing, pointLimit: Int = 2_000_000) {
        self.chooser = chooser
        self.pointLimit = pointLimit
    }

    // MARK: Running

    /// Runs `body` and all threads that it spawns, and returns when all have ended.
    /// - Throws: what `body` throws, or ``Deadlock``; its threads are leaked then.
    func run(_ body: @escaping @Sendable () throws -> Void) throws {
        isRunning = true
        start("main") { [self] in
            do { try body() } catch { failure = failure ?? error }
        }
        members[0].turn.signal()
        ended.wait()
        isRunning = false
        if let failure { throw failure }
    }

    /// Runs the bodies concurrently and waits for all of them.
    /// - Throws: the first error that one of them threw.
    func together(_ bodies: [(label: String, body: @Sendable () throws -> Void)]) throws {
        let first = members.count
        let errors = Mutex<[any Error]>([])
        for (label, body) in bodies {
            start(label) {
                do { try body() } catch { errors.withLock { $0.append(error) } }
            }
        }
        let others = Set(first..<members.count)
        members[current].state = .joining(others)
        passOn()
        if let error = errors.withLock({ $0.first }) { throw error }
    }

    private func start(_ label: String, _ body: @escaping @Sendable () -> Void) {
        let number = members.count
        members.append(Member(label: label))
        let turn = members[number].turn
        _ = SystemScheduling().spawn(label) { [self] in
            turn.wait()
            body()
            members[number].state = .done
            leave(number)
        }
    }

    /// Passes the baton on at the end of a thread.
    private func leave(_ number: Int) {
        for index in members.indices {
            guard case .joining(var others) = members[index].state else { continue }
            others.remove(number)
            members[index].state = others.isEmpty ? .ready : .joining(others)
        }
        if let next = choose() {
            current = next
            members[next].turn.signal()
        } else {
            ended.signal()
        }
    }

    // MARK: Points

    /// Lets another thread run, if the schedule says so.
    fileprivate func point() {
        if !isRunning || isAtomic { return }
        points += 1
        if points > pointLimit { return giveUp(Deadlock(description: "a history of more than \(pointLimit) points")) }
        if heldMonitors == 0, let atEveryPoint { atomically(atEveryPoint) }
        if let atAnyPoint { atomically(atAnyPoint) }
        passOn()
    }

    /// Disables switches while `body` runs.
    func atomically(_ body: () -> Void) {
        let before = isAtomic
        isAtomic = true
        body()
        isAtomic = before
    }

    private func passOn() {
        let mine = current
        // Read before the baton is passed: from then on the next thread owns `members`.
        let turn = members[mine].turn
        guard let next = choose() else { return giveUp(Deadlock(description: describeWaiting())) }
        if next == mine { return }
        current = next
        members[next].turn.signal()
        turn.wait()
    }

    /// Ends the run with an error, and blocks the calling thread for ever: no thread goes on.
    private func giveUp(_ deadlock: Deadlock) {
        let turn = members[current].turn
        failure = failure ?? deadlock
        ended.signal()
        turn.wait()
    }

    private func choose() -> Int? {
        // Read before time passes: a thread whose wait ends then could not continue by itself.
        let isForced = if case .ready = members[current].state { false } else { true }
        var ready = runnable
        if ready.isEmpty, failure == nil { ready = letTimePass() }
        if ready.isEmpty {
            let isOver = members.allSatisfy { if case .done = $0.state { true } else { false } }
            if !isOver { failure = failure ?? Deadlock(description: describeWaiting()) }
            return nil
        }
        let next = ready[ready.count == 1 ? 0 : chooser.choose(among: ready.count, isForced: isForced)]
        if case .pausing(let end) = members[next].state {
            members[next].state = .ready
            advance(to: end)
        }
        return next
    }

    /// Threads that can run: the current one first, unless it pauses; pausing threads last, in the order in which their
    /// pauses end, so that a schedule that always takes the first one resumes each of them.
    private var runnable: [Int] {
        var ready: [Int] = []
        var pausing: [(index: Int, end: UInt64)] = []
        if case .ready = members[current].state { ready.append(current) }
        for index in members.indices {
            switch members[index].state {
            case .ready: if index != current { ready.append(index) }
            case .pausing(let end): pausing.append((index, end))
            default: break
            }
        }
        return ready + pausing.sorted { ($0.end, $0.index) < ($1.end, $1.index) }.map(\.index)
    }

    /// Ends the waits with the nearest deadline.
    /// - Returns: the threads that waited for it; none if it is past the limit of time.
    private func letTimePass() -> [Int] {
        let ends = members.map { member in
            if case .waiting(_, let until) = member.state { until } else { UInt64.max }
        }
        guard let nearest = ends.min(), nearest < Self.timeLimit else { return [] }
        return advance(to: nearest)
    }

    /// Advances the clock, and ends the waits whose deadlines it reaches.
    /// - Returns: the threads that waited.
    @discardableResult
    private func advance(to time: UInt64) -> [Int] {
        clock = max(clock, time)
        let late = members.indices.filter { index in
            if case .waiting(_, let until) = members[index].state { until <= clock } else { false }
        }
        for index in late {
            members[index].state = .ready
            members[index].isLate = true
        }
        return late
    }

    private func describeWaiting() -> String {
        let lines = members.compactMap { member -> String? in
            switch member.state {
            case .ready, .done: nil
            case .locking(let monitor): "\(member.label) wants \(monitor.label)"
            case .pausing: "\(member.label) pauses"
            case .waiting(let monitor, _): "\(member.label) waits at \(monitor.label)"
            case .joining: "\(member.label) waits for its threads"
            }
        }
        return "deadlock: no thread can go on: " + lines.joined(separator: ", ")
    }

    // MARK: Monitors

    fileprivate func lock(_ monitor: DeterministicMonitor) {
        point()
        if !isRunning {
            precondition(monitor.owner == nil, "\(monitor.label): a lock is taken twice")
        }
        while let owner = monitor.owner {
            precondition(owner != current, "\(monitor.label): a lock is taken twice")
            precondition(!isAtomic, "\(monitor.label): held by another thread")
            members[current].state = .locking(monitor)
            passOn()
        }
        monitor.owner = current
        heldMonitors += 1
    }

    fileprivate func unlock(_ monitor: DeterministicMonitor) {
        precondition(monitor.owner == current, "\(monitor.label): unlocked by another thread")
        monitor.owner = nil
        heldMonitors -= 1
        for index in members.indices {
            if case .locking(let wanted) = members[index].state, wanted === monitor { members[index].state = .ready }
        }
    }

    /// - Returns: false if the deadline passed first.
    fileprivate func wait(_ monitor: DeterministicMonitor, until deadline: Deadline) -> Bool {
        if remaining(until: deadline) == 0 { return false }
        precondition(isRunning, "\(monitor.label): waits, and no runnable thread can end its wait")
        unlock(monitor)
        let mine = current
        members[mine].state = .waiting(monitor, until: deadline.nanoseconds)
        members[mine].isLate = false
        passOn()
        let isLate = members[mine].isLate
        lock(monitor)
        return !isLate
    }

    fileprivate func wakeAll(_ monitor: DeterministicMonitor) {
        for index in members.indices {
            if case .waiting(let place, _) = members[index].state, place === monitor { members[index].state = .ready }
        }
    }

    // MARK: Scheduling

    func makeMonitor(_ label: String) -> any Monitor { DeterministicMonitor(self, label) }

    func spawn(_ label: String, _ work: @escaping @Sendable () -> Void) -> Bool {
        start(label, work)
        point()
        return true
    }

    func yield(at point: StaticString) { self.point() }

    func pause(microseconds: Int) {
        if !isRunning || isAtomic { return }
        // Each pause takes time, so that threads with later deadlines go on at last.
        members[current].state = .pausing(clock + UInt64(max(microseconds, 1)) * 1_000)
        point()
    }

    func deadline(after microseconds: Int) -> Deadline {
        Deadline(nanoseconds: clock + UInt64(min(max(microseconds, 0), 1 << 50)) * 1_000)
    }

    func remaining(until deadline: Deadline) -> Int {
        if deadline == .never { return .max }
        return deadline.nanoseconds <= clock ? 0 : Int((deadline.nanoseconds - clock + 999) / 1_000)
    }
}

/// Guarded by the baton.
private final class DeterministicMonitor: Monitor, @unchecked Sendable {
    private let scheduling: DeterministicScheduling
    let label: String
    var owner: Int?

    init(_ scheduling: DeterministicScheduling, _ label: String) {
        self.scheduling = scheduling
        self.label = label
    }

    func lock() { scheduling.lock(self) }
    func unlock() { scheduling.unlock(self) }
    func wait() { _ = scheduling.wait(self, until: .never) }
    func wait(until deadline: Deadline) -> Bool { scheduling.wait(self, until: deadline) }
    func wakeAll() { scheduling.wakeAll(self) }
}
