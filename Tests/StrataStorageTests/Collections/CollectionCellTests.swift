import StrataFiles
import Testing

@testable import StrataStorage

/// Collections as cells of rows: small ones in the row, large ones as trees.
@Suite struct CollectionCellTests {
    // MARK: Encodings

    @Test("a collection is encoded as the object layer writes it, and read back")
    func encodings() throws {
        func check(_ bytes: [UInt8], _ column: CollectionColumn, isLinks: Bool = false, _ pairs: [CollectionPair])
            throws
        {
            let definition = ColumnDefinition(
                id: ColumnID(1), name: "c", type: isLinks ? .links : .bytes, target: isLinks ? TableID(1) : nil,
                keepsPlaces: isLinks && column.isKeyed, collection: column)
            let shape = try #require(CollectionShape(definition, table: 1, owner: 1))
            let elements = CollectionElements(shape)
            for pair in pairs { pair.key.withCell { key in pair.value.withCell { elements.append(key: key, $0) } } }
            #expect(CollectionEncoder(column: column, isLinks: isLinks).encode(elements) == bytes)
            try bytes.withUnsafeBytes { bytes in
                let payload = try #require(CollectionPayload(bytes, column, isLinks: isLinks))
                let found = (0..<payload.count).map {
                    CollectionPair(key: CollectionValue(payload.key($0)), value: CollectionValue(payload.value($0)))
                }
                #expect(found == pairs)
            }
        }
        func values(_ values: [CollectionValue]) -> [CollectionPair] { values.map { CollectionPair(value: $0) } }
        func text(_ text: String) -> CollectionValue { .bytes(Array(text.utf8)) }
        try check(
            CheckedStore.Bytes.list, CollectionColumn(.integer), values([.integer(101), .integer(102), .integer(103)]))
        try check(CheckedStore.Bytes.texts, CollectionColumn(.text), values([text("pq"), text("r")]))
        try check(
            CheckedStore.Bytes.set, CollectionColumn(.integer, isSorted: true),
            values([.integer(111), .integer(112), .integer(113)]))
        let keys = [text("k1"), text("k2")]
        try check(
            CheckedStore.Bytes.map, CollectionColumn(.integer, isKeyed: true),
            [CollectionPair(key: keys[0], value: .integer(121)), CollectionPair(key: keys[1], value: .integer(122))])
        try check(
            LinkPayload.encode([30, LinkPayload.null], extra: CheckedStore.Bytes.keys),
            CollectionColumn(.integer, isKeyed: true, allowsNulls: true), isLinks: true,
            [CollectionPair(key: keys[0], value: .integer(30)), CollectionPair(key: keys[1], value: .null)])
        try check(
            LinkPayload.encode([7, 700]), CollectionColumn(.integer), isLinks: true,
            values([.integer(7), .integer(700)]))
        // A list of nulls only is encoded as integers, whatever the column's type.
        try check([1, 1, 2, 0, 0, 0, 3, 0, 0], CollectionColumn(.text, allowsNulls: true), values([.null, .null]))
        try check([5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F], CollectionColumn(.double), values([.double(1.5)]))
        try check([], CollectionColumn(.data), [])
    }

    @Test("bytes of another layout, and nulls in a required column, are refused")
    func refused() throws {
        func isRefused(_ bytes: [UInt8], _ column: CollectionColumn, isLinks: Bool = false) -> Bool {
            bytes.withUnsafeBytes { CollectionPayload($0, column, isLinks: isLinks) == nil }
        }
        #expect(isRefused(CheckedStore.Bytes.texts, CollectionColumn(.integer)))
        #expect(isRefused(CheckedStore.Bytes.texts, CollectionColumn(.data)))
        #expect(isRefused(CheckedStore.Bytes.list, CollectionColumn(.text)))
        #expect(isRefused(CheckedStore.Bytes.list, CollectionColumn(.integer, isKeyed: true)))
        #expect(isRefused([1, 1, 1, 0, 0, 0, 1, 0], CollectionColumn(.integer)))
        #expect(isRefused([1, 2, 1, 0, 0, 0, 9], CollectionColumn(.integer)))
        #expect(isRefused([9], CollectionColumn(.integer), isLinks: true))
        // A map to objects needs as many links as keys.
        let links = LinkPayload.encode([30], extra: CheckedStore.Bytes.keys)
        #expect(isRefused(links, CollectionColumn(.integer, isKeyed: true, allowsNulls: true), isLinks: true))
        for cut in 1..<CheckedStore.Bytes.map.count {
            #expect(isRefused(Array(CheckedStore.Bytes.map[..<cut]), CollectionColumn(.integer, isKeyed: true)))
        }
    }

