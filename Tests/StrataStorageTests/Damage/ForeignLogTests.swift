import StrataFiles
import Testing

@testable import StrataStorage

/// A log of an older format beside a store of this format: the leftover of a replaced store, which once made every open
/// fail.
@Suite struct ForeignLogTests {
    private static let path = Store.logPath(FileImages.path)

    /// The log of a process that wrote another version of the format.
    private static func log(version: UInt32, storeID: RandomID = RandomID(3, 4)) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: LogFormat.fileBytes(halfBytes: 8192))
        let header = LogHeader(
            storeID: storeID, salt: RandomID(5, 6), halfBytes: 8192, baseVersion: TransactionID(7))
        bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { header.store(base, version: version) } }
        for byte in 5000..<5100 { bytes[byte] = 77 }
        return bytes
    }

    private static func open(_ disk: FileImages.Disk, readOnly: Bool = false) throws -> StoreModel {
        var options = FileImages.options(on: disk)
        options.readOnly = readOnly
        let store = try Store.open(path: FileImages.path, options: options)
        defer { do { try store.close() } catch { Issue.record(error) } }
        let found = try StoreHistory.contents(store.snapshot().view)
        if !readOnly {
            // After three commits the store has its own log.
            for _ in 0..<4 { try store.beginWrite().commit() }
        }
        try store.checkInvariants()
        return found
    }

    @Test("an older log is renamed after its format, and the store opens", arguments: [0, 1, 2])
    func older(lostSlots: Int) throws {
        var image = try FileImages.clean(seed: 4, steps: 60)
        if lostSlots > 0 { for byte in 0..<64 { image.data[(lostSlots - 1) * Format.pageSize + byte] ^= 0x55 } }
        let disk = FileImages.Disk()
        try disk.put(image.data, at: FileImages.path)
        let log = Self.log(version: 1)
        for number in 1...3 {
            try disk.put(log, at: Self.path)
            #expect(try Self.open(disk, readOnly: true) == image.model)
            #expect(try disk.bytes(Self.path) == log)
            #expect(try Self.open(disk) == image.model)
            #expect(try disk.bytes(Self.path) == nil)
            #expect(try disk.bytes(Self.path + ".format-1" + (number == 1 ? "" : "-\(number)")) == log)
        }
    }

    @Test("a new store can be created beside an older log, too") func newStore() throws {
        let disk = FileImages.Disk()
        let log = Self.log(version: 1)
        try disk.put(log, at: Self.path)
        let store = try FileImages.open(disk)
        try PlainTable.setUp(store)
        try store.close()
        #expect(try disk.bytes(Self.path + ".format-1") == log)
    }

    @Test("in place of a required log it is an error: the log of another store") func required() throws {
        let image = try FileImages.withLog(seed: 4, steps: 60)
        let disk = FileImages.Disk()
        try disk.put(image.data, at: FileImages.path)
        let log = Self.log(version: 1)
        try disk.put(log, at: Self.path)
        for readOnly in [false, true] {
            #expect(throws: StorageError.logMismatch(path: Self.path)) { try Self.open(disk, readOnly: readOnly) }
        }
        #expect(try disk.bytes(Self.path) == log && disk.bytes(FileImages.path) == image.data)
    }

    @Test("a log of a newer format is left alone, and refused by a typed error") func newer() throws {
        let image = try FileImages.clean(seed: 4, steps: 60)
        let disk = FileImages.Disk()
        try disk.put(image.data, at: FileImages.path)
        let log = Self.log(version: Format.version + 1)
        try disk.put(log, at: Self.path)
        #expect(throws: StorageError.unsupportedFormat(path: Self.path, version: Format.version + 1)) {
            try Self.open(disk)
        }
        #expect(try disk.bytes(Self.path) == log && disk.bytes(FileImages.path) == image.data)
    }
}
