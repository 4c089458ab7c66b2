import Platform
import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// Files of killed creators once stayed for ever: fourteen after 150 kills.
@Suite struct UnfinishedStoreTests {
    private static func put(_ path: String, _ bytes: [UInt8]) throws {
        let file = try POSIXFileSystem().open(path, .createNew)
        defer { file.close() }
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    /// The files that a killed creator may leave: empty, zeros, one header slot, both slots.
    private static func leftovers() throws -> [[UInt8]] {
        let directory = try TemporaryDirectory()
        try Store.open(path: directory.path + "/store").close()
        let whole = try FileImages.contents(of: directory.path + "/store")
        return [[], [UInt8](repeating: 0, count: 8192), Array(whole[..<4096]), Array(whole[..<8192])]
    }

    @Test("a dead creator's file is removed by the next exclusive open, and when the store is deleted")
    func abandoned() throws {
        for (number, bytes) in try Self.leftovers().enumerated() {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            try Self.put(path + ".creating-\(number)", bytes)
            try Store.open(path: path).close()
            #expect(directory.names() == ["store"], "\(bytes.count) bytes")
            try Self.put(path + ".creating-\(number)", bytes)
            #expect(try Store.removeFiles(path: path))
            #expect(directory.names() == [], "\(bytes.count) bytes")
        }
    }

    @Test("a foreign file stays, whatever its name, and is no obstacle") func foreign() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let text = Array("my notes".utf8)
        let long = [UInt8](repeating: 0, count: 10_000)
        try Self.put(path + ".creating-0", text)
        try Self.put(path + ".creating-1", long)
        mkdir(path + ".creating-2", 0o755)
        try Self.put(path + ".creating-x", [])
        for _ in 0..<3 {
            let store = try Store.open(path: path)
            if store.newestVersion.rawValue == 0 { try PlainTable.setUp(store) }
            try store.close()
        }
        #expect(
            directory.names() == [
                "store", "store.creating-0", "store.creating-1", "store.creating-2", "store.creating-x",
            ])
        #expect(try FileImages.contents(of: path + ".creating-0") == text)
        #expect(try FileImages.contents(of: path + ".creating-1") == long)
        rmdir(path + ".creating-2")
    }

    @Test("a living creator's file stays") func living() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let files = POSIXFileSystem()
        let (name, file) = try UnfinishedStore.create(for: path, StoreOptions())
        // Another creator takes another name, and finishes first.
        try Store.open(path: path).close()
        try Store.open(path: path).close()
        #expect(try files.status(name)?.inode == file.status().inode)
        file.close()
        try Store.open(path: path).close()
        #expect(directory.names() == ["store"])
    }

    @Test("with all temporary names taken, creating a store fails and takes no foreign file") func allTaken() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        for number in 0..<4 { try Self.put(path + ".creating-\(number)", [1, 2, 3]) }
        var options = StoreOptions()
        options.openTimeout = 20_000
        #expect(throws: StorageError.self) { try Store.open(path: path, options: options) }
        #expect(directory.names().count == 4)
    }

    @Test("where no file can be created the error names the store") func nowhere() throws {
        let directory = try TemporaryDirectory()
        try Self.put(directory.path + "/file", [1])
        let path = directory.path + "/file/store"
        do {
            _ = try Store.open(path: path)
            Issue.record("a store below a file")
        } catch StorageError.file(let error) {
            #expect(error.path == path)
        }
    }

    @Test("while others create the store, another creator reports in time that it is in use")
    func allBeingMade() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions()
        options.openTimeout = 20_000
        let made = try (0..<4).map { _ in try UnfinishedStore.create(for: path, options) }
        #expect(throws: StorageError.inUse(path: path)) { try Store.open(path: path, options: options) }
        #expect(directory.names() == (0..<4).map { "store.creating-\($0)" })
        made.last?.file.close()
        try Store.open(path: path, options: options).close()
        withExtendedLifetime(made) {}
    }

    @Test("creators that race with cleaners all find one store") func race() throws {
        for _ in 0..<30 {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            let clearing = Atomic<Int>(3)
            let clearer: @Sendable () -> Void = {
                while clearing.load(ordering: .relaxed) > 0 {
                    UnfinishedStore.removeAbandoned(of: path, POSIXFileSystem())
                }
            }
            try StoreThreadTests.run(4) { number in
                if number == 3 { return clearer() }
                defer { clearing.subtract(1, ordering: .relaxed) }
                try StoreCreation(path, StoreOptions()).run()
            }
            #expect(directory.names() == ["store"])
            try Store.open(path: path).close()
        }
    }
}
