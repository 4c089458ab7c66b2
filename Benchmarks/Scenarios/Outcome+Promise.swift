import Harness
import RunRecords

extension Outcome {
    /// The promise that it breaks where nothing was damaged and processes or power ended: what was acknowledged is
    /// durable, transactions are whole, and who is left gets on. `other`: what an error breaks.
    func brokenPromise(or other: Promise.Kind?) -> Promise.Kind? {
        switch self {
        case .lostCommit: .durability
        case .silentlyWrong: .atomicity
        case .hung: .boundedWait
        case .memoryLimit, .overSize: .boundedSize
        // No promise is needed for that: every engine has to get it right.
        case .crashed: nil
        default: other
        }
    }
}
