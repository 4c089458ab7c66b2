import StrataFiles
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// Rows with large collections, with some pages of any kind lost.
@Suite struct CollectionOracleTests {
    @Test("with 5 % of the pages zeroed, exactly the elements whose pages survive are salvaged")
    func zeroedPages() throws {
        // If the slots, schema or free map are lost, nothing is compared, and another seed is used.
        var (compared, seed) = (0, 0)
        while compared < 18, seed < 36 {
            seed += 1
            if try isCompared(seed) { compared += 1 }
        }
        #expect(compared == 18, "few seeds leave schema, slot and free map: nothing is compared without them")
    }

    /// - Returns: false if the schema or slots were lost, so that nothing is certain.
    private func isCompared(_ seed: Int) throws -> Bool {
        let (history, oracle, sound) = try Self.made(seed)
        var data = sound
        var random = SplitMix64(seed: UInt64(seed) &* 977)
        let pages = data.count / Format.pageSize
        var lost: Set<Int> = []
        while lost.count < max(1, pages / 20) { lost.insert(2 + Int(random.below(UInt64(pages - 2)))) }
        for page in lost {
            Self.zero(page, &data)
        }
        let (report, model) = try salvage(data)
        guard let found = model, report.start == .slot, report.hasFreeMap else { return false }
        let said = report.tables[CollectionHistory.owners]
        for (key, owner) in oracle.owners {
            let isThere = SalvageOracle.areThere(owner.key, without: lost)
            if isThere { #expect(found.rows[key] != nil, "seed \(seed): row \(key)") }
            if said.rowsUncertain > 0 || report.tables[CollectionHistory.targets].rowsUncertain > 0 { continue }
            #expect((found.rows[key] != nil) == isThere, "seed \(seed): row \(key)")
            guard isThere, let row = found.rows[key], let real = history.model.rows[key] else { continue }
            for column in CollectionHistory.columns {
                let expected = oracle.expected(
                    real[column], of: key, column, without: lost, targets: found.targets)
                guard let expected else { continue }
                let note: Comment = "seed \(seed), pages \(lost.sorted()): row \(key), column \(column)"
                switch expected.lostBranches {
                case 0: #expect(row[column] == expected.pairs, note)
                case 1:
                    #expect(row[column].count == expected.pairs.count, note)
                    #expect(Set(row[column]) == Set(expected.pairs), note)
                default:
                    // A leaf may be assigned to the other branch, where it does not fit.
                    #expect(row[column].count <= expected.pairs.count, note)
                    #expect(Set(row[column]).isSubset(of: Set(expected.pairs)), note)
                }
            }
        }
        if found != history.model { #expect(!report.isWhole, "seed \(seed)") }
        return true
    }

    /// This once ended the salvage: placeholders of lost elements were to be removed from a column without collections.
    @Test("with the schema lost as well, the rows are salvaged") func withoutSchema() throws {
        let (_, oracle, sound) = try Self.made(3)
        var data = sound
        let trees = oracle.owners.values.flatMap(\.collections).filter(\.isTree)
        let element = try #require(trees.first?.elements.first)
        Self.zero(Int(element[0].page), &data)
        Self.zero(Int(oracle.schemaNode.page), &data)
        let (report, _) = try salvage(data)
        #expect(report.schema == .lost)
        #expect(!report.isWhole)
        #expect(report.tables.contains { $0.rowsRecovered > 0 })
    }

    private static func zero(_ page: Int, _ data: inout [UInt8]) {
        let start = page * Format.pageSize
        data.replaceSubrange(start..<start + Format.pageSize, with: repeatElement(0, count: Format.pageSize))
    }

    /// A closed store made by a history.
    private static func made(
        _ seed: Int
    ) throws -> (history: CollectionHistory, oracle: CollectionOracle, data: [UInt8]) {
        let disk = FileImages.Disk()
        let store = try FileImages.open(disk)
        var history = CollectionHistory(seed: UInt64(seed))
        history.longest = 90
        for round in 0..<8 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: CollectionHistory.schema) }
            for _ in 0..<9 { try history.step(transaction) }
            try transaction.commit()
        }
        let oracle = try CollectionOracle(store.snapshot().view)
        try store.close()
        return (history, oracle, try disk.bytes(FileImages.path) ?? [])
    }

    /// - Returns: no model if the schema is lost, since no column is known to hold collections.
    private func salvage(_ data: [UInt8]) throws -> (report: SalvageReport, model: CollectionHistory.Model?) {
        let salvaged = try SalvagedStore.from(data) { view, report in
            report.schema == .current ? try CollectionHistory.contents(view) : nil
        }
        return (salvaged.report, salvaged.found)
    }
}
