import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import StrataFiles
import StrataStorage
import Testing

@testable import StrataRepair

/// Random histories over storage with a planted mistake, which they must find.
@Suite(.serialized)
struct HistoryMistakeTests {
    private static let histories: UInt64 = 60
    private static let operations = 2_000

    /// The problem that the histories find; nil if none.
    static func findings(_ layer: @escaping @Sendable (SimulatedDisk) -> any FileSystem = { $0 }) -> String? {
        for seed in 1...histories {
            var simulation = HistorySimulation(Seed(seed), layer: layer)
            do { try simulation.run(operations: operations) } catch { return "seed \(seed): \(error)" }
        }
        return nil
    }

    @Test(
        "a missing sync is found",
        arguments: [.noLogSync, .noDataSync, .noSlotSync] as [PlantedMistake])
    func leftOutSync(mistake: PlantedMistake) {
        let found = Self.findings { MistakenDisk($0, mistake) }
        print("\(mistake), \(found ?? "not found")")
        #expect(found != nil, "\(mistake) is not found")
    }

    // Mistakes inside the engine are planted by a process's environment.
    #if Zoo
        private static let found: Int32 = 17

        private static func plant(_ name: String) -> Never {
            setenv("ASSAY_ZOO_MISTAKE", name, 1)
            exit(findings() == nil ? 0 : found)
        }

        @Test("a recovery that leaves the last batch out is found")
        func lostLastBatch() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.plant("strata-recovery-drops-last") }
        }

        @Test("a commit that waits for no sync is found")
        func commitWithoutSync() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.plant("strata-commit-without-sync") }
        }

        @Test("a page that is used again too early is found")
        func pageReusedTooEarly() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.plant("strata-pin-ignored") }
        }
    #endif

    @Test("a salvage that omits a loss, or reports a wrong one, is found") func salvage() {
        let column = ColumnDefinition(
            id: ColumnID(1), name: "numbers", type: .bytes, collection: CollectionColumn(.integer))
        let definition = TableDefinition(id: TableID(1), name: "rows", columns: [column])
        let truth: [Int64: [ModelValue]] = [1: [.numbers([10, 11, 12, 13])], 2: [.numbers([20])]]
        let cut: [Int64: [ModelValue]] = [1: [.numbers([10, 13])], 2: [.numbers([20])]]
        func table(_ change: (inout SalvageReport.Table) -> Void = { _ in }) -> SalvageReport.Table {
            var table = SalvageReport.Table(id: TableID(1), name: "rows")
            change(&table)
            return table
        }
        func elements(_ places: Range<Int>, _ key: Int64 = 1) -> SalvageReport.LostElements {
            SalvageReport.LostElements(
                id: ColumnID(1), name: "numbers", key: key, places: [places], uncertain: 0, lost: places.count,
                isOrderUncertain: false)
        }
        func isBelieved(
            _ said: SalvageReport.Table, _ found: [Int64: [ModelValue]], beforeLog: Bool = true
        ) -> Bool {
            SalvageClaims(said, definition, isBeforeLog: beforeLog).violations(found, truth).isEmpty
        }
        #expect(isBelieved(table(), truth))
        #expect(isBelieved(table { $0.lostElements = [elements(1..<3)] }, cut))
        #expect(isBelieved(table { $0.lostElements = [elements(0..<2)] }, cut, beforeLog: false))
        #expect(!isBelieved(table(), cut))
        #expect(!isBelieved(table { $0.lostElements = [elements(0..<2)] }, cut))
        #expect(!isBelieved(table { $0.lostElements = [elements(1..<3, 2)] }, cut))
        #expect(!isBelieved(table { $0.lostElements = [elements(1..<2)] }, cut, beforeLog: false))
        #expect(
            !isBelieved(table { $0.lostElements = [elements(1..<3)] }, [1: [.numbers([13, 10])], 2: truth[2] ?? []]))
        // Rows.
        let one = truth.filter { $0.key == 1 }
        let lost = SalvageReport.KeyRange(low: 2, high: 4, rows: 1)
        #expect(!isBelieved(table(), one))
        #expect(!isBelieved(table { $0.rowsLost = 1 }, one))
        #expect(isBelieved(table { ($0.rowsLost, $0.lostKeys) = (1, [lost]) }, one))
        #expect(!isBelieved(table { ($0.rowsLost, $0.lostKeys) = (1, [lost]) }, truth))
        var more = truth
        more[3] = [.numbers([])]
        #expect(!isBelieved(table(), more))
        #expect(isBelieved(table { ($0.rowsUncertain, $0.isLossExact) = (1, false) }, more))
    }
}
