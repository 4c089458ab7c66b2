import Platform
import StrataFiles
import StrataRepair
import Testing

@testable import StrataStorage
@testable import StrataStorageTests

/// Salvages of files with valid checksums and wrong contents. `CRAFTED_SEED` and `CRAFTED_TRIALS` repeat one trial, or
/// run many.
@Suite struct CraftedSalvageTests {
    @Test("a salvage of any bytes ends, and writes a sound store")
    func believed() async {
        let first = TestSettings.number("CRAFTED_SEED") ?? 1
        let count = TestSettings.number("CRAFTED_TRIALS") ?? 300
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [first = first as UInt64, count = count as UInt64] in
            let plain = try CraftedFileTests.soundFiles()
            let trees = try CraftedCollectionTests.soundFiles()
            var finished: UInt64 = 0
            for seed in first..<(first &+ count) {
                TestSettings.say("seed \(seed)")
                // A hang ends the process.
                alarm(60)
                let hasTrees = seed % 3 == 0
                let files = hasTrees ? trees : plain
                var file = files[Int(seed / 3 % UInt64(files.count))]
                if hasTrees {
                    CraftedCollectionTests.change(&file, seed)
                } else {
                    CraftedFileTests.change(&file, seed)
                }
                if try Self.salvage(file) { finished += 1 }
            }
            TestSettings.say("\(finished) of \(count) finished")
            // If all are refused, nothing was tested.
            if count >= 100 { precondition(finished * 4 > count, "hardly any salvage finished") }
        }
        if let result, result.exitStatus != .exitCode(0) {
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            Issue.record("repeat with CRAFTED_SEED=<last seed below> CRAFTED_TRIALS=1\n\(text.suffix(400))")
        }
    }

    @Test("a salvage counts a null in a column that requires a value as a lost value")
    func missingValue() throws {
        var file = try CheckedStore.make()
        // Exchanging the ids gives the required column "a" the values of the optional column "b".
        let isCrafted = file.edit(file.node(.group, of: 1) { Group($0).isSmall }) { node in
            let group = Group(UnsafeRawPointer(node))
            let ids = (group.columnID(2), group.columnID(3))
            node.put16(group.columnsOffset + 2 * Group.columnSize, ids.1)
            node.put16(group.columnsOffset + 3 * Group.columnSize, ids.0)
        }
        try #require(isCrafted)
        _ = try SalvagedStore.from(file.bytes) { view, report in
            #expect(report.tables[0].rowsRecovered == CheckedStore.rows && report.tables[0].rowsLost == 0)
            #expect(report.tables[0].lostValues.map(\.name) == ["a"])
            #expect(report.tables[0].valuesLost > 0)
            let nulls = try view.count(0, where: .null(0))
            #expect(nulls == 0)
        }
    }

    /// - Returns: false when it was refused.
    private static func salvage(_ file: CraftedFile) throws -> Bool {
        let disk = FileImages.Disk()
        try disk.put(file.bytes, at: FileImages.path)
        var settings = SalvageOptions()
        settings.limits = .tiny
        do {
            _ = try Salvage.run(from: FileImages.path, to: "salvaged", fileSystem: disk, options: settings)
        } catch {
            // A salvage may refuse a file of which too little is left, or that needs too much space.
            TestSettings.say("\(error)")
            return false
        }
        let store = try Store.open(path: "salvaged", options: FileImages.options(on: disk))
        try store.checkInvariants()
        try store.close()
        return true
    }
}
