import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// Collections under failures: linked rows are deleted, the disk is full, and bytes are crafted.
@Suite struct CollectionFailureTests {
    // MARK: Links within a table

    private static let people = StoreSchema(
        table: "Person",
        [
            ColumnDefinition(
                id: ColumnID(1), name: "friends", type: .links, target: TableID(1),
                collection: CollectionColumn(.integer))
        ])

    private static func friends(_ store: Store) throws -> [Int64: [Int64]] {
        let view = try store.snapshot().view
        var found: [Int64: [Int64]] = [:]
        for key in try view.keys(0) {
            var links: [Int64] = []
            let reader = try CollectionReader(view, table: 0, key: RowKey(key), column: 0)
            try reader.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end { links.append(try part.value(at: place).integerValue) }
                return true
            }
            found[key] = links
        }
        return found
    }

    @Test("rows that link to one another are deleted together", arguments: 1...8 as ClosedRange<UInt64>)
    func linkedRows(seed: UInt64) throws {
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        options.logHalfBytes = 1 << 20
        let store = try Store.open(path: FileImages.path, options: options)
        var random = SplitMix64(seed: seed)
        var model: [Int64: [Int64]] = [:]
        var transaction = try store.beginWrite()
        try transaction.apply(schema: Self.people)
        for key in 0..<30 as Range<Int64> {
            let count = random.below(3) == 0 ? random.below(40) : random.below(5)
            model[key] = (0..<count).map { _ in Int64(random.below(30)) }
            try LinkPayload.encode(model[key] ?? []).withUnsafeBytes { bytes in
                try [Cell.bytes(bytes)].withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
            }
        }
        try transaction.commit()
        for round in 0..<4 {
            transaction = try store.beginWrite()
            let keys = model.keys.sorted()
            // Some collections are open when their rows are deleted.
            for key in keys where random.below(4) == 0 {
                let other = keys[Int(random.below(UInt64(keys.count)))]
                let elements = CollectionElements(CollectionColumn(.integer))
                elements.append(.integer(other))
                try transaction.collections.insert(0, RowKey(key), column: 0, elements: elements, at: 0)
                model[key]?.insert(other, at: 0)
            }
            let gone = round == 3 ? keys : keys.filter { _ in random.below(4) == 0 }
            if round == 3 {
                try transaction.deleteAll(0)
            } else {
                try transaction.bulk.delete(0, gone)
            }
            for key in gone { model[key] = nil }
            for key in model.keys { model[key]?.removeAll { gone.contains($0) } }
            try transaction.commit()
            try store.checkInvariants()
            #expect(try Self.friends(store) == model, "seed \(seed), round \(round)")
            let image = try disk.copied()
            options.fileSystem = image
            let dead = try Store.open(path: FileImages.path, options: options)
            try dead.checkInvariants()
            #expect(try Self.friends(dead) == model, "seed \(seed), round \(round), again")
            try dead.close()
        }
        try store.close()
    }

    @Test("a link that a row cannot hold is refused") func noLink() throws {
        let store = try FileImages.open(FileImages.Disk())
        var transaction = try store.beginWrite()
        try transaction.apply(schema: Self.people)
        try LinkPayload.encode([]).withUnsafeBytes { bytes in
            try [Cell.bytes(bytes)].withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(1), $0) }
        }
        try transaction.commit()
        transaction = try store.beginWrite()
        let elements = CollectionElements(CollectionColumn(.integer))
        elements.append(.integer(LinkPayload.null))
        #expect(throws: StorageError.misuse(.wrongType)) {
            try transaction.collections.insert(0, RowKey(1), column: 0, elements: elements, at: 0)
        }
        try transaction.commit()
        try store.checkInvariants()
        try store.close()
    }

    // MARK: Failures

    @Test(
        "a disk that fills at any moment of a change leaves the old contents", arguments: 1...3 as ClosedRange<UInt64>)
    func fullDisk(seed: UInt64) throws {
        var failures = 0
        for room in stride(from: 80, through: 400, by: 40) {
            let disk = SimulatedDisk(SimulatedDisk.Settings(seed: Seed(seed), capacity: Int64(room) * 4096))
            var options = FileImages.options(on: disk)
            options.growth = .fixed(1)
            let store = try Store.open(path: FileImages.path, options: options)
            var history = CollectionHistory(seed: seed)
            for number in 0..<14 {
                let before = history.model
                do {
                    let transaction = try store.beginWrite()
                    do {
                        if transaction.view.schema.tables.isEmpty {
                            try transaction.apply(schema: CollectionHistory.schema)
                        }
                        for _ in 0..<14 { try CollectionTrialTests.mixed(&history, transaction) }
                    } catch {
                        transaction.rollback()
                        throw error
                    }
                    try transaction.commit()
                } catch {
                    #expect(error.isNoSpace, "\(error)")
                    failures += 1
                    history.model = before
                }
                try store.checkInvariants()
                #expect(try CollectionHistory.contents(store.snapshot().view) == history.model, "\(room), \(number)")
                if number % 5 != 4 { continue }
                options.fileSystem = disk.kill(healthy: true)
                let dead = try Store.open(path: FileImages.path, options: options)
                #expect(try CollectionHistory.contents(dead.snapshot().view) == history.model, "\(room), \(number)")
                try dead.checkInvariants()
                try dead.close()
            }
            // Commits that are not durable yet may need room that is missing.
            do { try store.close() } catch { #expect(error.isNoSpace, "\(error)") }
        }
        #expect(failures > 10)
    }

    @Test("on a full disk the targets of links can be deleted one by one")
    func fullDiskEmptied() throws {
        let pages = 150
        let disk = SimulatedDisk(SimulatedDisk.Settings(seed: Seed(UInt64(pages)), capacity: Int64(pages) * 4096))
        var options = StoreOptions(fileSystem: disk)
        options.mapReserve = 1 << 28
        options.logHalfBytes = 16 << 10
        let store = try Store.open(path: FileImages.path, options: options)
        var history = CollectionHistory(seed: 1)
        history.longest = 1
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        try history.set(transaction, 1, CollectionHistory.friends, [])
        try transaction.commit()
        var key: Int64 = 0
        var step: Int64 = 200
        while step > 0 {
            let before = history.model
            transaction = try store.beginWrite()
            do {
                for _ in 0..<step {
                    try history.insertTarget(transaction, key)
                    let count = history.model.rows[1]?[CollectionHistory.friends].count ?? 0
                    let place = Int(history.random.below(UInt64(count + 1)))
                    try history.insert(
                        transaction, 1, CollectionHistory.friends, [CollectionPair(value: .integer(key))], at: place)
                    key += 1
                }
                try transaction.commit()
            } catch {
                #expect(error.isNoSpace, "\(error)")
                transaction.rollback()
                history.model = before
                key = Int64(history.model.targets.count)
                step /= 2
            }
        }
        var targets = history.model.targets.sorted()
        let most = targets.count
        while !targets.isEmpty && targets.count > most - 100 {
            let target = targets.remove(at: Int(history.random.below(UInt64(targets.count))))
            transaction = try store.beginWrite()
            do {
                try transaction.delete(1, RowKey(target))
                try transaction.commit()
                history.forgetTarget(target)
            } catch {
                transaction.rollback()
                throw InvariantViolation("with \(targets.count) of \(most) left: \(error)")
            }
        }
        #expect(most > 1000)
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.checkInvariants()
        try store.close()
    }

    // MARK: Crafted bytes

    @Test("records with arbitrary contents are applied, or refused", arguments: 1...2 as ClosedRange<UInt64>)
    func records(seed: UInt64) throws {
        var options = FileImages.options(on: FileImages.Disk())
        options.logHalfBytes = 1 << 20
        let store = try Store.open(path: FileImages.path, options: options)
        var history = CollectionHistory(seed: seed)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<60 { try history.step(transaction) }
        try transaction.commit()
        // Records exist only with a log.
        for _ in 0..<3 {
            transaction = try store.beginWrite()
            for _ in 0..<3 { try history.step(transaction) }
            try transaction.commit()
        }
        let before = history
        var (done, refused) = (0, 0)
        for number in 0..<120 {
            transaction = try store.beginWrite()
            var scratch = before
            scratch.random = SplitMix64(seed: seed &* 1000 &+ UInt64(number))
            for _ in 0..<6 { try scratch.edit(transaction) }
            var record = [UInt8](transaction.workspace.recorder.finish(lsn: transaction.version))
            transaction.rollback()
            for _ in 0...scratch.random.below(3) {
                let place = 16 + Int(scratch.random.below(UInt64(max(record.count - 16, 1))))
                if place < record.count { record[place] = UInt8(truncatingIfNeeded: scratch.random.next()) }
            }
            transaction = try store.beginWrite()
            do {
                try ChangeReplay(in: transaction).apply(record)
                try transaction.flushAll()
                done += 1
            } catch { refused += 1 }
            transaction.rollback()
            if number % 20 == 0 { try store.checkInvariants() }
        }
        #expect(done > 0 && refused > 0)
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.checkInvariants()
        try store.close()
    }

    @Test(
        "crafted trees are read, changed and freed, or refused",
        arguments: 1...2 as ClosedRange<UInt64>)
    func craftedTrees(seed: UInt64) throws {
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        var store = try Store.open(path: FileImages.path, options: options)
        var history = CollectionHistory(seed: seed)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        for _ in 0..<60 { try history.step(transaction) }
        try transaction.commit()
        try store.close()
        let crafted = CraftedFile(try #require(try disk.bytes(FileImages.path)))
        let trees = crafted.nodes.indices.filter {
            [NodeKind.collectionLeaf.rawValue, NodeKind.collectionBranch.rawValue].contains(
                UInt8(crafted.nodes[$0].reference.kindCode))
        }
        #expect(trees.count > 10)
        var mutation = Mutation(random: SplitMix64(seed: seed))
        var (done, refused) = (0, 0)
        for _ in 0..<150 {
            var file = crafted
            if mutation.random.below(4) == 0 {
                // Replaces a root by another tree's root or inner node.
                let a = trees[Int(mutation.random.below(UInt64(trees.count)))]
                let b = trees[Int(mutation.random.below(UInt64(trees.count)))]
                guard let from = file.nodes[a].places.first, let to = file.nodes[b].places.first else { continue }
                file.put(Array(file.bytes[from.offset..<(from.offset + NodeReference.size)]), at: to)
            } else {
                file.change(trees[Int(mutation.random.below(UInt64(trees.count)))]) { mutation.apply(to: $0) }
            }
            let image = FileImages.Disk()
            try image.put(file.bytes, at: FileImages.path)
            options.fileSystem = image
            do { store = try Store.open(path: FileImages.path, options: options) } catch { refused += 1; continue }
            for round in 0..<3 {
                let isDone = Self.attempt(store, history, seed: mutation.random.next(), deletes: round == 2)
                if isDone { done += 1 } else { refused += 1 }
            }
            do { try store.close() } catch {}
        }
        #expect(refused > 20 && done > 20)
    }

    /// Makes changes, or empties the store, and reads everything.
    private static func attempt(_ store: Store, _ history: CollectionHistory, seed: UInt64, deletes: Bool) -> Bool {
        var history = history
        history.random = SplitMix64(seed: seed)
        do {
            let transaction = try store.beginWrite()
            defer { transaction.rollback() }
            if deletes {
                try transaction.deleteAll(1)
                try transaction.deleteAll(0)
            } else {
                for _ in 0..<30 { try history.edit(transaction) }
            }
            try transaction.commit()
            _ = try CollectionHistory.contents(store.snapshot().view)
            return true
        } catch {
            return false
        }
    }
}
