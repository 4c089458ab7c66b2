import Files
import Harness
import Measuring
import RunRecords

#if SQLite
    import CoreDataFiles
    import Synchronization
#endif

/// Makes a store of Core Data, imports and verifies it, changes it, and imports and verifies it again; then the same
/// with an import that is stopped in between. The scenario reads the new file by objects and compares it with what was
/// written, since the import's own verification converts values with the import's code.
struct ImportedCoreData: Scenario {
    let slug = "core-data-import"
    let family = Family.migration
    let question = "Does an import of a Core Data store bring every value, link and list, and later every change?"
    let requires: Set<Capability> = [.objects, .migrations, .persistent]
    let parameters = [
        ScenarioParameter("rows", .size, default: 20_000, range: 6_000...100_000_000, summary: "items in the store"),
        ScenarioParameter(
            "dangling", .size, default: 40, range: 1...1_000, summary: "links that lead nowhere, and as many pairs"),
        ScenarioParameter(
            "way", default: "keys", allowed: ["keys", "history"], summary: "how a later import learns what changed"),
    ]

    func run(_ context: CaseContext) throws {
        #if SQLite
            try context.withMigrationErrors { try ImportCourse(context).run() }
        #else
            context.report.inconclusive("no store of Core Data is read without SQLite: apt-get install libsqlite3-dev")
        #endif
    }
}

