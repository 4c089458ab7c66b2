/// Collects the latencies of one thread. Each thread has a recorder of its own; their histograms are merged at the end.
///
/// Slow operations (2 us and more) are timed one by one: `recorder.time { .. }`. Of fast operations every 64th is
/// timed: `recorder.timeSampled(index) { .. }`, in a pass of its own.
///
/// With a witness, every timed operation must be one that the engine acknowledges as durable, and `commits` counts the
/// witness's answers. The witness is called before the clock starts and after it has stopped.
@usableFromInline
package final class LatencyRecorder {
    package private(set) var histogram = Histogram()
    /// The witness's answers; empty without a witness.
    package private(set) var commits = CommitAnswers()
    @usableFromInline
    package let witness: IOWitness?

    package init(witness: IOWitness? = nil) {
        self.witness = witness
    }

    @usableFromInline
    package func record(nanoseconds: UInt64) {
        histogram.record(nanoseconds)
    }

    /// An operation that throws was not acknowledged: it has no latency and no answer.
    @inlinable
    package func time<Result, Failure: Error>(_ operation: () throws(Failure) -> Result) throws(Failure) -> Result {
        if let witness { return try time(operation, by: witness) }
        let start = MonotonicClock.now()
        let result = try operation()
        record(nanoseconds: MonotonicClock.now() &- start)
        return result
    }

    @usableFromInline
    package func time<Result, Failure: Error>(
        _ operation: () throws(Failure) -> Result, by witness: IOWitness
    ) throws(Failure) -> Result {
        let commit = witness.beginCommit()
        let start = MonotonicClock.now()
        let result = try operation()
        let end = MonotonicClock.now()
        commits.count(witness.endCommit(commit))
        record(nanoseconds: end &- start)
        return result
    }

    /// Runs the operation, and times it if `index` is a multiple of 64.
    @inlinable @inline(__always)
    package func timeSampled<Result, Failure: Error>(
        _ index: Int, _ operation: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard index & 63 == 0 else { return try operation() }
        return try time(operation)
    }
}
