import StrataFiles
import StrataRepair
import Testing

@testable import StrataStorage
@testable import StrataStorageTests

/// One flipped bit in each header slot once lost a whole encrypted file: it was refused as no store, though both slots
/// had its id in plain text, and the key check that proves it.
@Suite struct HurtSlotsTests {
    private static let cipher = TestCipher(key: 77)

    private static func settings(_ cipher: (any Cipher)?) -> SalvageOptions {
        var settings = SalvagedStore.tiny
        settings.cipher = cipher
        return settings
    }

    /// - Returns: the errors in the salvaged rows.
    private static func salvage(_ image: FileImages.Image, _ data: [UInt8]) throws -> String? {
        let (report, found) = try SalvagedStore.from(data, log: image.log, settings: settings(image.cipher)) {
            view, _ in
            try StoreHistory.contents(view)
        }
        if found != image.model { return "other rows" }
        if !report.isWhole { return "said to lack something: \(report)" }
        return report.damage.filter { $0.reason == .header }.count == 2 ? nil : "slots are not listed"
    }

    private static func flip(_ data: inout [UInt8], _ slot: Int, _ bit: Int) {
        data[slot * Format.pageSize + bit / 8] ^= 1 << UInt8(bit % 8)
    }

    @Test(
        "with one flipped bit anywhere in each slot nothing is lost",
        arguments: [true, false], [false, true])
    func flippedBits(isSealed: Bool, hasLog: Bool) throws {
        let cipher: (any Cipher)? = isSealed ? Self.cipher : nil
        let image =
            try hasLog
            ? FileImages.withLog(seed: 8, steps: 60, cipher) : FileImages.clean(seed: 8, steps: 60, cipher)
        let bits = Format.slotSize * 8
        // All bits of the id, the magic and the version; a sample of the rest.
        for bit in Array(0..<256) + stride(from: 256, to: bits, by: 53) {
            var data = image.data
            Self.flip(&data, 0, bit)
            Self.flip(&data, 1, (bit * 31 + 7) % bits)
            #expect(try Self.salvage(image, data) == nil, "bit \(bit) of slot 0")
        }
    }

    @Test("to identify a store, the id in a slot or the log and a key check or a page are enough")
    func traces() throws {
        let image = try FileImages.clean(seed: 9, steps: 60, Self.cipher)
        let logged = try FileImages.withLog(seed: 9, steps: 60, Self.cipher)
        func hurt(_ image: FileImages.Image, _ ranges: [(slot: Int, bytes: Range<Int>)]) -> [UInt8] {
            var data = image.data
            for (slot, bytes) in ranges {
                for byte in bytes { data[slot * Format.pageSize + byte] ^= 0xA5 }
            }
            return data
        }
        let id = 16..<32
        let check = 476..<484
        let sealed = 40..<60
        for (what, data) in [
            ("what is sealed, of both", hurt(image, [(0, sealed), (1, sealed)])),
            ("one id, and the other check", hurt(image, [(0, id), (1, check)])),
            ("one id, and what is sealed", hurt(image, [(1, id), (0, sealed)])),
            ("both checks: a page opens", hurt(image, [(0, check), (1, check), (0, sealed), (1, sealed)])),
            ("one bit of each id, and more", hurt(image, [(0, sealed), (1, sealed)]).flipping([(0, 130), (1, 200)])),
        ] {
            let (report, found) = try SalvagedStore.from(data, settings: Self.settings(Self.cipher)) { view, _ in
                try StoreHistory.contents(view)
            }
            #expect(found == image.model && report.isWhole, "\(what)")
        }
        // Only the log identifies the file; the newest root shows which of its commits the file has.
        let data = hurt(logged, [(0, 0..<512), (1, id), (1, sealed)])
        let (_, found) = try SalvagedStore.from(
            data, log: logged.log, settings: Self.settings(Self.cipher)
        ) { view, _ in try StoreHistory.contents(view) }
        #expect(found == logged.model)
    }

    @Test("another key, and no key, are reported as such") func otherKey() throws {
        let image = try FileImages.clean(seed: 9, steps: 60, Self.cipher)
        var data = image.data
        Self.flip(&data, 0, 300)
        Self.flip(&data, 1, 3000)
        let disk = FileImages.Disk()
        try disk.put(data, at: FileImages.path)
        #expect(throws: StorageError.wrongKey(path: FileImages.path)) {
            try Salvage.examine(
                FileImages.path, fileSystem: disk, options: Self.settings(TestCipher(key: 78)))
        }
        #expect(throws: StorageError.keyRequired(path: FileImages.path)) {
            try Salvage.examine(FileImages.path, fileSystem: disk, options: Self.settings(nil))
        }
    }
}

extension [UInt8] {
    /// With bits of slots flipped.
    fileprivate func flipping(_ bits: [(slot: Int, bit: Int)]) -> [UInt8] {
        var data = self
        for (slot, bit) in bits { data[slot * Format.pageSize + bit / 8] ^= 1 << UInt8(bit % 8) }
        return data
    }
}
