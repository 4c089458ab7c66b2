import Testing

@testable import Measuring

@Suite struct BatchTimerTests {
    @Test("a batch takes a millisecond, or has the maximum size")
    func batchesAreLongEnough() {
        let bounded = BatchTimer.measure(batches: 3, maximumOperations: 64) { _ in }
        #expect(bounded.operationsPerBatch == 64)
        #expect(bounded.batchNanoseconds.count == 3)
        var total = 0
        let timing = BatchTimer.measure(batches: 5) { operations in
            // Slow on every machine: the batch waits for the clock.
            let end = MonotonicClock.now() + UInt64(operations) * 10_000
            while MonotonicClock.now() < end {}
            total += operations
        }
        #expect(timing.batchNanoseconds[0] >= BatchTimer.minimumBatchNanoseconds)
        #expect(timing.medianNanoseconds >= 10_000)
        #expect(total >= timing.count, "the warm-up is not measured")
        #expect(timing.minimumNanoseconds <= timing.medianNanoseconds)
        #expect(timing.medianNanoseconds <= timing.maximumNanoseconds)
    }

    @Test("the empty loop takes some time, and less than a microsecond per round")
    func emptyLoop() {
        let timing = BatchTimer.emptyLoop()
        #expect(timing.medianNanoseconds > 0)
        #expect(timing.operationsPerBatch > 1_000)
    }

    @Test("every 64th operation is timed, and every operation is done")
    func sampling() {
        let recorder = LatencyRecorder()
        var done = 0
        for index in 0..<1_000 {
            recorder.timeSampled(index) { done += 1 }
        }
        #expect(done == 1_000)
        #expect(recorder.histogram.count == 16)
    }

    @Test("a throwing operation is not timed, and its error is rethrown")
    func throwing() {
        struct Failure: Error {}
        let recorder = LatencyRecorder()
        #expect(throws: Failure.self) {
            try recorder.time { () throws(Failure) in throw Failure() }
        }
        #expect(recorder.histogram.isEmpty)
    }
}
