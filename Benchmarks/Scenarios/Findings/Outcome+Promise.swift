import Harness
import RunRecords

extension Outcome {
    /// The promise that the outcome breaks when no file was damaged, but processes were killed or power failed:
    /// acknowledged commits are durable, transactions are atomic, and surviving processes make progress. `other`: the
    /// promise that an error breaks.
    func brokenPromise(or other: Promise.Kind?) -> Promise.Kind? {
        switch self {
        case .lostCommit: .durability
        case .silentlyWrong: .atomicity
        case .hung: .boundedWait
        case .memoryLimit, .overSize: .boundedSize
        // No engine has to promise this: none may crash.
        case .crashed: nil
        default: other
        }
    }
}