    // MARK: Histories

    @Test(
        "whole collections agree with arrays, through commits, rollbacks, spills, pins, crashes and reopenings",
        arguments: 1...8 as ClosedRange<UInt64>)
    func wholeValues(seed: UInt64) throws {
        try CollectionTrial(seed).run(transactions: 45) { history, transaction in try history.step(transaction) }
    }

    @Test("inserting an existing row leaves no trace in a transaction")
    func duplicateKey() throws {
        let disk = FileImages.Disk()
        let store = try FileImages.open(disk)
        var history = CollectionHistory(seed: 5)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        let long = (0..<50).map { CollectionPair(value: .integer($0)) }
        try history.set(transaction, 1, 1, long)
        let kept = history.model
        #expect(throws: StorageError.misuse(.duplicateKey)) { try history.insertRow(transaction, 1) }
        #expect(throws: StorageError.misuse(.noSuchRow)) { try history.set(transaction, 9, 1, long) }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try CheckedStore.Bytes.texts.withUnsafeBytes {
                try transaction.set(0, RowKey(1), column: 1, to: .bytes($0))
            }
        }
        history.model = kept
        #expect(try CollectionHistory.contents(transaction.view) == kept)
        try transaction.commit()
        try store.checkInvariants()
        #expect(try CollectionHistory.contents(store.snapshot().view) == kept)
        transaction = try store.beginWrite()
        #expect(throws: StorageError.misuse(.wrongType)) {
            let row = try #require(try transaction.view.locate(0, RowKey(1)))
            _ = try transaction.view.bytes(row, 1)
        }
        transaction.rollback()
        try store.close()
    }

    // MARK: Schema

    @Test("an old column becomes one of collections, and its long values stay readable until they change")
    func adopted() throws {
        let disk = FileImages.Disk()
        let store = try FileImages.open(disk)
        var history = CollectionHistory(seed: 11)
        var plain = CollectionHistory.schema
        for column in plain.tables[0].columns.indices { plain.tables[0].columns[column].collection = nil }
        var transaction = try store.beginWrite()
        try transaction.apply(schema: plain)
        for _ in 0..<60 { try history.step(transaction) }
        try transaction.commit()
        transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try transaction.commit()
        try store.checkInvariants()
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        for _ in 0..<20 {
            transaction = try store.beginWrite()
            for _ in 0..<3 {
                try history.step(transaction)
                try history.edit(transaction)
            }
            try transaction.commit()
            try store.checkInvariants()
            #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        }
        transaction = try store.beginWrite()
        #expect(throws: StorageError.misuse(.wrongType)) { try transaction.apply(schema: plain) }
        transaction.rollback()
        try store.close()
    }

    @Test("removing a column of collections, or a table, frees its trees", arguments: [true, false])
    func removed(isOpen: Bool) throws {
        let disk = FileImages.Disk()
        let store = try FileImages.open(disk)
        var history = CollectionHistory(seed: 3)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<80 { try history.step(transaction) }
        if !isOpen {
            try transaction.commit()
            transaction = try store.beginWrite()
        }
        var schema = CollectionHistory.schema
        schema.tables[0].columns.removeAll { [ColumnID(2), ColumnID(9)].contains($0.id) }
        try transaction.apply(schema: schema)
        try transaction.commit()
        try store.checkInvariants()
        transaction = try store.beginWrite()
        schema.tables.removeFirst()
        try transaction.apply(schema: schema)
        try transaction.commit()
        try store.checkInvariants()
        #expect(try store.snapshot().view.keys(0).count == history.model.targets.count)
        try store.close()
    }
}

