import Harness
import Measuring
import RunRecords

/// The limits that engines are compared with. It uses no engine: a plan lists it with one of them.
struct RawDisk: Scenario {
    let slug = "raw-disk"
    let family = Family.workload
    let question = "What do this disk and this memory give without an engine?"
    let requires: Set<Capability> = []
    let parameters = [
        ScenarioParameter(
            "syncs", .size, default: 1_000, range: 2...100_000_000, summary: "blocks written and synced one by one"),
        ScenarioParameter("mebibytes", .size, default: 64, range: 1...4_096, summary: "size of what is read in one go"),
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
            let memory = MemoryReadLoop.read(bytes: mebibytes << 20, bytesPerRow: bytes, rounds: 5)
            let label = "memory read, \(bytes) bytes a row"
            report.add(.gigabytesPerSecond, memory.bytesPerSecond / 1e9, statistic: "max", count: 5, label: label)
            report.add(
                .rowsPerSecond, memory.bytesPerSecond / Double(bytes), statistic: "max", count: 5, label: label)
            report.check("\(bytes) bytes a row", expected: memory.expected, got: memory.sum)
        }
        report.add(.operations, Double(syncs), statistic: "count")
    }
}
