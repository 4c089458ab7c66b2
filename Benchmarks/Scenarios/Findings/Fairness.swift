import Harness
import RunRecords

extension CaseReport {
    /// Adds the rate of the slowest thread divided by that of the fastest; nothing for a single thread.
    func addFairness(_ rates: [Double], label: String = "") {
        guard rates.count > 1, let slowest = rates.min(), let fastest = rates.max(), fastest > 0 else { return }
        add(.fairness, slowest / fastest, count: rates.count, label: label)
    }
}
