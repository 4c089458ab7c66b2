import Measuring
import RunRecords
import Synchronization

/// Simulates a slower disk for one worker and the processes that it forks: the preloaded library delays the file calls
/// of every engine in the same way.
///
/// The library counts the calls that it delays. If there are none, the case is inconclusive: its figures would be those
/// of the ordinary disk.
package struct SlowDisk {
    private let syncMicroseconds: Int
    private let writeMicroseconds: Int
    private let start: IOCounts?

    /// The delayed calls of the harness itself, below the watched directories.
    private static let own = Mutex((syncs: UInt64(0), writes: UInt64(0)))

    static func isAsked(_ test: Case) -> Bool { test.amount(.syncDelay) > 0 || test.amount(.writeDelay) > 0 }

    /// nil if the case asks for no delay. The worker must be watching its files already.
    init?(_ test: Case) {
        syncMicroseconds = test.amount(.syncDelay)
        writeMicroseconds = test.amount(.writeDelay)
        guard Self.isAsked(test) else { return nil }
        start = IOWitness.shared?.counts()
        if !ConditionMistake.delayLeftOut.isPlanted {
            IOWitness.shared?.setDelays(
                syncNanoseconds: UInt64(syncMicroseconds) * 1_000, writeNanoseconds: UInt64(writeMicroseconds) * 1_000)
        }
    }

    /// Runs file work of the harness itself: its calls are delayed like the engine's, but not counted as the engine's.
    package static func ownWork<Output>(_ body: () throws -> Output) rethrows -> Output {
        let before = IOWitness.shared?.counts()
        defer {
            if let before, let after = IOWitness.shared?.counts() {
                let used = after - before
                own.withLock { $0 = ($0.syncs + used.delayedSyncs, $0.writes + used.delayedWrites) }
            }
        }
        return try body()
    }

    /// Ends the delays, and reports how many calls were delayed.
    func end(_ report: CaseReport) {
        guard let start, let witness = IOWitness.shared else {
            report.inconclusive("NO DELAY: the preloaded library is not there")
            return
        }
        witness.setDelays(syncNanoseconds: 0, writeNanoseconds: 0)
        let met = witness.counts() - start
        let own = Self.own.withLock { $0 }
        tell(
            "delayed_syncs", met.delayedSyncs - min(own.syncs, met.delayedSyncs), microseconds: syncMicroseconds,
            report: report)
        tell(
            "delayed_writes", met.delayedWrites - min(own.writes, met.delayedWrites), microseconds: writeMicroseconds,
            report: report)
    }

    private func tell(_ name: String, _ count: UInt64, microseconds: Int, report: CaseReport) {
        guard microseconds > 0 else { return }
        report.add(Metric(name, unit: "count", .neutral, .measured), Double(count), label: "whole case")
        if count == 0 {
            let what = name.split(separator: "_").last.map(String.init) ?? name
            report.inconclusive(
                "NOTHING DELAYED: the case asked for \(microseconds) us, and none of the engine's \(what) had it")
        }
    }
}
