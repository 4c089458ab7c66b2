import StrataFiles
import Testing

@testable import StrataStorage

/// A process without the key can read the batch headers of an encrypted log. The cipher authenticates each header with
/// its payload. If such a process changes a header and recomputes its checksum, recovery loses no commit silently,
/// except that of the last batch: it may take that batch for a torn end.
@Suite struct SealedLogTests {
    private struct LogBytes {
        var image: FileImages.Image
        let header: LogHeader
        /// The offset of each batch of the chain.
        var batches: [Int] = []

        init(_ image: FileImages.Image) throws {
            self.image = image
            var log = try #require(image.log)
            header = try log.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, case .valid(let header) = LogHeader.decode(base) else {
                    throw StorageError.logMissing(path: "")
                }
                return header
            }
            let header = header
            batches = try log.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return [] }
                // The store made two checkpoints, then commits that are in the first half.
                let replay = try LogReplay(
                    base, header: header, path: "", fromHalf: 0, firstLSN: header.baseVersion.rawValue + 1)
                return replay.batches.map { $0.payloadOffset - LogFormat.batchHeaderSize }
            }
        }

        /// Changes a batch's header and recomputes its checksum.
        mutating func change(_ batch: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
            let (header, start) = (header, batches[batch])
            image.log?.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                body(base + start)
                let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
                (base + start).put64(56, epoch.checksum(base + start, 56))
            }
        }

        func open() throws -> StoreModel {
            let options = try FileImages.options(on: FileImages.Disk(image), image.cipher)
            let store = try Store.open(path: FileImages.path, options: options)
            defer { do { try store.close() } catch {} }
            return try StoreHistory.contents(store.snapshot().view)
        }
    }

    private static func sealed() throws -> LogBytes {
        try LogBytes(try FileImages.withLog(seed: 6, steps: 20, commits: 8, TestCipher(key: 5)))
    }

    private static func isDamage(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return (error as? StorageError)?.isDamage == true }
        return false
    }

    @Test("a changed byte of a batch's header is detected") func everyByte() throws {
        let sound = try Self.sealed()
        #expect(sound.batches.count >= 5)
        #expect(try sound.open() == sound.image.model)
        for batch in sound.batches.indices {
            for byte in 0..<56 {
                for flip in [1, 0x80] as [UInt8] {
                    var bytes = sound
                    bytes.change(batch) { $0.put8(byte, UnsafeRawPointer($0).u8(byte) ^ Int(flip)) }
                    do {
                        let found = try bytes.open()
                        // The last batch may look torn, since nothing proves that it was durable.
                        let isTorn = batch == sound.batches.count - 1 && found == sound.image.states.dropLast().last
                        #expect(found == sound.image.model || isTorn, "batch \(batch) byte \(byte)")
                    } catch {
                        #expect((error as? StorageError)?.isDamage == true, "\(error)")
                    }
                }
            }
        }
    }

    @Test("a header's claims about other batches are authenticated with its payload") func lowered() throws {
        for offset in [32, 40] {
            let sound = try Self.sealed()
            for batch in 1..<sound.batches.count {
                var bytes = sound
                bytes.change(batch) { $0.put64(offset, $0.u64(offset) - 1) }
                #expect(Self.isDamage { _ = try bytes.open() }, "batch \(batch), offset \(offset)")
            }
        }
    }

    @Test("a torn batch is detected even if all later headers are rewritten without the key") func cutOff() throws {
        for torn in 0..<3 {
            var bytes = try Self.sealed()
            let last = bytes.batches.count - 1
            for batch in (torn + 1)...last { bytes.change(batch) { $0.put64(32, 1) } }
            bytes.image.log?[bytes.batches[torn] + 64] ^= 0xFF
            bytes.image.log?[bytes.batches[torn] + 65] ^= 0xFF
            #expect(Self.isDamage { _ = try bytes.open() }, "batch \(torn)")
        }
    }

    @Test("in a plain log, too, a valid batch with another predecessor is damage") func plain() throws {
        let sound = try LogBytes(try FileImages.withLog(seed: 6, steps: 20, commits: 8))
        for batch in 1..<sound.batches.count {
            var bytes = sound
            bytes.change(batch) { $0.put64(40, $0.u64(40) ^ 1) }
            #expect(Self.isDamage { _ = try bytes.open() }, "batch \(batch)")
        }
    }
}