/// Runs a history with commits, rollbacks, spills, pins, crashes and reopenings.
final class CollectionTrial {
    private let seed: UInt64
    private var history: CollectionHistory
    private var disk = FileImages.Disk()
    private var store: Store
    private var pinned: [(snapshot: Snapshot, model: CollectionHistory.Model)] = []
    private let change: (inout StoreOptions) -> Void
    /// Whether the run sometimes continues on copies of both files.
    var crashes = true
    /// Whether the files after a crash are first opened read-only and compared.
    var readsOnly = true

    /// - Parameter change: changes the options of each open.
    init(_ seed: UInt64, _ change: @escaping (inout StoreOptions) -> Void = { _ in }) throws {
        self.seed = seed
        self.change = change
        history = CollectionHistory(seed: seed)
        var options = FileImages.options(on: disk)
        change(&options)
        store = try Store.open(path: FileImages.path, options: options)
    }

    /// - Parameter elements: the length of a long collection.
    func setLongest(_ elements: UInt64) { history.longest = elements }

    private func open() throws {
        var options = FileImages.options(on: disk)
        change(&options)
        store = try Store.open(path: FileImages.path, options: options)
    }

    func run(
        transactions: Int, schema: StoreSchema = CollectionHistory.schema,
        _ step: (inout CollectionHistory, WriteTransaction) throws -> Void
    ) throws {
        for number in 0..<transactions {
            let transaction = try store.beginWrite()
            if number == 0 { try transaction.apply(schema: schema) }
            let before = history.model
            let steps = history.random.below(8) == 0 ? 60 : 1 + history.random.below(12)
            for _ in 0..<steps { try step(&history, transaction) }
            if history.random.below(3) == 0 {
                #expect(try CollectionHistory.contents(transaction.view) == history.model, "seed \(seed), in \(number)")
            }
            if number > 0, history.random.below(6) == 0 {
                transaction.rollback()
                history.model = before
            } else {
                try transaction.commit()
            }
            try check(number)
            switch history.random.below(10) {
            case 0:
                pinned = []
                try store.close()
                try open()
            case 1, 2: if crashes { try crash() }
            case 3: pinned.append((try store.snapshot(), history.model))
            default: break
            }
        }
        try check(transactions)
        pinned = []
        try store.close()
    }

    private func check(_ number: Int) throws {
        do { try store.checkInvariants() } catch { throw InvariantViolation("seed \(seed), \(number): \(error)") }
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model, "seed \(seed), \(number)")
        for (snapshot, model) in pinned {
            #expect(
                try CollectionHistory.contents(snapshot.view) == model, "seed \(seed), pinned, \(number)")
        }
    }

    /// Continues on copies of both files, as a crash at this moment would leave them.
    private func crash() throws {
        pinned = []
        let nodes = try CollectionHistory.nodes(store.snapshot().view)
        disk = try disk.copied()
        if readsOnly {
            var options = FileImages.options(on: disk)
            change(&options)
            options.readOnly = true
            let reader = try Store.open(path: FileImages.path, options: options)
            #expect(try CollectionHistory.contents(reader.snapshot().view) == history.model, "seed \(seed), read only")
            try reader.close()
        }
        try open()
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model, "seed \(seed), after a crash")
        // A replay takes no more pages than the session did.
        #expect(try CollectionHistory.nodes(store.snapshot().view) == nodes, "seed \(seed), after a crash")
    }
}

extension FileImages.Disk {
    /// Both files of a store, as a crash at this moment would leave them.
    func copied() throws -> FileImages.Disk {
        let image = FileImages.Disk()
        for path in [FileImages.path, Store.logPath(FileImages.path)] {
            if let bytes = try bytes(path) { try image.put(bytes, at: path) }
        }
        return image
    }
}
