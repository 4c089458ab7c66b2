import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

/// Four processes on one disk, with a loss of power or the death of all processes at any operation, again in the
/// recovery, and in the recovery from that.
///
/// Longer: `SIMULATION_SECONDS=600 SIMULATION_SEED=77 swift test --filter SharedHistoryTests`.
@Suite(.serialized, .enabled(if: POSIXFileSystem().isShared))
struct SharedHistoryTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let deepest = 3

    /// The allowed numbers of transactions after a crash.
    private struct Bounds {
        var least: Int
        var most: Int
        /// The least number if only the processes died, so that un-synced work survives.
        var written: Int
    }

    /// The counts of histories.
    private struct Counts {
        var transactions = 0
        var crashes = [Int](repeating: 0, count: SharedHistoryTests.deepest)
    }

    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test("a loss of power under four processes keeps what was acknowledged")
    func lossOfPower() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = Self.environment["SIMULATION_SEED"].flatMap(UInt64.init) ?? 1
        let seconds = Self.environment["SIMULATION_SECONDS"].flatMap(Double.init) ?? 1
        let deadline = ContinuousClock.now + .seconds(seconds)
        var counts = Counts()
        var seed = first
        repeat {
            try run(seed, nil, &counts)
            seed += 1
            // A slow machine may not get that deep in time.
            let isDeep = counts.crashes[Self.deepest - 1] > 0
            if isDeep, ContinuousClock.now >= deadline { break }
        } while seed < first + 1000 || ContinuousClock.now < deadline
        print(
            """
            four processes, seeds \(first)..<\(seed): \(counts.transactions) transactions, \
            crashes by depth \(counts.crashes)
            """)
        #expect(counts.crashes[Self.deepest - 1] > 0)
    }

    @Test(
        "a missing sync is found under four processes",
        arguments: [.noLogSync, .noDataSync, .noSlotSync] as [PlantedMistake])
    func mistakes(mistake: PlantedMistake) {
        defer { try? FileManager.default.removeItem(at: folder) }
        var counts = Counts()
        for seed in 1...60 as ClosedRange<UInt64> {
            do { try run(seed, mistake, &counts) } catch {
                print("\(mistake): \(error)")
                return
            }
        }
        Issue.record("\(mistake) is not found in \(counts.crashes) crashes")
    }

    private func run(_ seed: UInt64, _ mistake: PlantedMistake?, _ counts: inout Counts) throws {
        let lock = folder.appending(path: "\(seed).lock").path
        let history = SharedHistory(Seed(seed), lockPath: lock, mistake: mistake)
        do {
            let (made, prepared) = try history.play(transactions: 20)
            counts.transactions += made.count
            try crash(history, made, prepared, Seed(seed), &counts.crashes)
        } catch {
            throw SharedHistory.Wrong(description: "seed \(seed), \(history.durability): \(error)")
        }
    }

    private func crash(
        _ history: SharedHistory, _ made: [SharedHistory.Made], _ prepared: Int, _ seed: Seed, _ depths: inout [Int]
    ) throws {
        var random = RandomStream(seed.derived(part: "crashes"))
        let end = history.disk.operations
        for _ in 0..<60 {
            let operation = random.chance(1, in: 20) ? end : random.below(end + 1)
            var bounds = Self.bounds(history, made, prepared, operation)
            var disk = history.disk
            var range = operation...operation
            var steps = ""
            for depth in 0..<Self.deepest {
                let start = range.lowerBound + random.below(range.count)
                let isDeath = random.chance(1, in: 3)
                steps += isDeath ? "/op=\(start),kill" : "/op=\(start)"
                disk = isDeath ? disk.kill(after: start) : disk.crash(after: start, Self.kept(&random))
                let before = disk.operations
                let found: (count: Int, opened: Int)
                do { found = try history.recover(disk, made) } catch {
                    throw SharedHistory.Wrong(description: "\(steps): \(error)")
                }
                depths[depth] += 1
                // Un-synced work of dead processes survives until power is lost.
                let least = isDeath ? bounds.written : bounds.least
                guard (least...max(least, bounds.most)).contains(found.count) else {
                    throw SharedHistory.Wrong(
                        description: "\(steps): \(found.count) are there, \(least) to \(bounds.most) allowed")
                }
                if !isDeath { bounds.written = bounds.least }
                range = before...max(before, found.opened - 1)
            }
        }
    }

    /// - Parameter prepared: the operation from which on the rows exist; a count of -1 means that they do not.
    private static func bounds(
        _ history: SharedHistory, _ made: [SharedHistory.Made], _ prepared: Int, _ operation: Int
    ) -> Bounds {
        let lowest = operation >= prepared ? 0 : -1
        let begun = made.lastIndex { $0.begun < operation }.map { $0 + 1 } ?? lowest
        let acknowledged = made.lastIndex { $0.acknowledged.map { $0 <= operation } ?? false }.map { $0 + 1 } ?? lowest
        let isAll = operation == history.disk.operations
        let end = made.count
        let most = max(begun, 0)
        switch history.durability {
        case .full: return Bounds(least: acknowledged, most: most, written: acknowledged)
        case .periodic: return Bounds(least: isAll ? end : lowest, most: most, written: acknowledged)
        case .none: return Bounds(least: isAll ? end : lowest, most: most, written: isAll ? end : lowest)
        }
    }

    private static func kept(_ random: inout RandomStream) -> StateMask {
        switch random.below(4) {
        case 0: return StateMask()
        case 1: return StateMask(allBelow: 4096)
        case 2: return StateMask(allBelow: random.below(120))
        default: return StateMask(bits: (0..<4096).filter { _ in random.chance(1, in: 2) })
        }
    }
}
