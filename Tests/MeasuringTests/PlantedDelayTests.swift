#if Zoo
    import Platform
    import Testing

    @testable import Measuring

    @Suite(.serialized)
    struct PlantedDelayTests {
        private func systemTime() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }

        private func work(nanoseconds: UInt64) {
            let end = systemTime() + nanoseconds
            while systemTime() < end {}
        }

        @Test("the time between two clock reads grows by the share, and nested reads add up to it")
        func stretches() {
            PlantedDelay.begin(percent: 150)
            defer { PlantedDelay.begin(percent: 0) }
            let start = MonotonicClock.now()
            let before = systemTime()
            work(nanoseconds: 2_000_000)
            let inner = MonotonicClock.now()
            work(nanoseconds: 2_000_000)
            let end = MonotonicClock.now()
            let after = systemTime()
            // The work took at least 4 ms, and the wait is one and a half times that.
            #expect(end - inner >= 5_000_000)
            #expect(end - start >= 10_000_000)
            #expect(after - before >= 10_000_000, "the time has really passed")
        }
    }
#endif
