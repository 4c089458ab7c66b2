/// Collects the latencies of one thread. Not shared between threads: each has its own, merged at the end.
///
/// A slow operation (2 us and more) is timed one by one: `recorder.time { .. }`. Of fast ones every 64th is timed, in a
/// separate pass: `recorder.timeSampled(index) { .. }`.
///
/// With a witness every timed operation is acknowledged as durable, and `commits` counts the answers about its syncs.
/// The witness is called before the clock starts and after it has stopped.
@usableFromInline
package final class LatencyRecorder {
    package private(set) var histogram = Histogram()
    /// Empty without a witness.
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

    /// Runs the operation, and times it when `index` is a multiple of 64.
    @inlinable @inline(__always)
    package func timeSampled<Result, Failure: Error>(
        _ index: Int, _ operation: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard index & 63 == 0 else { return try operation() }
        return try time(operation)
    }
}
