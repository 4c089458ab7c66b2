import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct StoreTests {
    private static func open(
        _ fileSystem: any FileSystem, _ path: String = "store", tiny: Bool = true, _ durability: Durability = .full
    ) throws -> Store {
        var options = StoreOptions(fileSystem: fileSystem, durability: durability)
        if tiny { options.limits = .tiny }
        options.mapReserve = 1 << 30
        return try Store.open(path: path, options: options)
    }

    private static func setUp(_ store: Store) throws {
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        try transaction.commit()
    }

    @Test(
        "a random history equals its model, in every version and after reopening",
        arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func randomHistory(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let disk = POSIXFileSystem()
        let path = directory.path + "/store"
        var store = try Self.open(disk, path)
        try Self.setUp(store)
        var history = StoreHistory(seed: seed)
        for round in 0..<60 {
            let before = history.model
            let transaction = try store.beginWrite()
            for _ in 0..<Int(history.random.below(30)) {
                try history.step(transaction)
            }
            #expect(try StoreHistory.contents(transaction.view) == history.model, "seed \(seed) round \(round), inside")
            if history.random.below(5) == 0 {
                transaction.rollback()
                history.model = before
            } else {
                try transaction.commit()
            }
            try store.checkInvariants()
            #expect(try StoreHistory.contents(store.snapshot().view) == history.model, "seed \(seed) round \(round)")
            if history.random.below(10) == 0 {
                try store.close()
                store = try Self.open(disk, path)
            }
        }
        try store.close()
    }

    @Test("pinned versions do not change while others come and go", arguments: [11, 12, 13] as [UInt64])
    func pinnedVersions(seed: UInt64) throws {
        let disk = MemoryFileSystem(capacity: 1 << 30)
        let store = try Self.open(disk)
        try Self.setUp(store)
        var history = StoreHistory(seed: seed)
        var pins: [(Snapshot, StoreModel)] = []
        for _ in 0..<120 {
            let transaction = try store.beginWrite()
            for _ in 0..<Int(history.random.below(12)) { try history.step(transaction) }
            try transaction.commit()
            if history.random.below(3) == 0 { pins.append((try store.snapshot(), history.model)) }
            if !pins.isEmpty && history.random.below(4) == 0 {
                pins.remove(at: Int(history.random.below(UInt64(pins.count))))
            }
            for (snapshot, model) in pins { #expect(try StoreHistory.contents(snapshot.view) == model) }
        }
        try store.checkInvariants()
        pins.removeAll()
        try store.checkInvariants()
    }

    @Test(
        "commits survive the death of the process, with and without checkpoints",
        arguments: [21, 22, 23] as [UInt64])
    func recovery(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        options.logHalfBytes = 16384
        let store = try Store.open(path: path, options: options)
        try Self.setUp(store)
        var history = StoreHistory(seed: seed)
        for round in 0..<40 {
            let transaction = try store.beginWrite()
            for _ in 0..<Int(history.random.below(round == 20 ? 300 : 12)) { try history.step(transaction) }
            try transaction.commit()
            let copy = directory.path + "/copy"
            try Self.copy(path, to: copy)
            try Self.copy(path + ".log", to: copy + ".log")
            let recovered = try Store.open(path: copy, options: options)
            #expect(
                try StoreHistory.contents(recovered.snapshot().view) == history.model, "seed \(seed) round \(round)")
            #expect(recovered.newestVersion == store.newestVersion)
            try recovered.checkInvariants()
            try recovered.close()
        }
        try store.checkInvariants()
        try store.close()
    }

    @Test("a compacted store holds the same rows in fewer bytes")
    func compaction() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions()
        options.mapReserve = 1 << 30
        var store = try Store.open(path: path, options: options)
        try Self.setUp(store)
        var history = StoreHistory(seed: 31)
        history.keyRange = 5000
        for _ in 0..<20 {
            let transaction = try store.beginWrite()
            for _ in 0..<300 { try history.step(transaction) }
            try transaction.commit()
        }
        let before = try store.space()
        try store.writeCopy(to: directory.path + "/copy")
        let copy = try Store.open(path: directory.path + "/copy", options: options)
        #expect(try StoreHistory.contents(copy.snapshot().view) == history.model)
        #expect(throws: StorageError.self) { try store.writeCopy(to: directory.path + "/copy") }
        try copy.checkInvariants()
        try copy.close()
        try store.close()
        try Store.compact(path: path, options: options)
        store = try Store.open(path: path, options: options)
        #expect(try StoreHistory.contents(store.snapshot().view) == history.model)
        #expect(try store.space().fileBytes < before.fileBytes)
        try store.checkInvariants()
        try store.close()
    }

    private static func copy(_ source: String, to destination: String) throws {
        let fileSystem = POSIXFileSystem()
        guard let status = try fileSystem.status(source) else { return }
        if try fileSystem.status(destination) != nil { try fileSystem.remove(destination) }
        let from = try fileSystem.open(source, .read)
        let to = try fileSystem.open(destination, .createNew)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(status.size), alignment: 8)
        defer { buffer.deallocate() }
        let count = try from.read(into: buffer, at: 0)
        try to.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: 0)
    }
}

@Suite struct StoreDamageTests {
    private static func makeStore(_ path: String) throws -> StoreModel {
        var options = StoreOptions()
        options.limits = .tiny
        // A spill would leave free pages in the file, where a flipped bit has no effect.
        options.limits.memoryBudget = StoreLimits().memoryBudget
        options.mapReserve = 1 << 30
        let store = try Store.open(path: path, options: options)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        var history = StoreHistory(seed: 5)
        for _ in 0..<60 { try history.step(transaction) }
        try transaction.commit()
        try store.close()
        return history.model
    }

    @Test("foreign and short files are refused and left unchanged") func foreign() throws {
        let directory = try TemporaryDirectory()
        let fileSystem = POSIXFileSystem()
        for (name, bytes) in [
            ("short", [1, 2, 3]), ("text", Array(repeating: 65, count: 20000)),
            ("zeros", Array(repeating: 0, count: 9000)),
        ] as [(String, [UInt8])] {
            let path = directory.path + "/" + name
            let file = try fileSystem.open(path, .createNew)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            #expect(throws: StorageError.notAStore(path: path)) { try Store.open(path: path) }
            #expect(try file.size() == Int64(bytes.count))
        }
    }

    @Test("a flipped bit anywhere is either reported or without effect") func flips() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let model = try Self.makeStore(path)
        let fileSystem = POSIXFileSystem()
        let file = try fileSystem.open(path, .write)
        let size = Int(try file.size())
        var options = StoreOptions()
        options.mapReserve = 1 << 30
        options.readOnly = true
        var random = SplitMix64(seed: 9)
        var reported = 0
        for _ in 0..<3000 {
            let position = Int64(random.below(UInt64(size)))
            let bit = UInt8(1) << UInt8(random.below(8))
            try Self.flip(file, position, bit)
            do {
                let store = try Store.open(path: path, options: options)
                #expect(try StoreHistory.contents(store.snapshot().view) == model, "bit \(bit) at \(position)")
                try store.close()
            } catch is StorageError {
                reported += 1
            }
            try Self.flip(file, position, bit)
        }
        #expect(reported > 500)
    }

    private static func flip(_ file: any File, _ position: Int64, _ bit: UInt8) throws {
        var byte: [UInt8] = [0]
        _ = try byte.withUnsafeMutableBytes { try file.read(into: $0, at: position) }
        byte[0] ^= bit
        try byte.withUnsafeBytes { try file.write($0, at: position) }
    }
}
