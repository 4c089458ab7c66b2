import Measuring
import Seeds
import Testing

@testable import Harness

/// A clock that advances when the test sleeps, works, or reads it.
private final class TestClock: PacerClock {
    var time: UInt64 = 1_000_000
    var slept: UInt64 = 0
    /// How much longer every sleep takes than requested.
    var oversleep: UInt64 = 0
    var looks = 0

    func now() -> UInt64 {
        looks += 1
        time += 20
        return time
    }

    func sleep(nanoseconds: UInt64) {
        slept += nanoseconds
        time += nanoseconds + oversleep
    }
}

/// An open loop: operations begin at their times, however long the earlier ones take.
@Suite struct PacerTests {
    /// One thread at 800 requests a second with a millisecond of work each, and once, in the middle, `stall` more.
    private func run(
        stall: UInt64, spacing: ArrivalSchedule.Spacing = .constant
    ) -> (response: Histogram, service: Histogram, lateness: Histogram, overdue: Int) {
        let clock = TestClock()
        var pacer = Pacer(ArrivalSchedule(rate: 800, spacing: spacing, seed: Seed(1)), clock: clock)
        var (response, service) = (Histogram(), Histogram())
        for number in 0..<2_000 {
            let due = pacer.next()
            let begin = clock.time
            clock.time += 1_000_000 + (number == 1_000 ? stall : 0)
            response.record(clock.time - due)
            service.record(clock.time - begin)
        }
        return (response, service, pacer.lateness, pacer.overdue)
    }

    @Test("a stall of 50 ms at four fifths of saturation shows in many response times, and in one service time")
    func stall() {
        let (response, service, _, overdue) = run(stall: 50_000_000)
        // A quarter of a millisecond is idle between two requests, so 200 requests wait until the backlog is gone.
        #expect((190...210).contains(overdue))
        #expect(service.quantile(0.99) < 1_100_000)
        #expect(service.quantile(0.999) < 1_100_000)
        #expect(response.quantile(0.99) > 35_000_000)
        #expect(response.quantile(0.95) > 20_000_000)
        #expect(response.quantile(0.5) < 1_200_000)
    }

    @Test("without a stall response time equals service time, if the pacer is punctual")
    func noStall() {
        let (response, service, lateness, overdue) = run(stall: 0)
        #expect(overdue == 0)
        #expect(response.quantile(0.999) < service.quantile(0.999) + 100_000)
        #expect(lateness.count == 2_000)
        #expect(lateness.maximum < 1_000)
    }

    @Test("random arrivals wait for each other where even ones do not")
    func poisson() {
        let even = run(stall: 0)
        let random = run(stall: 0, spacing: .poisson)
        #expect(random.overdue > 500)
        #expect(random.response.quantile(0.9) > 2 * even.response.quantile(0.9))
    }

    @Test("no arrival is skipped, and the rate is kept", arguments: ArrivalSchedule.Spacing.allCases)
    func schedule(spacing: ArrivalSchedule.Spacing) {
        var schedule = ArrivalSchedule(rate: 1_000, spacing: spacing, seed: Seed(7))
        var again = ArrivalSchedule(rate: 1_000, spacing: spacing, seed: Seed(7))
        var last: UInt64 = 0
        for _ in 0..<20_000 {
            let next = schedule.next()
            #expect(next >= last)
            #expect(next == again.next())
            last = next
        }
        #expect(abs(Double(last) / 20e9 - 1) < 0.05)
    }

    @Test("a pacer that oversleeps reports it, and does not spin for long")
    func lateness() {
        let clock = TestClock()
        clock.oversleep = 3_000_000
        var pacer = Pacer(ArrivalSchedule(rate: 100, spacing: .constant, seed: Seed(1)), clock: clock)
        for _ in 0..<50 { _ = pacer.next() }
        #expect(pacer.lateness.count == 50)
        #expect(pacer.lateness.quantile(0.5) > 2_500_000)
        // Two clock reads per arrival after a late sleep, instead of a busy loop.
        #expect(clock.looks <= 101)
    }

    /// Searches for the saturation of a server that keeps its bound up to a rate.
    /// - Parameter hiccup: the number of a window that fails at every rate.
    private func search(capacity: Double, guess: Double, most: Int = 40, hiccup: Int? = nil) -> SaturationSearch {
        var search = SaturationSearch(guess: guess, most: most)
        while let rate = search.next {
            search.note(holds: rate <= capacity && search.attempts.count != hiccup)
        }
        return search
    }

    @Test("the search comes within a tenth of saturation", arguments: [10.0, 900, 1_000, 25_000])
    func saturation(guess: Double) throws {
        let found = try #require(search(capacity: 1_000, guess: guess).largest)
        #expect(found <= 1_000 && found > 900)
    }

    @Test("one window disturbed by a busy machine does not end the search too low")
    func hiccup() throws {
        let found = search(capacity: 1_000, guess: 800, hiccup: 0)
        #expect(found.attempts[0] == SaturationSearch.Attempt(rate: 800, holds: false))
        #expect(found.attempts[1] == SaturationSearch.Attempt(rate: 800, holds: true))
        #expect(try #require(found.largest) > 900)
    }

    @Test("a search with a limit of tries ends, and finds nothing if no rate holds")
    func bounded() {
        let none = search(capacity: 0, guess: 1_000, most: 7)
        #expect(none.attempts.count == 7)
        #expect(none.largest == nil)
        #expect(search(capacity: .infinity, guess: 1_000, most: 5).attempts.count == 5)
    }
}
