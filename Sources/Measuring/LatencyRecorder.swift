/// Collects the latencies of one thread. Not shared between threads: each has its own, merged at the end.
///
/// A slow operation (2 us and more) is timed one by one: `recorder.time { .. }`. Of a fast one every 64th is timed, in
/// a pass of its own: `recorder.timeSampled(index) { .. }`.
package final class LatencyRecorder {
    package private(set) var histogram = Histogram()

    package init() {}

    package func record(nanoseconds: UInt64) {
        histogram.record(nanoseconds)
    }

    @inlinable
    package func time<Result, Failure: Error>(_ operation: () throws(Failure) -> Result) throws(Failure) -> Result {
        let start = MonotonicClock.now()
        let result = try operation()
        record(nanoseconds: MonotonicClock.now() &- start)
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
