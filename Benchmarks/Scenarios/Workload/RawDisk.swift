import Harness
import Measuring
import RunRecords

/// The limits that the engines are compared with. It touches no engine: a plan lists it with one of them.
struct RawDisk: Scenario {
    let slug = "raw-disk"
    let family = Family.workload
    let question = "What do this disk and this memory give without an engine?"
    let requires: Set<Capability> = []
    let parameters = [
        ScenarioParameter(
            "syncs", default: "1000", range: 2...100_000_000, summary: "blocks written and synced one by one"),
        ScenarioParameter("mebibytes", default: "64", range: 1...4_096, summary: "size of what is read in one go"),
    ]

    func run(_ context: CaseContext) throws {
        let report = context.report
        let syncs = try context.integer("syncs")
        let mebibytes = try context.integer("mebibytes")
        let loop = RawDiskLoop(directory: context.directory)
        let overwrite = try loop.overwrite(count: syncs)
        report.add(.operationsPerSecond, overwrite.perSecond, count: syncs, label: "overwrite and sync")
        report.add(overwrite.histogram, name: "overwrite and sync")
        let append = try loop.append(count: max(1, syncs / 2))
        report.add(.operationsPerSecond, append.perSecond, count: max(1, syncs / 2), label: "append and sync")
        report.add(append.histogram, name: "append and sync")
        let read = try loop.sequentialRead(mebibytes: mebibytes, rounds: 3)
        report.add(.gigabytesPerSecond, read / 1e9, statistic: "max", count: 3, label: "sequential read")
        for bytes in [8, 16] {
            let memory = Self.memoryRead(mebibytes: mebibytes, bytesPerRow: bytes, rounds: 5)
            let label = "memory read, \(bytes) bytes a row"
            report.add(.gigabytesPerSecond, memory.bytesPerSecond / 1e9, statistic: "max", count: 5, label: label)
            report.add(
                .rowsPerSecond, memory.bytesPerSecond / Double(bytes), statistic: "max", count: 5, label: label)
            report.check("\(bytes) bytes a row", expected: memory.expected, got: memory.sum)
        }
        report.add(.operations, Double(syncs), statistic: "count")
    }

    /// Sums words that lie one after the other, on one thread: one array of them, or two side by side, as a scan of one
    /// or of two columns does.
    private static func memoryRead(
        mebibytes: Int, bytesPerRow: Int, rounds: Int
    ) -> (bytesPerSecond: Double, sum: UInt64, expected: UInt64) {
        let rows = mebibytes << 20 / bytesPerRow
        let first = [UInt64](repeating: 3, count: rows)
        let second = [UInt64](repeating: 5, count: bytesPerRow == 16 ? rows : 0)
        var best = UInt64.max
        var sum: UInt64 = 0
        for _ in 0..<rounds {
            let start = MonotonicClock.now()
            sum = first.withUnsafeBufferPointer { first in
                second.withUnsafeBufferPointer { second in
                    second.isEmpty ? Self.sum(first) : Self.sum(first, second)
                }
            }
            best = min(best, MonotonicClock.now() - start)
        }
        let bytes = Double(rows * bytesPerRow)
        return (bytes / (Double(max(1, best)) / 1e9), sum, UInt64(rows) * (bytesPerRow == 16 ? 8 : 3))
    }

    private static func sum(_ words: UnsafeBufferPointer<UInt64>) -> UInt64 {
        var sum: UInt64 = 0
        for word in words { sum &+= word }
        return sum
    }

    private static func sum(
        _ first: UnsafeBufferPointer<UInt64>, _ second: UnsafeBufferPointer<UInt64>
    ) -> UInt64 {
        var sum: UInt64 = 0
        for row in 0..<min(first.count, second.count) { sum &+= first[row] &+ second[row] }
        return sum
    }
}
