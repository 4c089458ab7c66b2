import Platform
import StrataFiles
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

@Suite struct SalvageTrialTests {
    /// STRATA_SALVAGE_TRIALS sets their number.
    private static let trials = getenv("STRATA_SALVAGE_TRIALS").flatMap { UInt64(String(cString: $0)) } ?? 400

    @Test("whatever the damage to a store, its salvage's report is true") func claims() throws {
        let stores = try SalvageTrial.Stores()
        var refused: UInt64 = 0
        for seed in 1...Self.trials {
            let trial = SalvageTrial(seed: seed, stores)
            do {
                guard let violations = try trial.violations() else {
                    refused += 1
                    continue
                }
                for violation in violations {
                    Issue.record("seed \(seed), \(trial.damage.map(\.rawValue)): \(violation)")
                }
            } catch {
                Issue.record("seed \(seed), \(trial.damage.map(\.rawValue)): \(error)")
            }
        }
        // A refusal is right for a mostly destroyed file, and tests nothing.
        #expect(refused * 20 < Self.trials, "\(refused) of \(Self.trials) were refused")
    }

    /// The root and a class's tree are lost; a value contains a node of the same class.
    @Test("no row comes out of a user's value, whole or damaged") func valueWithNodes() throws {
        let inner = try FileImages.clean(seed: 21, steps: 120)
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        options.mapReserve = 1 << 26
        let store = try Store.open(path: FileImages.path, options: options)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        // A value starts 24 bytes into its first page.
        let copy = [UInt8](repeating: 1, count: Format.pageSize - Format.nodeHeaderSize) + inner.data
        let row: [Value] = [.integer(1), .bytes(copy), .double(0), .null, .links([])]
        try StoreHistory.withCells(row[...]) { try transaction.insert(0, key: RowKey(1_000_000), $0) }
        for key in 1...5 as ClosedRange<Int64> {
            let dog: [Value] = [.integer(key), .null]
            try StoreHistory.withCells(dog[...]) { try transaction.insert(1, key: RowKey(key), $0) }
        }
        try transaction.commit()
        try store.close()
        let data = try #require(try disk.bytes(FileImages.path))
        let file = CraftedFile(data)
        let root = try #require(file.nodes.first { $0.reference.is(.root) })
        let value = try #require(file.nodes.first { $0.reference.is(.value) })
        let branch = try #require(
            file.nodes.first { $0.reference.is(.branch) && data[$0.start + 4] == 1 && data[$0.start + 5] == 0 })
        // Either the reference to the value is lost and the value is complete, or the value's first page is lost and
        // the reference exists: the salvage knows which pages belong to the value, and takes no row from them.
        for (number, lost) in [[root], [branch], [root, branch], [value]].enumerated() {
            var bytes = data
            for node in lost { for byte in 0..<64 { bytes[node.start + byte] = 0 } }
            let salvaged = FileImages.Disk()
            try salvaged.put(bytes, at: FileImages.path)
            let report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: salvaged)
            #expect(report.rowsRecovered == 6, "\(number): \(report)")
            #expect(!report.isWhole && value.reference.pages > 2)
        }
        // Both the reference and the value's first page are lost: rows that may come from the value are never called
        // certain.
        for (number, lost) in [[root, value], [branch, value], [root, branch, value]].enumerated() {
            var bytes = data
            for node in lost { for byte in 0..<64 { bytes[node.start + byte] = 0 } }
            let salvaged = FileImages.Disk()
            try salvaged.put(bytes, at: FileImages.path)
            let report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: salvaged)
            let uncertain = report.tables.reduce(0) { $0 + $1.rowsUncertain }
            #expect(report.rowsRecovered - uncertain <= 6, "\(number): \(report)")
            #expect(!report.isWhole)
        }
    }

    /// Links of a set and of a map, in surviving rows, to lost rows.
    @Test("lost rows make sets smaller, and leave maps their keys with nulls") func collections() throws {
        let file = try CheckedStore.make()
        var tried = 0
        for node in file.nodes where node.reference.is(.group) {
            let table = file.bytes[node.start + 4]
            if table != 1 { continue }
            var bytes = file.bytes
            for byte in node.start..<(node.start + node.reference.byteCount) { bytes[byte] = 0 }
            let disk = FileImages.Disk()
            try disk.put(bytes, at: FileImages.path)
            _ = try Salvage.run(from: FileImages.path, to: "new", fileSystem: disk)
            let store = try Store.open(path: "new", options: FileImages.options(on: disk))
            try store.checkInvariants()
            let view = try store.snapshot().view
            func isThere(_ key: Int64) throws -> Bool { try view.locate(CheckedStore.wide, RowKey(key)) != nil }
            for key in 1...3 as ClosedRange<Int64> {
                let row = try #require(try view.locate(CheckedStore.few, RowKey(key)))
                func links(_ column: Int) throws -> (links: [Int64], extra: [UInt8]) {
                    let bytes = try #require(try view.bytes(row, column))
                    let payload = try #require(LinkPayload.Reader(bytes))
                    return (payload.links, Array(payload.extra))
                }
                #expect(try links(7).links == [40, 50].filter { try isThere($0) })
                #expect(try links(8).links == [try isThere(30) ? 30 : LinkPayload.null, LinkPayload.null])
                #expect(try links(8).extra == CheckedStore.Bytes.keys)
                #expect(try links(2).links == [10, 20, 20].filter { try isThere($0) })
            }
            if try ![30, 40].allSatisfy({ try isThere($0) }) { tried += 1 }
            try store.close()
        }
        #expect(tried > 0, "no row was lost that is linked to")
    }

    @Test("impossible version numbers do not get into a salvaged store") func hugeNumbers() throws {
        let image = try FileImages.withLog(seed: 5, steps: 80)
        var log = try #require(image.log)
        log.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress, case .valid(var header) = LogHeader.decode(base) else { return }
            header.baseVersion = TransactionID(.max)
            header.store(base)
        }
        for slots in [false, true] {
            var data = image.data
            if !slots { for byte in 0..<8192 { data[byte] = 0 } }
            let disk = FileImages.Disk()
            try disk.put(data, at: FileImages.path)
            try disk.put(log, at: FileImages.path + ".log")
            let report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: disk)
            #expect(!report.isWhole)
            try Store.open(path: "new", options: FileImages.options(on: disk)).close()
        }
        // A row group with the largest possible creation version.
        let clean = try FileImages.clean(seed: 5, steps: 80)
        var bytes = clean.data
        let file = CraftedFile(bytes)
        let groups = file.nodes.filter { $0.reference.is(.group) || $0.reference.is(.root) }
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            for group in groups {
                _ = NodeHeader.seal(
                    base + group.start, count: group.reference.byteCount, birth: .max, seed: file.seed)
            }
        }
        for byte in 0..<8192 { bytes[byte] = 0 }
        let disk = FileImages.Disk()
        try disk.put(bytes, at: FileImages.path)
        let options = FileImages.options(on: disk)
        _ = try Salvage.run(from: FileImages.path, to: "new", fileSystem: disk)
        try Store.open(path: "new", options: options).close()
    }
}
