import Measuring
import Platform

/// The clock of a pacer.
package protocol PacerClock {
    func now() -> UInt64
    func sleep(nanoseconds: UInt64)
}

/// The machine's clock.
package struct SystemPacerClock: PacerClock {
    package init() {}

    package func now() -> UInt64 { MonotonicClock.now() }

    package func sleep(nanoseconds: UInt64) {
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // A signal may end the sleep early: the pacer then reads the clock and sleeps again.
        nanosleep(&time, nil)
    }
}

/// Gives a thread its arrivals on a schedule: sleeps until shortly before each, then polls the clock.
///
/// Latency measured from the due time shows how a stall delays the operations queued behind it; latency measured
/// from the start of each operation shows only one slow operation. An arrival that is already due is returned at once,
/// and none is skipped: the thread has a backlog, as a server has a queue.
///
/// `lateness` is the delay of those arrivals that the thread waited for: an error of the pacer and the machine, not of
/// the engine. The figures of an open loop are valid only while it is small.
package struct Pacer<Clock: PacerClock> {
    private let clock: Clock
    private var schedule: ArrivalSchedule
    private let start: UInt64
    /// The longest time before an arrival that is spent polling the clock instead of sleeping.
    private let margin: UInt64
    /// For each arrival that the thread waited for, the time from when it was due until `next` returned it.
    package private(set) var lateness = Histogram()
    /// The number of arrivals that were already due when the thread asked for them.
    package private(set) var overdue = 0

    /// Most systems without real-time guarantees oversleep by less than this.
    private static var longestMargin: UInt64 { 60_000 }

    package init(_ schedule: ArrivalSchedule, clock: Clock) {
        self.clock = clock
        self.schedule = schedule
        start = clock.now()
        // At high rates, the thread still sleeps for half of the interval between arrivals.
        margin = min(Self.longestMargin, UInt64(schedule.meanNanoseconds / 2))
    }

    /// Waits until the next operation is due, and returns its due time.
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
