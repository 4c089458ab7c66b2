import StrataFiles
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// Files of format 1, and files with little identification left.
@Suite struct SeedSearchTests {
    private static func salvage(_ bytes: [UInt8]) throws -> (SalvageReport, StoreModel) {
        let disk = FileImages.Disk()
        try disk.put(bytes, at: FileImages.path)
        let report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: disk)
        let store = try Store.open(path: "new", options: FileImages.options(on: disk))
        defer { try? store.close() }
        try store.checkInvariants()
        return (report, try StoreHistory.contents(store.snapshot().view))
    }

    @Test("a file of format 1 is refused by name under every policy, and no file is changed or created")
    func olderFormat() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        let bytes = try FormatFixture.bytes(1)
        let file = try POSIXFileSystem().open(path, .createNew)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        file.close()
        let older = StorageError.unsupportedFormat(path: path, version: 1)
        for policy in [DamagePolicy.fail, .lastGoodVersion, .salvage, .startAfresh] {
            #expect(throws: older) { try Repair.open(path: path, options: FileImages.options, onDamage: policy) }
        }
        #expect(throws: older) { try Salvage.examine(path) }
        #expect(throws: older) { try Salvage.run(from: path, to: path + ".new") }
        #expect(try FileImages.contents(of: path) == bytes)
        #expect(directory.names() == ["file"])
    }

    @Test("a file of format 1 without slots is identified by its nodes") func olderWithoutSlots() throws {
        var bytes = try FormatFixture.bytes(1)
        bytes.replaceSubrange(0..<8192, with: [UInt8](repeating: 0, count: 8192))
        #expect(throws: StorageError.unsupportedFormat(path: FileImages.path, version: 1)) { try Self.salvage(bytes) }
    }

    @Test("one node alone does not prove a file's seed") func single() throws {
        let file = CraftedFile(try FileImages.clean(seed: 9, steps: 20).data)
        let group = try #require(file.nodes.first { $0.reference.is(.group) && $0.reference.pages == 1 })
        var bytes = [UInt8](repeating: 0, count: 4 * 4096)
        bytes.replaceSubrange(8192..<12288, with: file.bytes[group.start..<(group.start + 4096)])
        #expect(throws: StorageError.notAStore(path: FileImages.path)) { try Self.salvage(bytes) }
    }

    @Test("the log identifies the store's nodes, however many foreign nodes follow them") func logDecides() throws {
        let life = try OlderLogTests.Life(.plain, .full, behind: 2)
        let log = try #require(life.copies.last).log
        var own = life.data
        own.replaceSubrange(0..<8192, with: [UInt8](repeating: 0, count: 8192))
        let others = try FileImages.clean(seed: 9, steps: 60).data[8192...]
        var both = own
        while both.count < 3 * own.count { both += others }
        func contents(_ data: [UInt8]) throws -> StoreModel {
            let disk = FileImages.Disk()
            try disk.put(data, at: FileImages.path)
            try disk.put(log, at: Store.logPath(FileImages.path))
            _ = try Salvage.run(from: FileImages.path, to: "new", fileSystem: disk)
            let store = try Store.open(path: "new", options: FileImages.options(on: disk))
            defer { try? store.close() }
            return try StoreHistory.contents(store.snapshot().view)
        }
        let alone = try contents(own)
        #expect(alone.tables.contains { !$0.isEmpty })
        #expect(try contents(both) == alone)
    }

    @Test("a loss hidden by an older copy of the log is not called whole", arguments: OlderLogTests.Kind.allCases)
    func olderLog(kind: OlderLogTests.Kind) throws {
        let life = try OlderLogTests.Life(kind, .full, behind: 2)
        var options = FileImages.options(kind == .encrypted ? TestCipher(key: 3) : nil)
        func disk(_ log: [UInt8]) throws -> FileImages.Disk {
            let disk = FileImages.Disk()
            try disk.put(life.data, at: FileImages.path)
            try disk.put(log, at: Store.logPath(FileImages.path))
            return disk
        }
        var settings = SalvageOptions()
        settings.cipher = options.cipher
        let newest = try #require(life.copies.last).log
        let whole = try Salvage.run(from: FileImages.path, to: "new", fileSystem: try disk(newest), options: settings)
        #expect(whole.isWhole)
        let older = try #require(life.copies.last { $0.version < life.slot.logReach }).log
        let report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: try disk(older), options: settings)
        #expect(!report.isWhole)
        options.fileSystem = try disk(older)
        var told: DamageReport?
        let store = try Repair.open(path: FileImages.path, options: options, onDamage: .lastGoodVersion) { told = $0 }
        #expect(told?.error == .logOutdated(path: Store.logPath(FileImages.path)))
        #expect(store.newestVersion == life.slot.checkpoint)
        try store.close()
    }
}
