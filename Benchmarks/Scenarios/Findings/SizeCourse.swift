import Harness
import RunRecords

/// The sizes of a database during a case, to judge whether they reach a plateau.
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
    private var files: [Int] { series.points.map(\.fileBytes) }
    private var logs: [Int] { series.points.map(\.logBytes) }

    /// One step of growth: engines double a small file, and extend a large one by a fixed amount.
    private static let stepBytes = 1 << 20

    /// The allowed size of later files: a percentage of the largest one during the warm-up, plus one step of growth.
    static func allowedFile(from basis: Int, percent: Int) -> Int {
        basis * percent / 100 + min(stepBytes, basis)
    }

    /// The allowed size of later logs. A log is preallocated, up to a step at once, so it is not in proportion to a
    /// small file.
    static func allowedLog(from basis: Int, percent: Int) -> Int {
        max(stepBytes, basis * percent / 100)
    }

    /// Why the largest file, or the largest log, is too large; empty if both are within their limits.
    static func complaint(file: Int, allowed: Int, log: Int, allowedLog: Int) -> String {
        if file > allowed { return "a file of \(file) bytes, allowed \(allowed)" }
        return log > allowedLog ? "a log of \(log) bytes, allowed \(allowedLog)" : ""
    }

    /// Adds series and sizes to the report, and judges them where the engine promises a bound.
    /// - Parameters:
    ///   - warmUp: first points, whose largest size is the basis.
    ///   - percent: the allowed size of later points in percent of the basis, besides a step of growth.
    ///   - name: of the database, where a case has several.
    func judgePlateau(_ context: CaseContext, warmUp: Int, percent: Int, name: String = "") {
        let (report, totals) = (context.report, totals)
        var own = series
        if !name.isEmpty { own.name += ", \(name)" }
        report.add(own)
        func label(_ text: String) -> String { name.isEmpty ? text : "\(name), \(text)" }
        guard let first = totals.first, let last = totals.last, let largest = totals.max() else { return }
        report.add(.fileBytes, Double(first), label: label("before"))
        report.add(.fileBytes, Double(largest), statistic: "max", label: label("at most"))
        report.add(.fileBytes, Double(last), label: label("after"))
        if let free = series.points.last?.freeBytes { report.add(.freeBytes, Double(free), label: label("after")) }
        guard totals.count > max(1, warmUp) else {
            report.inconclusive("\(totals.count) sizes say nothing of a plateau: it begins after \(warmUp)")
            return
        }
        let basis = totals.prefix(max(1, warmUp)).max() ?? first
        let later = totals.dropFirst(max(1, warmUp)).max() ?? basis
        if basis > 0 { report.add(.growth, Double(later) / Double(basis), statistic: "max", label: name) }
        guard context.engine.promises(.boundedSize) else {
            report.note("\(context.engine.name) promises no bound: its growth is shown, not judged")
            return
        }
        func peaks(_ sizes: [Int]) -> (before: Int, later: Int) {
            (sizes.prefix(max(1, warmUp)).max() ?? 0, sizes.dropFirst(max(1, warmUp)).max() ?? 0)
        }
        let (file, log) = (peaks(files), peaks(logs))
        let complaint = Self.complaint(
            file: file.later, allowed: Self.allowedFile(from: file.before, percent: percent), log: log.later,
            allowedLog: Self.allowedLog(from: log.before, percent: percent))
        report.add(
            Trial(
                address: FaultAddress(text: label("plateau")), outcome: complaint.isEmpty ? .correct : .overSize,
                detail: complaint.isEmpty ? "" : "\(complaint) after a warm-up of \(file.before) and \(log.before)"))
    }
}

extension Metric {
    /// Bytes inside the file that can be reused.
    static let freeBytes = Metric("free_bytes", unit: "bytes", .neutral, .measured)
    /// Bytes written to the disk divided by bytes that changed.
    static let writeAmplification = Metric("write_amplification_ratio", unit: "ratio", .lowerIsBetter, .measured)
    /// Open descriptors and mappings of this process.
    static let handles = Metric("handles", unit: "count", .lowerIsBetter, .measured)
}
