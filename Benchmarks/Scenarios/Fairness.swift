import Harness
import RunRecords

extension CaseReport {
    /// The slowest thread's rate over the fastest one's; nothing where there is one thread alone.
    func addFairness(_ rates: [Double], label: String = "") {
        guard rates.count > 1, let slowest = rates.min(), let fastest = rates.max(), fastest > 0 else { return }
        add(.fairness, slowest / fastest, count: rates.count, label: label)
    }
}