#if SQLite
    private struct ImportCourse {
        private let context: CaseContext
        private let report: CaseReport
        private let store: ItemStore
        private let file: ImportedFile
        private let count: Int

        init(_ context: CaseContext) throws {
            self.context = context
            report = context.report
            count = try context.integer("rows")
            store = ItemStore(
                path: context.directory + "/items.sqlite", danglingCount: try context.integer("dangling"),
                hasHistory: try context.text("way") == "history")
            file = ImportedFile(path: context.directory + "/items.strata")
        }

        func run() throws {
            try store.make(count)
            try first()
            try again()
            try stopped()
            try spoiled()
            report.add(.rows, Double(count), statistic: "count")
        }

        private var rowsInAll: Int { count + ItemRow.authors + ItemRow.tags }

        // MARK: The first one

        private func first() throws {
            let start = MonotonicClock.now()
            let done = try CoreDataImport(store.path, to: file.path).run()
            let imported = MonotonicClock.now()
            let verified = try CoreDataVerification(store.path, against: file.path).run()
            let end = MonotonicClock.now()
            report.check("first import: way", expected: "first import", got: done.way.rawValue)
            report.check("first import: rows", expected: rowsInAll, got: done.inserted)
            checkDangling(done.findings, "first import")
            checkDangling(verified.findings, "verification")
            checkVerified(verified, "verification", rows: rowsInAll)
            try compare("first import", keys()) { store.row($0) }
            let rows = Double(rowsInAll)
            report.add(.rowsPerSecond, rows * 1e9 / Double(imported - start), count: rowsInAll, label: "import")
            report.add(.rowsPerSecond, rows * 1e9 / Double(end - imported), count: rowsInAll, label: "verification")
            report.add(
                .rowsPerSecond, rows * 1e9 / Double(end - start), count: rowsInAll, label: "import and verification")
            report.add(.fileBytes, Double(try FileTree.size(file.path)))
            let copy = context.directory + "/copy.sqlite"
            guard let dump = try DumpYardstick.nanoseconds(store.path, into: copy) else {
                return report.note("no sqlite3 is on the path, whose .dump would be the yardstick")
            }
            try FileTree.remove(copy)
            report.add(
                .rowsPerSecond, rows * 1e9 / Double(dump), count: rowsInAll, label: "sqlite3 .dump into sqlite3")
            report.add(.importOverDump, Double(end - start) / Double(dump), label: "import and verification")
        }

        /// Each dangling link must be counted, and up to a limit be named.
        private func checkDangling(_ findings: ImportFindings, _ name: String) {
            let count = store.danglingCount
            report.check("\(name): links that lead nowhere", expected: count, got: findings.counts[.danglingLink] ?? 0)
            report.check("\(name): pairs that lead nowhere", expected: count, got: findings.counts[.danglingJoin] ?? 0)
            let named = findings.lines.count { $0.contains("dangling") }
            report.check("\(name): named", expected: true, got: named >= min(2 * count, 200))
        }

        private func checkVerified(_ verified: CoreDataVerification.Report, _ name: String, rows: Int) {
            report.check("\(name): equal", expected: true, got: verified.isEqual)
            report.check("\(name): differences", expected: 0, got: verified.findings.differences)
            report.check("\(name): rows", expected: rows, got: verified.rows)
        }

        /// The keys of all items, or of 20 000 if there are more.
        private func keys() -> [Int] {
            let most = 20_000
            if count <= most { return Array(1...count) }
            var random = context.random("keys")
            return Array(1...2_000) + (0..<(most - 2_000)).map { _ in 1 + random.below(count) }
        }

        private func compare(_ name: String, _ keys: [Int], _ expected: (Int) -> ItemRow?) throws {
            let got = try file.items(keys)
            let wrong = zip(keys, got).first { expected($0) != $1 }
            func words(_ row: ItemRow?) -> String { row.map { "\($0)" } ?? "no such item" }
            report.check(
                "\(name): items", expected: wrong.map { words(expected($0.0)) } ?? "",
                got: wrong.map { words($0.1) } ?? "")
        }

        // MARK: What changed

        private func again() throws {
            let same = try CoreDataImport(store.path, to: file.path).run()
            let written = same.inserted + same.changed + same.deleted + same.lists
            report.check("nothing had changed: written", expected: 0, got: written)
            let updated = (0..<50).map { 1_001 + $0 * 7 }
            let inserted = (0..<30).map { count + 1 + $0 }
            let deleted = (0..<20).map { 2_002 + $0 * 5 }
            try store.change(updating: updated, inserting: inserted, deleting: deleted)
            let start = MonotonicClock.now()
            let done = try CoreDataImport(store.path, to: file.path).run()
            report.add(.durationMilliseconds, Double(MonotonicClock.now() - start) / 1e6, label: "100 changes imported")
            let way: CoreDataImport.Report.Way = store.hasHistory ? .history : .keys
            report.check("later import: way", expected: way.rawValue, got: done.way.rawValue)
            report.check("later import: inserted", expected: 30, got: done.inserted)
            report.check("later import: changed", expected: 50, got: done.changed)
            report.check("later import: deleted", expected: 20, got: done.deleted)
            try checkAfterChange("later import", updated: updated, inserted: inserted, deleted: deleted)
        }

        private func checkAfterChange(
            _ name: String, updated: [Int], inserted: [Int], deleted: [Int]
        ) throws {
            let (second, gone) = (Set(updated), Set(deleted))
            try compare(name, keys() + inserted) { key in
                if gone.contains(key) { return nil }
                if key > count { return ItemRow(number: key) }
                return store.row(key, version: second.contains(key) ? 2 : 1)
            }
            let counts = try file.counts
            report.check("\(name): items in all", expected: count + inserted.count - gone.count, got: counts.items)
            report.check("\(name): authors", expected: ItemRow.authors, got: counts.authors)
            report.check("\(name): tags", expected: ItemRow.tags, got: counts.tags)
            let verified = try CoreDataVerification(store.path, against: file.path).run()
            checkVerified(verified, "\(name): verification", rows: rowsInAll + inserted.count - gone.count)
        }

        // MARK: Stopped on its way

        /// Stops an import, changes the store, also in rows that were imported already, and runs the same import again.
        private func stopped() throws {
            let other = ImportedFile(path: context.directory + "/stopped.strata")
            var options = CoreDataImport.Options()
            options.rowsPerBatch = 1_000
            let asked = Mutex(0)
            options.shouldStop = {
                asked.withLock { count in
                    count += 1
                    return count == 1
                }
            }
            var kind = "nothing"
            do { _ = try CoreDataImport(store.path, to: other.path, options).run() } catch let error as CoreDataError {
                kind = error.kind.rawValue
            }
            report.check("stopped: error", expected: CoreDataError.Kind.stopped.rawValue, got: kind)
            report.check("stopped: there is no file yet", expected: false, got: FileTree.exists(other.path))
            try store.change(updating: (0..<20).map { 1_501 + $0 * 7 }, inserting: [], deleting: [])
            let done = try CoreDataImport(store.path, to: other.path, options).run()
            _ = try CoreDataImport(store.path, to: file.path).run()
            report.check("stopped: way of the next one", expected: "first import, resumed", got: done.way.rawValue)
            let verified = try CoreDataVerification(store.path, against: other.path).run()
            checkVerified(verified, "stopped: verification", rows: rowsInAll + 10)
            let keys = keys() + (1...30).map { count + $0 }
            let different = try zip(keys, zip(other.items(keys), file.items(keys))).first { $1.0 != $1.1 }?.0
            report.check("stopped: first item unlike the other file's", expected: nil, got: different)
        }

        // MARK: The verification

        /// The verification must find one value that differs and one missing row, and nothing else.
        private func spoiled() throws {
            try file.spoil(changing: 1_500, deleting: 1_600)
            let verified = try CoreDataVerification(store.path, against: file.path).run()
            report.check("spoiled: equal", expected: false, got: verified.isEqual)
            report.check("spoiled: rows that differ", expected: 1, got: verified.findings.counts[.differentRow] ?? 0)
            report.check("spoiled: rows that are missing", expected: 1, got: verified.findings.counts[.missingRow] ?? 0)
            let named = verified.findings.lines.filter { $0.contains("1500") || $0.contains("1600") }.count
            report.check("spoiled: named", expected: true, got: named >= 2)
            var options = CoreDataImport.Options()
            options.comparesAll = true
            let done = try CoreDataImport(store.path, to: file.path, options).run()
            report.check("all values compared: inserted", expected: 1, got: done.inserted)
            report.check("all values compared: changed", expected: 1, got: done.changed)
            let mended = try CoreDataVerification(store.path, against: file.path).run()
            checkVerified(mended, "all values compared: verification", rows: rowsInAll + 10)
        }
    }
#endif
