import Measuring
import RunRecords

/// Times batches whose input is made before the clock starts: for operations that use other data each time.
struct PreparedBatches {
    /// Nanoseconds per operation of each batch, ascending.
    let nanoseconds: [Double]
    let operationsPerBatch: Int

    var median: Double { nanoseconds[nanoseconds.count / 2] }
    var count: Int { nanoseconds.count * operationsPerBatch }

    /// Finds a batch of at least a millisecond by doubling (the warm-up), then measures `batches` of that size.
    ///
    /// `prepare(n, batch)` makes the input of n operations; inputs of batches may differ. `maximum` bounds n.
    /// `answered` gets the answer of each batch, those of the warm-up too, while no clock runs.
    /// Stops early, after three batches, when they have taken a second or when `isOverBudget` says so.
    static func measure<Input, Answer>(
        batches: Int = 15, from minimum: Int = 256, maximum: Int, isOverBudget: () -> Bool,
        prepare: (_ operations: Int, _ batch: Int) -> Input, run: (Input) throws -> Answer,
        answered: (Input, Answer) -> Void = { _, _ in }
    ) rethrows -> PreparedBatches {
        var operations = min(minimum, maximum)
        var number = 0
        func time() throws -> UInt64 {
            let input = prepare(operations, number)
            number += 1
            let start = MonotonicClock.now()
            let answer = try run(input)
            let elapsed = MonotonicClock.now() &- start
            answered(input, answer)
            return elapsed
        }
        var nanoseconds: [Double] = []
        while true {
            let elapsed = try time()
            // A long batch needs no separate warm-up, so it counts.
            if elapsed >= 50_000_000 { nanoseconds.append(Double(elapsed) / Double(operations)) }
            guard elapsed < BatchTimer.minimumBatchNanoseconds, operations < maximum else { break }
            operations = min(maximum, operations * 2)
        }
        let limit = MonotonicClock.now() + 1_000_000_000
        while nanoseconds.count < batches {
            if nanoseconds.count >= 3 && (MonotonicClock.now() > limit || isOverBudget()) { break }
            nanoseconds.append(Double(try time()) / Double(operations))
        }
        return PreparedBatches(nanoseconds: nanoseconds.sorted(), operationsPerBatch: operations)
    }
}
