import Platform
import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct ReadOnlyTests {
    private func options(_ disk: any FileSystem, readOnly: Bool) -> StoreOptions {
        var options = FileImages.options(on: disk)
        options.readOnly = readOnly
        return options
    }

    @Test(
        "a leftover log is replayed in memory, and nothing is written",
        arguments: 1...6 as ClosedRange<UInt64>)
    func replay(seed: UInt64) throws {
        let image =
            seed % 2 == 0
            ? try FileImages.withLog(seed: seed, steps: 120) : try FileImages.midCheckpoint(seed: seed, steps: 120)
        let disk = try FileImages.Disk(image)
        for _ in 0..<2 {
            let store = try Store.open(path: FileImages.path, options: options(disk, readOnly: true))
            #expect(store.isReplayedInMemory && store.isReadOnly)
            try store.checkInvariants()
            #expect(try StoreHistory.contents(store.snapshot().view) == image.model, "seed \(seed)")
            #expect(throws: StorageError.readOnly(path: FileImages.path)) { try store.beginWrite() }
            try store.close()
        }
        #expect(try disk.bytes(FileImages.path) == image.data)
        #expect(try disk.bytes(Store.logPath(FileImages.path)) == image.log)
        let store = try Store.open(path: FileImages.path, options: options(disk, readOnly: false))
        #expect(!store.isReplayedInMemory)
        #expect(try StoreHistory.contents(store.snapshot().view) == image.model)
        try store.close()
    }

    @Test("a clean store can be read without write permission, and no file appears")
    func readOnlyDirectory() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let image = try FileImages.withLog(seed: 5, steps: 60)
        let fileSystem = POSIXFileSystem()
        for (name, bytes) in [(path, image.data), (path + ".log", image.log ?? [])] {
            let file = try fileSystem.open(name, .createNew)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            file.close()
        }
        var options = FileImages.options
        options.readOnly = true
        let first = try Store.open(path: path, options: options)
        // Readers do not exclude each other; they exclude a writer.
        let second = try Store.open(path: path, options: options)
        options.readOnly = false
        options.openTimeout = 100_000
        #expect(throws: StorageError.beingRead(path: path, by: [getpid()])) {
            try Store.open(path: path, options: options)
        }
        #expect(try StoreHistory.contents(first.snapshot().view) == image.model)
        #expect(try StoreHistory.contents(second.snapshot().view) == image.model)
        try first.close()
        try second.close()
        #expect(directory.names() == ["store", "store.log"])
        #expect(try FileImages.contents(of: path) == image.data)
    }

    @Test(
        "without space for recovery, the store opens read-only and reports it, whether it is to be compacted or not",
        arguments: [false, true])
    func noSpace(compacts: Bool) throws {
        let image = try FileImages.withLog(seed: 9, steps: 60)
        let disk = RefusingFileSystem()
        for (name, bytes) in [(FileImages.path, image.data), (FileImages.path + ".log", image.log ?? [])] {
            let file = try disk.open(name, .createNew)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            file.close()
        }
        disk.firstRefusedWrite.store(0, ordering: .relaxed)
        var launch = options(disk, readOnly: false)
        if compacts { launch.compactOnLaunch = { _, _ in true } }
        let store = try Store.open(path: FileImages.path, options: launch)
        #expect(store.isReplayedInMemory && store.isReadOnly)
        if CoverageMarks.areCounted { #expect(CoverageMarks.hits[.noSpaceToRecover] != nil) }
        #expect(try StoreHistory.contents(store.snapshot().view) == image.model)
        try store.close()
    }

    @Test("a read-only check detects a used page in the free map, and a lost one", arguments: [true, false])
    func tiling(frees: Bool) throws {
        var file = CraftedFile(try FileImages.clean(seed: 2, steps: 150).data)
        let map = try #require(file.nodes.firstIndex { $0.reference.is(.freeMap) })
        let root = try #require(file.nodes.first { $0.reference.is(.root) }).reference.page
        file.change(map) { bytes in
            // The bits begin at 64 and the header takes 24, so page 0's bit is at 40.
            if frees {
                bytes[40 + Int(root) / 8] |= 1 << UInt8(root % 8)
            } else {
                let byte = (40..<bytes.count).first { bytes[$0] != 0 } ?? 40
                bytes[byte] = 0
            }
        }
        let disk = FileImages.Disk()
        try disk.put(file.bytes, at: FileImages.path)
        let store = try Store.open(path: FileImages.path, options: options(disk, readOnly: true))
        #expect(throws: InvariantViolation.self) { try store.checkInvariants() }
        try store.close()
        #expect(try disk.bytes(FileImages.path) == file.bytes)
    }
}
