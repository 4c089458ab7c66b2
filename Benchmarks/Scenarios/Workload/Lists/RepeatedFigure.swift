import Harness
import RunRecords

/// Repeated values of one figure, of which a case reports the median, the minimum and the maximum.
struct RepeatedFigure {
    private var values: [Double] = []
    private(set) var count = 0

    mutating func add(_ nanoseconds: UInt64, operations: Int) {
        values.append(Double(nanoseconds) / Double(max(1, operations)))
        count += operations
    }

    func report(_ label: String, to report: CaseReport) {
        let sorted = values.sorted()
        guard let least = sorted.first, let most = sorted.last else { return }
        report.add(
            .operationNanoseconds, sorted[sorted.count / 2], statistic: "median", count: count, label: label)
        report.add(.operationNanoseconds, least, statistic: "min", count: count, label: label)
        report.add(.operationNanoseconds, most, statistic: "max", count: count, label: label)
    }
}
