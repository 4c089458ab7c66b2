import Measuring

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a pacer looks at and sleeps by.
package protocol PacerClock {
    func now() -> UInt64
    func sleep(nanoseconds: UInt64)
}

/// The machine's.
package struct SystemPacerClock: PacerClock {
    package init() {}

    package func now() -> UInt64 { MonotonicClock.now() }

    package func sleep(nanoseconds: UInt64) {
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // A signal that wakes it early is one more look at the clock.
        nanosleep(&time, nil)
    }
}

/// Gives a thread its arrivals on a schedule: sleeps until shortly before each, and looks at the clock from there on.
///
/// Whoever measures from the moment at which an operation was due sees what a stall does to those that wait behind it;
/// whoever measures from the moment at which it began sees one slow operation. An arrival that is due already is handed
/// out at once, and none is left out: the thread has its backlog, as a server has its queue.
///
/// How late arrivals came that nobody was in the way of is the pacer's own doing, and the machine's: `lateness`. A
/// figure from an open loop is worth no more than that is small.
package struct Pacer<Clock: PacerClock> {
    private let clock: Clock
    private var schedule: ArrivalSchedule
    private let start: UInt64
    /// What the pacer looks at the clock for at most, instead of sleeping.
    private let margin: UInt64
    /// Of arrivals that the thread waited for: from when they were due to when they were handed out.
    package private(set) var lateness = Histogram()
    /// Arrivals that were due before the thread asked for them.
    package private(set) var overdue = 0

    /// Longer than a system without promises oversleeps, as a rule.
    private static var longestMargin: UInt64 { 60_000 }

    package init(_ schedule: ArrivalSchedule, clock: Clock) {
        self.clock = clock
        self.schedule = schedule
        start = clock.now()
        // At high rates the thread still sleeps half of its time.
        margin = min(Self.longestMargin, UInt64(schedule.meanNanoseconds / 2))
    }

    /// Waits until the next operation is due, and answers when that was.
    package mutating func next() -> UInt64 {
        let due = start &+ schedule.next()
        var now = clock.now()
        guard now < due else {
            overdue += 1
            return due
        }
        while now < due {
            if due - now > margin { clock.sleep(nanoseconds: due - now - margin) }
            now = clock.now()
        }
        lateness.record(now - due)
        return due
    }
}

extension Pacer where Clock == SystemPacerClock {
    package init(_ schedule: ArrivalSchedule) { self.init(schedule, clock: SystemPacerClock()) }
}
