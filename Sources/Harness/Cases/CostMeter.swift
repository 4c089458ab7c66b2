import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#endif

/// What a stretch of a case costs, told in the same way for every engine: what its processes asked of the kernel and
/// what they used. Made before the stretch; `samples` ends it.
///
/// Files are counted by the preloaded library, below the case's own directories only. What cannot be told is absent and
/// not zero: counts of files where the library is not there, bytes at the device where the file system is shared.
package struct CostMeter {
    private let usage: ResourceUsage
    private let counts: IOCounts?
    private let device: DeviceCounter?
    private let deviceBytes: UInt64?

    package init(_ context: CaseContext) {
        device = DeviceCounter(directory: context.directory)
        // What was dirty before is not this stretch's.
        if device != nil { Self.writeBack() }
        deviceBytes = device?.writtenBytes()
        counts = IOWitness.shared?.counts()
        usage = ResourceUsage.now()
    }

    private static func writeBack() {
        #if canImport(Glibc)
            sync()
        #endif
    }

    /// Bytes that went to files through write calls, as the library counted them, else as the kernel did for the whole
    /// process.
    package func writtenBytes() -> UInt64 {
        if let counts, let now = IOWitness.shared?.counts() { return (now - counts).writtenBytes }
        return ResourceUsage.now().since(usage).writtenBytes
    }

    /// The same as the library alone counted them; nil where it is not there.
    package func witnessedBytes() -> UInt64? {
        counts.flatMap { start in IOWitness.shared.map { ($0.counts() - start).writtenBytes } }
    }

    /// For each of `count` operations: `written_bytes_per_commit` and the like.
    package func samples(per operation: String, count: Int) -> [Sample] {
        let used = ResourceUsage.now().since(usage)
        let seen = counts.flatMap { start in IOWitness.shared.map { $0.counts() - start } }
        var figures: [(name: String, unit: String, value: UInt64)] = [("cpu_ns", "ns", used.processorNanoseconds)]
        // What is stored through a map is no call: a count of calls and their bytes would flatter.
        if IOWitness.shared?.counts().sharedWritableMaps ?? 0 == 0 {
            figures.append(("written_bytes", "bytes", seen?.writtenBytes ?? used.writtenBytes))
            if let seen { figures.append(("write_calls", "count", seen.writeCalls)) }
        }
        if let seen { figures.append(("syncs", "count", seen.allSyncs)) }
        if let device, let deviceBytes {
            Self.writeBack()
            if let now = device.writtenBytes() { figures.append(("device_bytes", "bytes", now &- deviceBytes)) }
        }
        return figures.map { name, unit, value in
            let metric = Metric("\(name)_per_\(operation)", unit: unit, .lowerIsBetter, .measured)
            return Sample(metric, Double(value) / Double(max(1, count)), count: count)
        }
    }
}

extension CaseReport {
    package func add(_ samples: [Sample]) {
        for sample in samples { add(sample) }
    }

    /// What was seen of the syncs behind the commits that an engine acknowledged.
    ///
    /// In the class `full` none may have come without one that began after its last write to a log was done: figures of
    /// such commits would stand in a class that they do not belong to, and the case says nothing. Of an engine that
    /// stores through a shared map it is known alone how many syncs it made: at least one for each commit.
    package func judge(_ answers: CommitAnswers, in durability: DurabilityClass) {
        guard answers.total > 0 else { return }
        if answers.unsynced == 0, let counts = IOWitness.shared?.counts(), counts.sharedWritableMaps > 0,
            counts.allSyncs >= UInt64(answers.total)
        {
            note(
                "STORES THROUGH A MAP ARE NOT SEEN: that each of \(answers.total) commits was synced is not known, but "
                    + "that there were \(counts.allSyncs) syncs")
            return
        }
        let metric = Metric("unsynced_commits", unit: "count", .lowerIsBetter, .measured)
        add(metric, Double(answers.withoutSync), statistic: "count", count: answers.total)
        guard durability == .full, answers.withoutSync > 0 else { return }
        inconclusive(
            "DURABILITY NOT MET: \(answers.withoutSync) of \(answers.total) commits were acknowledged without a sync "
                + "that began after their last write to a log")
    }
}

extension CaseContext {
    /// Times operations that are acknowledged as durable commits, and looks for their syncs where that can be done.
    package func commitRecorder() -> LatencyRecorder {
        LatencyRecorder(witness: engine.capabilities.contains(.persistent) ? IOWitness.shared : nil)
    }
}
