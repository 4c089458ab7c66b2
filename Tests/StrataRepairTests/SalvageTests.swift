import StrataFiles
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

@Suite struct SalvageTests {
    private static var options: StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 28
        return options
    }

    private static var salvage: SalvageOptions {
        var options = SalvageOptions()
        options.rowsPerTransaction = 40
        return options
    }

    /// A store with a random history: rows changed, deleted and inserted again, so that free pages hold old nodes.
    private static func makeStore(_ path: String, seed: UInt64, steps: Int = 600) throws -> StoreHistory {
        var history = StoreHistory(seed: seed)
        history.keyRange = 400
        let store = try Store.open(path: path, options: options)
        for round in 0..<12 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<(steps / 12) { try history.step(transaction) }
            try transaction.commit()
        }
        try store.close()
        return history
    }

    /// The salvaged store's contents, after a check of its invariants.
    @discardableResult
    private static func salvaged(_ path: String, _ report: inout SalvageReport) throws -> StoreModel {
        let target = path + ".new"
        let fileSystem = POSIXFileSystem()
        if try fileSystem.status(target) != nil { try fileSystem.remove(target) }
        report = try Salvage.run(from: path, to: target, options: salvage)
        let store = try Store.open(path: target, options: options)
        try store.checkInvariants()
        let contents = try StoreHistory.contents(store.snapshot().view)
        try store.close()
        return contents
    }

    private static func check(
        _ bytes: FileBytes, _ oracle: SalvageOracle, lost: Set<Int>, _ path: String, _ comment: Comment
    ) throws {
        try bytes.write(path)
        var report = SalvageReport()
        let contents = try salvaged(path, &report)
        let kept = oracle.expected(without: lost)
        for table in kept.tables.indices {
            let missing = Set(kept.tables[table].keys).subtracting(contents.tables[table].keys)
            #expect(missing.isEmpty, "\(comment): rows of table \(table) whose pages survive")
            let isCertain = report.tables[table].rowsUncertain == 0
            if isCertain {
                let extra = Set(contents.tables[table].keys).subtracting(kept.tables[table].keys)
                #expect(extra.isEmpty, "\(comment): rows of table \(table) that are not there")
            }
            #expect(report.tables[table].rowsRecovered == contents.tables[table].count, comment)
            if report.tables[table].isLossExact && isCertain {
                #expect(
                    report.tables[table].rowsLost == oracle.model.tables[table].count - kept.tables[table].count,
                    "\(comment): \(report.tables[table])")
            }
        }
        if report.tables.allSatisfy({ $0.rowsUncertain == 0 }) && report.schema == .current {
            let expected = SalvageOracle.withoutDanglingLinks(kept)
            #expect(contents == expected, "\(comment): \(difference(contents, expected))")
            if contents == oracle.model { #expect(report.rowsLost == 0, comment) } else { #expect(!report.isWhole) }
        }
        let examined = try Salvage.examine(path)
        #expect(examined.rowsRecovered == report.rowsRecovered && examined.damage == report.damage, comment)
    }

    private static func difference(_ a: StoreModel, _ b: StoreModel) -> String {
        for table in a.tables.indices {
            for key in Set(a.tables[table].keys).union(b.tables[table].keys).sorted()
            where a.tables[table][key] != b.tables[table][key] {
                return "table \(table) row \(key): \(a.tables[table][key] ?? []) for \(b.tables[table][key] ?? [])"
            }
        }
        return "none"
    }

    @Test("a sound store is salvaged completely", arguments: [1, 2, 3] as [UInt64])
    func sound(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let history = try Self.makeStore(path, seed: seed)
        var report = SalvageReport()
        #expect(try Self.salvaged(path, &report) == history.model)
        #expect(report.isWhole && report.damage.isEmpty && report.start == .slot)
    }

    @Test(
        "with 5 % of the pages zeroed, exactly the rows whose pages survive are salvaged",
        arguments: TestSettings.seeds(24, of: 80))
    func zeroedPages(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let history = try Self.makeStore(path, seed: seed)
        let oracle = try SalvageOracle(path: path, model: history.model)
        var bytes = try FileBytes(path)
        var random = SplitMix64(seed: seed &* 977)
        var lost: Set<Int> = []
        while lost.count < max(1, bytes.pageCount / 20) { lost.insert(Int(random.below(UInt64(bytes.pageCount)))) }
        for page in lost { bytes.zero(page) }
        try Self.check(bytes, oracle, lost: lost, path, "seed \(seed), pages \(lost.sorted())")
    }

    @Test("of a store of 200 000 rows exactly those whose pages survive are salvaged", arguments: [71] as [UInt64])
    func manyRows(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var model = StoreModel(tables: [[:], [:]])
        var random = SplitMix64(seed: seed)
        let store = try Store.open(path: path)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        for key in 0..<200_000 as Range<Int64> {
            let values: [Value] = [
                .integer(Int64(random.below(100))), .bytes(Array("person \(key)".utf8)),
                .double(Double(random.below(1_000_000)).bitPattern), .null, .links([]),
            ]
            try StoreHistory.withCells(values[...]) { try transaction.insert(0, key: RowKey(key * 3), $0) }
            model.tables[0][key * 3] = values
        }
        try transaction.commit()
        for _ in 0..<5 {
            let update = try store.beginWrite()
            for _ in 0..<400 {
                let key = Int64(random.below(200_000)) * 3
                let value = Int64(random.below(100))
                try update.set(0, RowKey(key), column: 0, to: .integer(value))
                model.tables[0][key]?[0] = .integer(value)
            }
            try update.commit()
        }
        try store.close()
        let oracle = try SalvageOracle(path: path, model: model)
        var bytes = try FileBytes(path)
        var lost: Set<Int> = []
        while lost.count < bytes.pageCount / 20 { lost.insert(Int(random.below(UInt64(bytes.pageCount)))) }
        for page in lost { bytes.zero(page) }
        try Self.check(bytes, oracle, lost: lost, path, "seed \(seed)")
    }

    @Test("any single page of a small file can be lost", arguments: [11, 12] as [UInt64])
    func everyPage(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let history = try Self.makeStore(path, seed: seed, steps: 240)
        let oracle = try SalvageOracle(path: path, model: history.model)
        let sound = try FileBytes(path)
        for page in 0..<sound.pageCount {
            var bytes = sound
            bytes.zero(page)
            try Self.check(bytes, oracle, lost: [page], path, "seed \(seed), page \(page)")
        }
    }

    /// Classes without any surviving row were once called whole, and links to their rows stayed.
    @Test("a truncated file never loses a row silently", arguments: [51, 52] as [UInt64])
    func cutShort(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let history = try Self.makeStore(path, seed: seed, steps: 240)
        let sound = try FileBytes(path)
        var salvaged = 0
        for pages in 2..<sound.pageCount {
            var bytes = sound
            bytes.bytes.removeLast((sound.pageCount - pages) * Format.pageSize)
            try bytes.write(path)
            var report = SalvageReport()
            let contents: StoreModel
            do {
                contents = try Self.salvaged(path, &report)
                salvaged += 1
            } catch StorageError.notAStore {
                continue
            } catch {
                #expect(report.schema == .lost && !report.isWhole, "\(pages) pages: \(error)")
                continue
            }
            if contents != history.model { #expect(!report.isWhole, "\(pages) pages: \(report)") }
            #expect(contents == SalvageOracle.withoutDanglingLinks(contents), "\(pages) pages: links to nothing")
            for (index, table) in history.model.tables.enumerated() {
                guard let said = report.tables.first(where: { $0.id.rawValue == UInt32(index + 1) }) else {
                    // The report lacks a table only if the schema and all rows of the table are lost.
                    #expect(report.schema != .current && !report.isWhole, "\(pages) pages: \(report)")
                    continue
                }
                let missing = table.count - contents.tables[index].count
                #expect(said.rowsRecovered == contents.tables[index].count)
                if said.rowsUncertain > 0 { continue }
                if said.isLossExact { #expect(said.rowsLost == missing, "\(pages) pages: \(said)") }
                #expect(said.rowsLost <= missing, "\(pages) pages: \(said)")
            }
        }
        #expect(salvaged > 0)
    }

    @Test("without header slots the newest root is found", arguments: [21, 22, 23, 24] as [UInt64])
    func withoutSlots(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let history = try Self.makeStore(path, seed: seed)
        var bytes = try FileBytes(path)
        bytes.zero(0)
        bytes.zero(1)
        try bytes.write(path)
        var report = SalvageReport()
        #expect(try Self.salvaged(path, &report) == history.model)
        #expect(report.start == .root && report.isWhole)
    }

    @Test("without a root the free map tells new row groups from older ones", arguments: [31, 32, 33] as [UInt64])
    func withoutRoot(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let history = try Self.makeStore(path, seed: seed)
        let oracle = try SalvageOracle(path: path, model: history.model)
        var bytes = try FileBytes(path)
        bytes.zero(Int(oracle.root.page))
        try bytes.write(path)
        var report = SalvageReport()
        #expect(try Self.salvaged(path, &report) == history.model)
        #expect(report.start == .nodes && report.schema == .current && report.hasFreeMap)
        #expect(report.rowsLost == 0)
        bytes.zero(0)
        bytes.zero(1)
        try Self.check(bytes, oracle, lost: [0, 1, Int(oracle.root.page)], path, "seed \(seed), no slots, no root")
    }

    @Test("without a schema, classes and columns are named by their ids")
    func withoutSchema() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let history = try Self.makeStore(path, seed: 41)
        var bytes = try FileBytes(path)
        bytes.zero(Int(try SalvageOracle(path: path, model: history.model).schemaNode.page))
        try bytes.write(path)
        let report = try Salvage.run(from: path, to: path + ".new")
        #expect(report.schema == .lost && report.tables.map(\.name) == ["table-1", "table-2"])
        let store = try Store.open(path: path + ".new")
        let view = try store.snapshot().view
        #expect(view.schema.tables[1].columns.map(\.name) == ["column-6", "column-7"])
        #expect(view.schema.tables[0].columns.map(\.type) == [.integer, .bytes, .double, .integer, .bytes])
        for (table, rows) in history.model.tables.enumerated() {
            #expect(try view.keys(table) == rows.keys.sorted())
        }
        for (key, values) in history.model.tables[1] {
            let row = try #require(try view.locate(1, RowKey(key)))
            #expect(try view.integer(row, 0).map { .integer($0) } ?? .null == values[0])
        }
        try store.close()
    }

    @Test("a dead process's log is replayed, even with both slots and the root lost")
    func withLog() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let copy = directory.path + "/copy"
        var history = StoreHistory(seed: 51)
        let store = try Store.open(path: path, options: Self.options)
        for round in 0..<20 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<10 { try history.step(transaction) }
            try transaction.commit()
        }
        let data = try FileBytes(path)
        let log = try FileBytes(path + ".log")
        try store.close()
        func salvaged(_ bytes: FileBytes) throws -> (StoreModel, SalvageReport) {
            try bytes.write(copy)
            try log.write(copy + ".log")
            var report = SalvageReport()
            let contents = try Self.salvaged(copy, &report)
            return (contents, report)
        }
        let whole = try salvaged(data)
        #expect(whole.0 == history.model)
        #expect(whole.1.log == .replayed(through: TransactionID(20)) && whole.1.isWhole)
        var bytes = data
        bytes.zero(0)
        bytes.zero(1)
        let slotless = try salvaged(bytes)
        #expect(slotless.0 == history.model && slotless.1.start == .root)
        let source = try POSIXFileSystem().open(copy + ".log", .write)
        try source.truncate(to: 100)
        try data.write(copy)
        try POSIXFileSystem().remove(copy + ".new")
        let cut = try Salvage.run(from: copy, to: copy + ".new")
        #expect(cut.log == .lost && !cut.isWhole)
    }

    @Test("nothing is overwritten, and a file that is no store is refused")
    func refusals() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        _ = try Self.makeStore(path, seed: 61, steps: 24)
        let before = try FileBytes(path).bytes
        #expect(throws: StorageError.self) { try Salvage.run(from: path, to: path) }
        #expect(throws: StorageError.self) { try Salvage.run(from: directory.path + "/none", to: path + ".new") }
        #expect(throws: StorageError.notAStore(path: directory.path)) {
            try Salvage.run(from: directory.path, to: path + ".new")
        }
        var zeros = try FileBytes(path)
        for page in 0..<zeros.pageCount { zeros.zero(page) }
        try zeros.write(path + ".zeros")
        #expect(throws: StorageError.notAStore(path: path + ".zeros")) {
            try Salvage.run(from: path + ".zeros", to: path + ".new")
        }
        var future = zeros
        future.bytes.replaceSubrange(
            0..<Format.slotSize, with: HeaderSlot(storeID: RandomID(1, 2)).encode(at: 0, version: 3))
        try future.write(path + ".future")
        #expect(throws: StorageError.unsupportedFormat(path: path + ".future", version: 3)) {
            try Salvage.run(from: path + ".future", to: path + ".new")
        }
        let open = try Store.open(path: path)
        #expect(throws: StorageError.inUse(path: path)) { try Salvage.run(from: path, to: path + ".new") }
        try open.close()
        #expect(try POSIXFileSystem().status(path + ".new") == nil)
        #expect(try POSIXFileSystem().status(path + ".new.salvaging") == nil)
        #expect(try FileBytes(path).bytes == before)
    }

    @Test("any flipped bytes give a report or an error", arguments: TestSettings.seeds(16, of: 60))
    func flips(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        _ = try Self.makeStore(path, seed: seed, steps: 120)
        let sound = try FileBytes(path)
        var random = SplitMix64(seed: seed)
        for _ in 0..<8 {
            var bytes = sound
            for _ in 0..<(1 + random.below(60)) {
                bytes.bytes[Int(random.below(UInt64(bytes.bytes.count)))] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.below(4) == 0 { bytes.bytes.removeLast(Int(random.below(UInt64(bytes.bytes.count)))) }
            try bytes.write(path)
            var report = SalvageReport()
            do { _ = try Self.salvaged(path, &report) } catch let error as StorageError {
                guard case .notAStore = error else { throw error }
            }
        }
    }

    @Test("an encrypted store is salvaged with its key, also without header slots") func salvage() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let model = try EncryptionTests.makeStore(path, seed: 17)
        let whole = try EncryptionTests.bytes(path)
        var settings = SalvageOptions()
        settings.limits = .tiny
        #expect(throws: StorageError.keyRequired(path: path)) { try Salvage.examine(path, options: settings) }
        settings.cipher = TestCipher(key: 8)
        #expect(throws: StorageError.wrongKey(path: path)) { try Salvage.examine(path, options: settings) }
        settings.cipher = TestCipher(key: 7)
        let pages = (whole.count - 8192) / SealedGeometry.stride
        for page in stride(from: 0, to: pages, by: 3) {
            var bytes = whole
            let start = 8192 + page * SealedGeometry.stride
            bytes.replaceSubrange(start..<start + SealedGeometry.stride, with: repeatElement(0, count: 4128))
            bytes.replaceSubrange(0..<512, with: repeatElement(0, count: 512))
            try EncryptionTests.put(bytes, path)
            let new = directory.path + "/new\(page)"
            let report = try Salvage.run(from: path, to: new, options: settings)
            let store = try Store.open(path: new, options: EncryptionTests.options())
            try store.checkInvariants()
            let found = try StoreHistory.contents(store.snapshot().view)
            if report.isWhole { #expect(found == model, "page \(page)") }
            let rows = found.tables.map(\.count).reduce(0, +)
            #expect(report.rowsRecovered == rows, "page \(page)")
            try store.close()
        }
    }
}
