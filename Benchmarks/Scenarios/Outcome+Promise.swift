import Harness
import RunRecords

extension Outcome {
    /// The promise that it breaks where nothing was damaged, but processes or power failed: acknowledged commits are
    /// durable, transactions are atomic, and surviving processes make progress. `other`: what an error breaks.
    func brokenPromise(or other: Promise.Kind?) -> Promise.Kind? {
        switch self {
        case .lostCommit: .durability
        case .silentlyWrong: .atomicity
        case .hung: .boundedWait
        case .memoryLimit, .overSize: .boundedSize
        // Needs no promise: every engine must get it right.
        case .crashed: nil
        default: other
        }
    }
}
