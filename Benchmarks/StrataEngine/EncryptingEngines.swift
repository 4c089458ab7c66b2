import Harness
import RunRecords
import StrataCrypto
import StrataStorage

/// The key of an encrypted store: the same for every case, since no case tests guessing it.
struct StoreKey: Sendable {
    let bytes: [UInt8]

    init() { bytes = (0..<UInt8(EncryptionKey.size)).map { $0 &* 37 &+ 11 } }

    /// Nil where the settings have none.
    init?(_ settings: EngineSettings) {
        guard let key = settings.encryptionKey else { return nil }
        bytes = key
    }

    /// The capabilities, and encryption where this build supports it.
    static func adding(to capabilities: Set<Capability>) -> Set<Capability> {
        #if Crypto
            capabilities.union([.encryption])
        #else
            capabilities
        #endif
    }

    func added(to settings: EngineSettings) -> EngineSettings {
        var settings = settings
        settings.encryptionKey = bytes
        settings.list.append(EngineSetting("encryption", "AES-256-GCM of every page, header slot and log batch"))
        return settings
    }

    var cipher: any Cipher {
        do throws(EncryptionKey.Refusal) { return try EncryptionKey.cipher(bytes) } catch {
            // Without the trait Crypto no engine claims encryption, and none is asked for it.
            preconditionFailure("no cipher: \(error)")
        }
    }
}

extension StorageEngine: EncryptingEngine {
    package var encrypted: any Engine { StorageEngine(key: StoreKey()) }

    package func sealedUnits(in bytes: [UInt8], of path: String, at offset: Int) -> [SealedUnit] {
        SealedBytes(bytes, offset).units(isLog: path.hasSuffix(".log"))
    }
}

extension StrataEngine: EncryptingEngine {
    package var encrypted: any Engine { StrataEngine(key: StoreKey()) }

    package func sealedUnits(in bytes: [UInt8], of path: String, at offset: Int) -> [SealedUnit] {
        StorageEngine().sealedUnits(in: bytes, of: path, at: offset)
    }
}

/// Parses bytes of a file of an encrypted store by docs/file-format.md, without the key and without the code that
/// writes them.
private struct SealedBytes {
    let bytes: [UInt8]
    let start: Int

    /// Two header pages, then pages that are each followed by nonce, tag and four zeros.
    private static let (pageBytes, headerBytes, stride) = (4_096, 8_192, 4_128)
    private static let (nonceBytes, tagBytes) = (12, 16)
    private static let slotBytes = 512
    private static let nonceOfSlot = 448
    /// "STRATA1\0", then "SGRP".
    private static let (slotMagic, batchMagic) = (Array("STRATA1\0".utf8), Array("SGRP".utf8))
    private static let batchHeaderBytes = 64

    init(_ bytes: [UInt8], _ start: Int) { (self.bytes, self.start) = (bytes, start) }

    func units(isLog: Bool) -> [SealedUnit] { isLog ? batches : slots + pages }

    /// nil if the bytes end too early. Zeros in place of nonce and tag count as a unit, too: behind a magic number they
    /// mean contents that were never sealed.
    private func unit(at offset: Int, nonce place: Int) -> SealedUnit? {
        let first = place - start
        let middle = first + Self.nonceBytes
        let end = middle + Self.tagBytes
        guard first >= 0, end <= bytes.count else { return nil }
        return SealedUnit(offset: offset, nonce: Array(bytes[first..<middle]), tag: Array(bytes[middle..<end]))
    }

    private func has(_ magic: [UInt8], at offset: Int) -> Bool {
        let first = offset - start
        return first >= 0 && first + magic.count <= bytes.count && bytes[first..<(first + magic.count)] == magic[...]
    }

    private var slots: [SealedUnit] {
        [0, Self.pageBytes].compactMap { offset in
            has(Self.slotMagic, at: offset) ? unit(at: offset, nonce: offset + Self.nonceOfSlot) : nil
        }
    }

    /// Complete pages.
    private var pages: [SealedUnit] {
        let before = max(0, start - Self.headerBytes)
        let first = Self.headerBytes + (before + Self.stride - 1) / Self.stride * Self.stride
        return Swift.stride(from: first, to: start + bytes.count, by: Self.stride).compactMap { offset in
            // A page that was never written is zeros.
            unit(at: offset, nonce: offset + Self.pageBytes).flatMap { unit in
                (unit.nonce + unit.tag).contains { $0 != 0 } ? unit : nil
            }
        }
    }

    /// Batches start at multiples of 64 bytes; nonce and tag are the first of a batch's payload.
    private var batches: [SealedUnit] {
        let first = (start + Self.batchHeaderBytes - 1) / Self.batchHeaderBytes * Self.batchHeaderBytes
        return Swift.stride(from: first, to: start + bytes.count, by: Self.batchHeaderBytes).compactMap { offset in
            has(Self.batchMagic, at: offset) ? unit(at: offset, nonce: offset + Self.batchHeaderBytes) : nil
        }
    }
}
