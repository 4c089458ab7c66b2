import Measuring
import Platform
import RunRecords

/// Measures what a part of a case costs, in the same way for every engine: system calls and resources of its
/// processes. The measurement begins with its initializer, and ends with `samples`.
///
/// The preloaded library counts calls on files below the case's own directories. A figure that cannot be measured
/// is absent and not zero: file calls without the library, device bytes if other programs use the file system.
package struct CostMeter {
    private let usage: ResourceUsage
    private let counts: IOCounts?
    private let device: DeviceCounter?
    private let deviceBytes: UInt64?

    package init(_ context: CaseContext) {
        device = DeviceCounter(directory: context.directory)
        // Writes earlier dirty pages back, so that they do not count in this measurement.
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

    /// Bytes written to files by write calls: as the preloaded library counted them, or else the kernel for the whole
    /// process.
    package func writtenBytes() -> UInt64 {
        if let counts, let now = IOWitness.shared?.counts() { return (now - counts).writtenBytes }
        return ResourceUsage.now().since(usage).writtenBytes
    }

    /// The bytes that the preloaded library counted; nil without the library.
    package func witnessedBytes() -> UInt64? {
        counts.flatMap { start in IOWitness.shared.map { ($0.counts() - start).writtenBytes } }
    }

    /// Samples of the cost of each of `count` operations: `written_bytes_per_commit` and the like.
    package func samples(per operation: String, count: Int) -> [Sample] {
        let used = ResourceUsage.now().since(usage)
        let seen = counts.flatMap { start in IOWitness.shared.map { $0.counts() - start } }
        var figures: [(name: String, unit: String, value: UInt64)] = [("cpu_ns", "ns", used.processorNanoseconds)]
        // A store through a mapping is not a call: a count of calls and their bytes would be too low.
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

    /// Checks the syncs behind the commits that an engine acknowledged.
    ///
    /// In the class `full`, each commit needs a sync that began after the commit's last write to a log had ended. If a
    /// commit lacks it, the figures would belong to another class, and the case is inconclusive. For an engine that
    /// stores through a shared mapping only the number of syncs is known: there must be at least one for each commit.
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
    /// A recorder that times operations that end in a durable commit, and checks their syncs if the preloaded library
    /// can see them.
    package func commitRecorder() -> LatencyRecorder {
        LatencyRecorder(witness: engine.capabilities.contains(.persistent) ? IOWitness.shared : nil)
    }
}
