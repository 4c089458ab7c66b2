import Harness
import RunRecords

/// The sizes of a database in the course of a case, and whether they stay on a plateau.
struct SizeCourse {
    private(set) var series: Series

    init(step: String) { series = Series(name: "size", step: step) }

    mutating func note(_ session: any Session, at position: Int) throws {
        var point = try session.sizes()
        point.position = position
        series.points.append(point)
    }

    mutating func note(_ point: SizePoint) { series.points.append(point) }

    private var totals: [Int] { series.points.map { $0.fileBytes + $0.logBytes } }

    /// Hands series and sizes to the report, and judges them where the engine promises a bound.
    /// - Parameters:
    ///   - warmUp: points in front, whose largest size is what later ones are compared with.
    ///   - percent: of it, and 1 MiB more, is the size that later points may reach.
    func judgePlateau(_ context: CaseContext, warmUp: Int, percent: Int) {
        let (report, totals) = (context.report, totals)
        report.add(series)
        guard let first = totals.first, let last = totals.last, let largest = totals.max() else { return }
        report.add(.fileBytes, Double(first), label: "before")
        report.add(.fileBytes, Double(largest), statistic: "max", label: "at most")
        report.add(.fileBytes, Double(last), label: "after")
        if let free = series.points.last?.freeBytes { report.add(.freeBytes, Double(free), label: "after") }
        let basis = totals.prefix(max(1, warmUp)).max() ?? first
        let later = totals.dropFirst(max(1, warmUp)).max() ?? basis
        if basis > 0 { report.add(.growth, Double(later) / Double(basis), statistic: "max") }
        guard context.engine.promises(.boundedSize) else {
            report.note("\(context.engine.name) promises no bound: its growth is shown, not judged")
            return
        }
        let allowed = basis / 100 * percent + 1 << 20
        report.add(
            Trial(
                address: FaultAddress(text: "plateau"), outcome: later <= allowed ? .correct : .memoryLimit,
                detail: later <= allowed ? "" : "\(later) bytes after a warm-up of \(basis), allowed \(allowed)"))
    }
}

extension Metric {
    /// Bytes inside the file that can be used again.
    static let freeBytes = Metric("free_bytes", unit: "bytes", .neutral, .measured)
    /// Bytes written to the disk over bytes that changed.
    static let writeAmplification = Metric("write_amplification_ratio", unit: "ratio", .lowerIsBetter, .measured)
    /// Descriptors and maps of this process.
    static let handles = Metric("handles", unit: "count", .lowerIsBetter, .measured)
}
