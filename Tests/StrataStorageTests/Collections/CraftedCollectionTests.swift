import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Files whose element trees have valid checksums and wrong contents: every read, change, move or copy of collections
/// ends, correctly or with an error. `CRAFTED_SEED` and `CRAFTED_TRIALS` repeat one trial, or run many.
@Suite struct CraftedCollectionTests {
    @Test("damage in collections that checksums believe is an error, never a crash or a hang")
    func believed() async {
        let first = TestSettings.number("CRAFTED_SEED") ?? 1
        let count = TestSettings.number("CRAFTED_TRIALS") ?? 400
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [first = first as UInt64, count = count as UInt64] in
            let files = try Self.soundFiles()
            var sound = 0
            for seed in first..<(first &+ count) {
                TestSettings.say("seed \(seed)")
                // A hang ends the process.
                alarm(60)
                var file = files[Int(seed % UInt64(files.count))]
                Self.change(&file, seed)
                if try Self.use(file, seed) { sound += 1 }
            }
            TestSettings.say("\(count) trials, \(sound) sound by the check")
            // Only stores that the check calls sound are read in every way.
            if count >= 100 { precondition(sound > 0, "no store was sound") }
        }
        if let result, result.exitStatus != .exitCode(0) {
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            Issue.record("repeat with CRAFTED_SEED=<last seed below> CRAFTED_TRIALS=1\n\(text.suffix(400))")
        }
    }

    static func soundFiles() throws -> [CraftedFile] {
        var files = [try CollectionCheckTests.make()]
        for seed in 1...2 as ClosedRange<UInt64> {
            let disk = FileImages.Disk()
            let store = try FileImages.open(disk)
            var history = CollectionHistory(seed: seed)
            for number in 0..<5 {
                let transaction = try store.beginWrite()
                if number == 0 { try transaction.apply(schema: CollectionHistory.schema) }
                for _ in 0..<8 { try history.step(transaction) }
                try transaction.commit()
            }
            try store.close()
            files.append(CraftedFile(try disk.bytes(FileImages.path) ?? []))
        }
        files.append(try nestedFile())
        return files
    }

    /// Collections in elements of others.
    private static func nestedFile() throws -> CraftedFile {
        let disk = FileImages.Disk()
        let store = try FileImages.open(disk)
        var history = NestedHistory(seed: 3)
        for number in 0..<6 {
            let transaction = try store.beginWrite()
            if number == 0 { try transaction.apply(schema: NestedHistory.schema) }
            for _ in 0..<8 { try history.step(transaction) }
            try transaction.commit()
        }
        try store.close()
        return CraftedFile(try disk.bytes(FileImages.path) ?? [])
    }

    /// Changes mostly tree nodes, and the cells that refer to them.
    static func change(_ file: inout CraftedFile, _ seed: UInt64) {
        var mutation = Mutation(random: SplitMix64(seed: seed))
        if mutation.random.below(6) == 0 { file.alias(&mutation.random) }
        let trees = file.nodes.indices.filter {
            file.nodes[$0].reference.is(.collectionLeaf) || file.nodes[$0].reference.is(.collectionBranch)
        }
        for _ in 0...mutation.random.below(2) {
            let isTree = mutation.random.below(4) > 0
            let node =
                isTree
                ? trees[Int(mutation.random.below(UInt64(trees.count)))]
                : Int(mutation.random.below(UInt64(file.nodes.count)))
            file.change(node) { mutation.apply(to: $0) }
        }
    }

    /// - Returns: whether the check found nothing.
    private static func use(_ file: CraftedFile, _ seed: UInt64) throws -> Bool {
        let disk = FileImages.Disk()
        try disk.put(file.bytes, at: FileImages.path)
        guard let store = try? FileImages.open(disk) else { return false }
        defer { try? store.close() }
        guard let snapshot = try? store.snapshot() else { return false }
        let keys = (try? snapshot.view.keys(CollectionHistory.owners)) ?? []
        for key in keys.prefix(40) {
            for column in CollectionHistory.columns { _ = try? CollectionHistory.pairs(snapshot.view, key, column) }
        }
        if snapshot.view.schema.tables.first?.columns.count == 3 { _ = try? NestedHistory.contents(snapshot.view) }
        let isSound = (try? store.checkInvariants()) != nil
        var random = SplitMix64(seed: seed)
        change(store, keys, &random)
        try? compact(store)
        try? store.writeCopy(to: "copy")
        if let later = try? store.snapshot() {
            for table in later.view.schema.tables { _ = try? later.view.changes(of: table.id, since: snapshot.view) }
            for key in keys.prefix(40) { differ(snapshot.view, later.view, RowKey(key)) }
        }
        return isSound
    }

    private static func differ(_ old: ReadView, _ new: ReadView, _ key: RowKey) {
        for column in CollectionHistory.columns {
            guard let earlier = try? CollectionReader(old, table: CollectionHistory.owners, key: key, column: column),
                let later = try? CollectionReader(new, table: CollectionHistory.owners, key: key, column: column)
            else { continue }
            _ = try? CollectionDifference(from: earlier, to: later)
            _ = try? later.forEachBatch { _ in true }
            _ = try? later.firstPlace(of: .integer(7))
            _ = try? later.integerTotals()
        }
    }

    /// Changes elements and rows, ignoring errors.
    private static func change(_ store: Store, _ keys: [Int64], _ random: inout SplitMix64) {
        guard !keys.isEmpty, let transaction = try? store.beginWrite() else { return }
        let owners = CollectionHistory.owners
        for _ in 0..<12 {
            let key = RowKey(keys[Int(random.below(UInt64(keys.count)))])
            let column =
                CollectionHistory.columns.lowerBound + Int(random.below(UInt64(CollectionHistory.columns.count)))
            let place = Int(random.below(12))
            guard let collection = CollectionHistory.collection(column) else { continue }
            let elements = CollectionElements(collection)
            let value: Cell =
                switch collection.element {
                case .integer: .integer(Int64(random.below(300)))
                case .double: .double(1.5)
                case .text, .data, .opaque, .any: .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
                }
            elements.append(key: .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), value)
            let inner = NestedValue.elements([NestedPair(key: [90], value: .list([.null]))], random.below(2) == 0)
            switch random.below(8) {
            case 6:
                try? transaction.collections(at: [place % 4]).insert(
                    owners, key, column: place % 2, elements: inner, at: 0)
            case 7: try? transaction.collections(at: [place % 4]).remove(owners, key, column: place % 2, range: 0..<2)
            case 0: try? transaction.collections.insert(owners, key, column: column, elements: elements, at: place)
            case 1: try? transaction.collections.remove(owners, key, column: column, range: place..<(place + 3))
            case 2: try? transaction.collections.move(owners, key, column: column, range: place..<(place + 2), to: 0)
            case 3: try? transaction.collections.clear(owners, key, column: column)
            case 4: try? transaction.delete(owners, key)
            default: try? transaction.delete(CollectionHistory.targets, RowKey(Int64(random.below(5))))
            }
        }
        if random.below(3) == 0 { transaction.rollback() } else { _ = try? transaction.commit() }
    }

    private static func compact(_ store: Store) throws {
        var cursor: CompactionCursor? = CompactionCursor()
        for _ in 0..<200 {
            guard let from = cursor else { return }
            let permit = store.gate.acquire()
            try store.checkpoints.loadFreeMap()
            let transaction = try store.makeTransaction(store.commits.newest, permit)
            var walk = CompactionWalk(transaction.nodes, limit: 12, pages: 8)
            do { cursor = try walk.run(&transaction.view.state, from: from) } catch {
                transaction.rollback()
                throw error
            }
            if walk.hasMoved { try store.commit(transaction) } else { transaction.rollback() }
        }
    }

    @Test("a branch with one child many times does not cause an endless walk") func sharedChildren() throws {
        var file = try CollectionCheckTests.make()
        // Every branch of a tree repeats its first child.
        for index in file.nodes.indices where file.nodes[index].reference.is(.collectionBranch) {
            file.change(index) { bytes in
                let head = Format.nodeHeaderSize
                for child in 1..<Int(bytes[0]) {
                    for (start, size) in [(CollectionBranch.countsOffset, 8), (CollectionBranch.referencesOffset, 24)] {
                        for byte in 0..<size { bytes[start - head + child * size + byte] = bytes[start - head + byte] }
                    }
                }
            }
        }
        #expect(file.finding()?.contains("another node's") == true)
        #expect(try !Self.use(file, 1))
    }
}
