import CXXHash

/// Constants of the log, format 2. docs/file-format.md draws the layouts; a test pins each offset.
///
/// Page 0 holds the header; half 0 and half 1 follow, of equal size. Batches start at multiples of 64 bytes.
package enum LogFormat {
    /// "STRATALG" read as a little-endian number.
    static let magic: UInt64 = 0x474C_4154_4152_5453
    /// "SGRP" read as a little-endian number.
    static let batchMagic: UInt32 = 0x5052_4753
    /// Bytes before a batch's payload, and the alignment of batches.
    package static let batchHeaderSize = 64
    /// Largest half: bounds what is read before any checksum is verified.
    package static let maxHalfBytes = 1 << 30

    /// Offset of a half in the file.
    package static func start(ofHalf half: Int, halfBytes: Int) -> Int {
        Format.pageSize + half * halfBytes
    }

    /// Size of the file.
    package static func fileBytes(halfBytes: Int) -> Int { Format.pageSize + 2 * halfBytes }

    /// Distance from a batch with this payload to the next one.
    static func stride(payloadBytes: Int) -> Int {
        (batchHeaderSize + payloadBytes + batchHeaderSize - 1) & ~(batchHeaderSize - 1)
    }
}

/// The first sector of a log: its store, epoch and base.
///
/// Layout, 512 bytes: magic u64 @0, format version u32 @8, zero u32 @12, store id @16, salt @32, half bytes u64 @48,
/// base checkpoint u64 @56, zeros, XXH3 of the first 504 bytes u64 @504.
package struct LogHeader: Equatable, Sendable {
    package var storeID: RandomID
    package var salt: RandomID
    package var halfBytes: Int
    /// The newest checkpoint when the log was created: the log's first record is the commit after it.
    package var baseVersion: TransactionID

    package init(storeID: RandomID, salt: RandomID, halfBytes: Int, baseVersion: TransactionID) {
        self.storeID = storeID
        self.salt = salt
        self.halfBytes = halfBytes
        self.baseVersion = baseVersion
    }

    enum Decoded: Equatable {
        case valid(LogHeader)
        case foreign
        case unsupported(version: UInt32)
        case damaged
    }

    private static let checksumOffset = Format.slotSize - 8

    /// - Parameter base: 512 zeroed bytes.
    func store(_ base: UnsafeMutableRawPointer, version: UInt32 = Format.version) {
        base.put64(0, LogFormat.magic)
        base.put32(8, version)
        storeID.store(base, 16)
        salt.store(base, 32)
        base.put64(48, UInt64(halfBytes))
        base.put64(56, baseVersion.rawValue)
        base.put64(Self.checksumOffset, XXH3_64bits(base, Self.checksumOffset))
    }

    /// - Parameter base: 512 readable bytes.
    static func decode(_ base: UnsafeRawPointer) -> Decoded {
        guard base.u64(0) == LogFormat.magic else { return .foreign }
        guard base.u64(checksumOffset) == XXH3_64bits(base, checksumOffset) else { return .damaged }
        guard base.u32(8) == Format.version else { return .unsupported(version: base.u32(8)) }
        let size = base.u64(48)
        guard size >= UInt64(Format.pageSize), size <= UInt64(LogFormat.maxHalfBytes),
            size % UInt64(Format.pageSize) == 0, base.u64(56) < Format.versionLimit
        else { return .damaged }
        return .valid(
            LogHeader(
                storeID: RandomID(base, 16), salt: RandomID(base, 32), halfBytes: Int(size),
                baseVersion: TransactionID(base.u64(56))))
    }
}

/// Values that every batch of one epoch carries, so that no batch of another epoch and no user data passes for one.
package struct LogEpoch: Equatable, Sendable {
    package let tag: UInt64
    let seed: UInt64

    package init(storeID: RandomID, salt: RandomID) {
        let words = [salt.first, salt.second, storeID.first, storeID.second].map(\.littleEndian)
        let hashes = words.withUnsafeBytes { bytes in
            (
                XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, 1),
                XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, 2)
            )
        }
        (tag, seed) = hashes
    }

    func checksum(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 { XXH3_64bits_withSeed(bytes, count, seed) }
}

/// Header of 64 bytes in front of the records of a log batch.
///
/// Layout: magic u32 @0, payload bytes u32 @4, epoch tag u64 @8, first LSN u64 @16, last LSN u64 @24, durable-to u64
/// @32, checksum of the previous batch of this epoch (0 for the first) u64 @40, checksum of the payload u64 @48,
/// checksum of the first 56 bytes u64 @56. Both checksums are XXH3 seeded by the epoch. The header verifies on its own,
/// so that its durable-to counts even if the payload is torn.
package struct LogBatchHeader: Equatable {
    var payloadBytes: Int
    package var firstLSN: UInt64
    var lastLSN: UInt64
    /// Every record up to this LSN was durable when the batch was written.
    var durableTo: UInt64
    var previous: UInt64
    var payloadChecksum: UInt64
    var checksum: UInt64 = 0

    /// Writes the header and returns its checksum, the next batch's `previous`.
    func store(_ base: UnsafeMutableRawPointer, _ epoch: LogEpoch) -> UInt64 {
        base.put32(0, LogFormat.batchMagic)
        base.put32(4, UInt32(payloadBytes))
        base.put64(8, epoch.tag)
        base.put64(16, firstLSN)
        base.put64(24, lastLSN)
        base.put64(32, durableTo)
        base.put64(40, previous)
        base.put64(48, payloadChecksum)
        let checksum = epoch.checksum(base, 56)
        base.put64(56, checksum)
        return checksum
    }

    /// The header at `base`; nil if the 64 bytes are no intact header of this epoch.
    package init?(_ base: UnsafeRawPointer, _ epoch: LogEpoch) {
        guard base.u32(0) == LogFormat.batchMagic, base.u64(8) == epoch.tag,
            base.u64(56) == epoch.checksum(base, 56)
        else { return nil }
        payloadBytes = Int(base.u32(4))
        firstLSN = base.u64(16)
        lastLSN = base.u64(24)
        durableTo = base.u64(32)
        previous = base.u64(40)
        payloadChecksum = base.u64(48)
        checksum = base.u64(56)
        if firstLSN > lastLSN || durableTo >= firstLSN || lastLSN >= Format.versionLimit { return nil }
    }

    init(payloadBytes: Int, lsns: ClosedRange<UInt64>, durableTo: UInt64, previous: UInt64, payloadChecksum: UInt64) {
        self.payloadBytes = payloadBytes
        firstLSN = lsns.lowerBound
        lastLSN = lsns.upperBound
        self.durableTo = durableTo
        self.previous = previous
        self.payloadChecksum = payloadChecksum
    }
}
