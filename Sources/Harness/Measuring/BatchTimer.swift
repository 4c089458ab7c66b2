/// Throughput of operations that are too fast to be timed one by one.
package enum BatchTimer {
    /// The least duration of a batch: the 20 to 40 ns of a reading of the clock are then below 0.01 % of it.
    package static let minimumBatchNanoseconds: UInt64 = 1_000_000

    /// Runs batches of growing size until one takes a millisecond, then `batches` of that size.
    ///
    /// `batch(n)` does n operations without reading a clock. The growing batches are the warm-up, and not part of the
    /// result. `maximumOperations` bounds the largest batch, for data with few rows.
    ///
    /// `answered` gets the answer of each batch, also of the warm-up, outside the measured time.
    package static func measure<Answer>(
        batches: Int = 15, maximumOperations: Int = 1 << 24, _ batch: (_ operations: Int) throws -> Answer,
        answered: (_ operations: Int, Answer) -> Void = { _, _ in }
    ) rethrows -> BatchTiming {
        func time(_ operations: Int) throws -> UInt64 {
            let start = MonotonicClock.now()
            let answer = try batch(operations)
            let elapsed = MonotonicClock.now() &- start
            answered(operations, answer)
            return elapsed
        }
        var operations = 1
        while operations < maximumOperations {
            var elapsed = try time(operations)
            // Times the batch again: the first time may be long only because the thread waited for a processor.
            if elapsed >= minimumBatchNanoseconds { elapsed = min(elapsed, try time(operations)) }
            if elapsed >= minimumBatchNanoseconds { break }
            // At least doubled, so that the loop ends even when the clock does not advance.
            let factor = elapsed == 0 ? 8 : min(8, max(2, Int(minimumBatchNanoseconds / elapsed) + 1))
            operations = min(maximumOperations, operations * factor)
        }
        var nanoseconds: [UInt64] = []
        for _ in 0..<max(1, batches) {
            nanoseconds.append(try time(operations))
        }
        return BatchTiming(operationsPerBatch: operations, batchNanoseconds: nanoseconds.sorted())
    }

    /// The cost of the loop around an operation. Reports print it beside the figures, and never subtract it.
    package static func emptyLoop() -> BatchTiming {
        var sum: UInt64 = 0
        let timing = measure { operations in
            for index in 0..<operations {
                sum &+= opaque(UInt64(truncatingIfNeeded: index))
            }
        }
        // Uses the sum, so that the compiler keeps the loop; the sum is never the maximum.
        precondition(sum != .max)
        return timing
    }

    @inline(never)
    private static func opaque(_ value: UInt64) -> UInt64 {
        value
    }
}

/// The timings of several batches with the same number of operations.
package struct BatchTiming: Sendable {
    package let operationsPerBatch: Int
    /// Ascending.
    package let batchNanoseconds: [UInt64]

    package var count: Int { batchNanoseconds.count * operationsPerBatch }

    /// Time per operation of the median batch.
    package var medianNanoseconds: Double {
        perOperation(batchNanoseconds[batchNanoseconds.count / 2])
    }

    package var minimumNanoseconds: Double {
        perOperation(batchNanoseconds[0])
    }

    package var maximumNanoseconds: Double {
        perOperation(batchNanoseconds[batchNanoseconds.count - 1])
    }

    package var operationsPerSecond: Double {
        medianNanoseconds > 0 ? 1e9 / medianNanoseconds : 0
    }

    private func perOperation(_ nanoseconds: UInt64) -> Double {
        Double(nanoseconds) / Double(operationsPerBatch)
    }
}
