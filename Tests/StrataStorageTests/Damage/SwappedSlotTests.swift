import StrataFiles
import Testing

@testable import StrataStorage

/// A header slot that a disk misdirected to the other's place: its checksum is valid, and it records its own place.
@Suite struct SwappedSlotTests {
    enum Shape: CaseIterable { case clean, log, checkpoint }

    private static func image(_ shape: Shape, _ cipher: (any Cipher)?) throws -> FileImages.Image {
        switch shape {
        case .clean: try FileImages.clean(seed: 5, steps: 60, cipher)
        case .log: try FileImages.withLog(seed: 5, steps: 60, cipher)
        case .checkpoint: try FileImages.midCheckpoint(seed: 5, steps: 60, cipher)
        }
    }

    private static func open(_ image: FileImages.Image, isEncrypted: Bool, readOnly: Bool) throws -> StoreModel {
        var options = try FileImages.options(on: FileImages.Disk(image), isEncrypted ? TestCipher(key: 2) : nil)
        options.readOnly = readOnly
        let store = try Store.open(path: FileImages.path, options: options)
        defer { do { try store.close() } catch { Issue.record(error) } }
        try store.checkInvariants()
        return try StoreHistory.contents(store.snapshot().view)
    }

    @Test(
        "one slot's bytes over the other never produce another state", arguments: Shape.allCases, [false, true])
    func overTheOther(shape: Shape, isEncrypted: Bool) throws {
        let whole = try Self.image(shape, isEncrypted ? TestCipher(key: 2) : nil)
        let slots = [Array(whole.data[0..<512]), Array(whole.data[4096..<4608])]
        for from in 0...1 {
            var image = whole
            image.data.replaceSubrange((1 - from) * 4096..<(1 - from) * 4096 + 512, with: slots[from])
            // If it were accepted, both slots would have one sequence number.
            for readOnly in [false, true] {
                let found = try Self.open(image, isEncrypted: isEncrypted, readOnly: readOnly)
                #expect(found == whole.model, "slot \(from)")
            }
        }
    }

    @Test("two swapped slots are both refused", arguments: Shape.allCases, [false, true])
    func swapped(shape: Shape, isEncrypted: Bool) throws {
        var image = try Self.image(shape, isEncrypted ? TestCipher(key: 2) : nil)
        let slots = [Array(image.data[0..<512]), Array(image.data[4096..<4608])]
        for from in 0...1 {
            image.data.replaceSubrange((1 - from) * 4096..<(1 - from) * 4096 + 512, with: slots[from])
        }
        let swapped = image
        let error = #expect(throws: StorageError.self) {
            try Self.open(swapped, isEncrypted: isEncrypted, readOnly: false)
        }
        #expect(error?.isDamage == true, "\(String(describing: error))")
    }
}
