package import StrataFiles

// Invariants
// 1. The file is made full of zeros, by writes, and synced with its directory entry before a header slot requires it;
//    from then on a sync has no sizes or extents to write.
// 2. Groups are appended to one segment. The other one is written again only after the caller said that a durable
//    header slot no longer needs it (``releaseInactiveSegment()``).
// 3. Only the log that was made by this object is appended to. One that was opened is there to be replayed.
// 4. After a failed write or sync nothing is written or synced any more.
// 5. Segments are of a multiple of 64 bytes, and so is every group's place.

/// The preallocated file of two segments where commits become durable first.
///
/// Concurrency: `append`, `switchSegment` and `releaseInactiveSegment` change the position and need the caller's guard
/// (whoever leads the group). `sync` may run beside them on another thread.
package final class LogFile: @unchecked Sendable {  // mutable state: guarded by whoever leads the group, see above
    private let file: any File
    package let header: LogHeader
    private let epoch: LogEpoch
    private let failed = ClosedFlag()
    private let canAppend: Bool
    /// Seals payloads, and the source of nonces; nil in a plain store.
    private let sealing: LogSealing?
    private var nextOffset: Int
    private var previous: UInt64 = 0
    private var lastLSN: UInt64?
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The segment that groups are appended to: 0 or 1.
    package private(set) var activeSegment = 0
    /// Whether the other segment may be written over.
    package private(set) var isInactiveSegmentFree = true

    private init(_ file: any File, _ header: LogHeader, canAppend: Bool, _ sealing: LogSealing?) {
        self.sealing = sealing
        self.file = file
        self.header = header
        self.canAppend = canAppend
        epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        nextOffset = LogFormat.start(ofSegment: 0, segmentBytes: header.segmentBytes)
    }

    deinit { buffer.deallocate() }

    package var path: String { file.path }

    /// Bytes of the file.
    package var byteCount: Int { LogFormat.fileBytes(segmentBytes: header.segmentBytes) }

    /// Payload of the largest group that a segment takes.
    package var maxPayloadBytes: Int { Self.maxPayloadBytes(header.segmentBytes, sealing?.cipher) }

    static func maxPayloadBytes(_ segmentBytes: Int, _ cipher: (any Cipher)?) -> Int {
        segmentBytes - LogFormat.groupHeaderSize - (cipher == nil ? 0 : Seal.size)
    }

    /// How large segments are beside so much data: together with the header page an eighth of it, at least 512 KiB and
    /// at most 16 MiB.
    package static func segmentBytes(forDataBytes dataBytes: Int) -> Int {
        let total = min(max(512 << 10, dataBytes / 8), 16 << 20)
        return (total - Format.pageSize) / 2 / Format.pageSize * Format.pageSize
    }

    /// Closes the descriptor. The file stays.
    package func close() { file.close() }

    /// Takes a log away that no slot requires, durably.
    package static func remove(fileSystem: any FileSystem, path: String) throws(StorageError) {
        do throws(FileError) {
            if try fileSystem.status(path) == nil { return }
            try fileSystem.remove(path)
            try fileSystem.syncDirectory(of: path)
        } catch {
            throw StorageError(error)
        }
    }
}

// MARK: Making and opening

extension LogFile {
    /// Makes a log full of zeros and syncs it and its directory. A file that stands there is removed: no durable header
    /// slot may require it any more.
    ///
    /// - Throws: `noSpace`, `file`. What was made is removed again then.
    /// - Complexity: writes the whole file in pieces of 16 KiB, the size that keeps later small writes cheap.
    package static func create(
        fileSystem: any FileSystem, path: String, storeID: RandomID, salt: RandomID, segmentBytes: Int,
        baseVersion: TransactionID, cipher: (any Cipher)? = nil
    ) throws(StorageError) -> LogFile {
        precondition(segmentBytes >= Format.pageSize && segmentBytes <= LogFormat.maxSegmentBytes)
        precondition(segmentBytes % Format.pageSize == 0, "a segment is whole pages")
        let header = LogHeader(storeID: storeID, salt: salt, segmentBytes: segmentBytes, baseVersion: baseVersion)
        do throws(FileError) {
            if try fileSystem.status(path) != nil { try fileSystem.remove(path) }
            let file = try fileSystem.open(path, .createNew)
            do throws(FileError) {
                try file.preallocate(to: Int64(LogFormat.fileBytes(segmentBytes: segmentBytes)))
                try fill(file, header)
                try file.syncData()
                try fileSystem.syncDirectory(of: path)
            } catch {
                file.close()
                removeUnfinished(fileSystem, path)
                throw error
            }
            return LogFile(file, header, canAppend: true, LogSealing(cipher, storeID, fileSystem))
        } catch {
            throw StorageError(error)
        }
    }

    private static func fill(_ file: any File, _ header: LogHeader) throws(FileError) {
        let size = LogFormat.fileBytes(segmentBytes: header.segmentBytes)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 16384, alignment: 4096)
        defer { piece.deallocate() }
        piece.initializeMemory(as: UInt8.self, repeating: 0)
        if let base = piece.baseAddress { header.store(base) }
        for offset in stride(from: 0, to: size, by: piece.count) {
            let count = min(piece.count, size - offset)
            try file.write(UnsafeRawBufferPointer(rebasing: piece[..<count]), at: Int64(offset))
            if offset == 0 { piece.initializeMemory(as: UInt8.self, repeating: 0) }
        }
    }

    /// Gives the space of a half-made log back. That it cannot be removed is not what the caller has to hear about.
    private static func removeUnfinished(_ fileSystem: any FileSystem, _ path: String) {
        do throws(FileError) { try fileSystem.remove(path) } catch { return }
    }

    /// Opens a log to replay it.
    ///
    /// - Throws: `logMissing`; `logMismatch` when it is another store's or another epoch's, or no log at all;
    ///   `logCorrupt` when its header fails or the file is too short; `unsupportedFormat`, `file`.
    package static func open(
        fileSystem: any FileSystem, path: String, storeID: RandomID, salt: RandomID, readOnly: Bool = false,
        cipher: (any Cipher)? = nil
    ) throws(StorageError) -> LogFile {
        guard let file = try openIfThere(fileSystem, path, readOnly ? .read : .write) else {
            throw .logMissing(path: path)
        }
        let header = try readHeader(file)
        guard header.storeID == storeID && header.salt == salt else { throw .logMismatch(path: path) }
        return LogFile(file, header, canAppend: false, LogSealing(cipher, storeID, fileSystem))
    }

    /// Whose log stands at the path, or nil when there is none. Says what a clean slot without its twin has to know.
    ///
    /// - Throws: as ``open(fileSystem:path:storeID:salt:readOnly:)``, `logMismatch` only when it is no log at all.
    package static func header(fileSystem: any FileSystem, path: String) throws(StorageError) -> LogHeader? {
        guard let file = try openIfThere(fileSystem, path, .read) else { return nil }
        defer { file.close() }
        return try readHeader(file)
    }

    private static func openIfThere(
        _ fileSystem: any FileSystem, _ path: String, _ mode: OpenMode
    ) throws(StorageError) -> (any File)? {
        do throws(FileError) {
            return try fileSystem.status(path) == nil ? nil : try fileSystem.open(path, mode)
        } catch {
            throw StorageError(error)
        }
    }

    private static func readHeader(_ file: any File) throws(StorageError) -> LogHeader {
        let sector = UnsafeMutableRawBufferPointer.allocate(byteCount: Format.slotSize, alignment: 16)
        defer { sector.deallocate() }
        let count: Int
        let size: Int64
        do throws(FileError) {
            count = try file.read(into: sector, at: 0)
            size = try file.size()
        } catch {
            throw StorageError(error)
        }
        guard count == sector.count, let base = sector.baseAddress else {
            throw .logCorrupt(path: file.path, offset: count)
        }
        switch LogHeader.decode(base) {
        case .foreign: throw .logMismatch(path: file.path)
        case .damaged: throw .logCorrupt(path: file.path, offset: 0)
        case .unsupported(let version): throw .unsupportedFormat(path: file.path, version: version)
        case .valid(let header):
            if size < Int64(LogFormat.fileBytes(segmentBytes: header.segmentBytes)) {
                throw .logCorrupt(path: file.path, offset: Int(size))
            }
            return header
        }
    }
}

// MARK: Writing

extension LogFile {
    /// Whether a group with so large a payload fits the active segment.
    package func room(for payloadBytes: Int) -> Bool {
        let end = LogFormat.start(ofSegment: activeSegment, segmentBytes: header.segmentBytes) + header.segmentBytes
        let sealed = payloadBytes + (sealing == nil ? 0 : Seal.size)
        return payloadBytes >= 0 && sealed <= end - nextOffset - LogFormat.groupHeaderSize
    }

    /// Appends a group by one write, without a copy. Durable after ``sync()``.
    ///
    /// - Parameters:
    ///   - group: 64 bytes of room for the group's header, then the payload.
    ///   - durableTo: the last LSN that is durable now; less than `firstLSN`.
    /// - Throws: `file`, `noSpace`, and `poisoned` from then on.
    package func append(
        group: UnsafeMutableRawBufferPointer, firstLSN: UInt64, lastLSN: UInt64, durableTo: UInt64
    ) throws(StorageError) {
        guard let base = group.baseAddress, group.count >= LogFormat.groupHeaderSize else {
            preconditionFailure("a group has room for its header")
        }
        let payloadBytes = group.count - LogFormat.groupHeaderSize
        precondition(canAppend, "a replayed epoch is never appended to")
        precondition(room(for: payloadBytes), "a group stays within its segment")
        precondition(firstLSN <= lastLSN && durableTo < firstLSN, "records are in order")
        if let before = self.lastLSN { precondition(firstLSN == before + 1, "records leave no gap") }
        if failed.isSet { throw .poisoned }
        var group = group
        if let sealing {
            group = reserve(group.count + Seal.size)
            sealing.seal(base, payloadBytes, to: group, .group(epoch.tag, firstLSN, lastLSN))
        }
        try write(
            group,
            LogGroupHeader(
                payloadBytes: group.count - LogFormat.groupHeaderSize, lsns: firstLSN...lastLSN, durableTo: durableTo,
                previous: previous, payloadChecksum: 0))
        self.lastLSN = lastLSN
    }

    private func write(_ group: UnsafeMutableRawBufferPointer, _ plan: LogGroupHeader) throws(StorageError) {
        guard let base = group.baseAddress else { return }
        var plan = plan
        plan.payloadChecksum = epoch.checksum(base + LogFormat.groupHeaderSize, plan.payloadBytes)
        let checksum = plan.store(base, epoch)
        do throws(FileError) {
            try file.write(UnsafeRawBufferPointer(group), at: Int64(nextOffset))
        } catch {
            _ = failed.set()
            throw StorageError(error)
        }
        previous = checksum
        nextOffset += LogFormat.stride(payloadBytes: plan.payloadBytes)
    }

    /// The object's own buffer, large enough for a group.
    private func reserve(_ size: Int) -> UnsafeMutableRawBufferPointer {
        if buffer.count < size {
            buffer.deallocate()
            buffer = .allocate(byteCount: max(size, 16384), alignment: 64)
        }
        return UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
    }

    /// Copies the payload behind a header and appends it by one write, as
    /// ``append(group:firstLSN:lastLSN:durableTo:)``.
    package func append(
        payload: UnsafeRawBufferPointer, firstLSN: UInt64, lastLSN: UInt64, durableTo: UInt64
    ) throws(StorageError) {
        let size = LogFormat.groupHeaderSize + payload.count
        // With room for the seal: sealing then finds its place in the same buffer, and the copy stays where it is.
        let group = UnsafeMutableRawBufferPointer(rebasing: reserve(size + Seal.size)[..<size])
        UnsafeMutableRawBufferPointer(rebasing: group[LogFormat.groupHeaderSize...]).copyMemory(from: payload)
        try append(group: group, firstLSN: firstLSN, lastLSN: lastLSN, durableTo: durableTo)
    }

    /// Makes what was appended before the call durable.
    /// - Throws: `file` or `noSpace`, and `poisoned` from then on: a sync is never tried again.
    package func sync() throws(StorageError) {
        if failed.isSet { throw .poisoned }
        do throws(FileError) {
            try file.syncData()
        } catch {
            _ = failed.set()
            throw StorageError(error)
        }
    }

    /// Goes on at the start of the other segment, which must be free: what a checkpoint begins with.
    /// - Parameter lsn: the version that the checkpoint will make durable; the next record is the one behind it.
    package func switchSegment(after lsn: UInt64? = nil) {
        if let lsn, let last = lastLSN { lastLSN = max(last, lsn) }
        precondition(isInactiveSegmentFree, "the other segment is still needed to replay")
        activeSegment = 1 - activeSegment
        isInactiveSegmentFree = false
        nextOffset = LogFormat.start(ofSegment: activeSegment, segmentBytes: header.segmentBytes)
    }

    /// Says that a durable header slot makes replay start in the active segment.
    package func releaseInactiveSegment() { isInactiveSegmentFree = true }
}

// MARK: Replaying

extension LogFile {
    /// What a replay found.
    package struct Replayed: Equatable, Sendable {
        /// One less than the first LSN asked for when the log was empty.
        package var lastLSN: UInt64
        package var groups: Int
        /// Bits that the medium had flipped and the checksums gave back.
        package var repairedBits: Int
    }

    /// Hands over the payloads of all whole groups from `firstLSN` on, in order, after the whole log was judged.
    ///
    /// - Parameter body: gets payload, first and last LSN; the bytes are valid during the call.
    /// - Throws: `logCorrupt` before the first call of `body` when a record that was durable is missing; `file`; what
    ///   `body` throws.
    /// - Complexity: reads the whole file into memory once.
    @discardableResult
    package func replay(
        fromSegment: Int, firstLSN: UInt64, toleratesLoss: Bool = false,
        _ body: (_ payload: UnsafeRawBufferPointer, _ first: UInt64, _ last: UInt64) throws(StorageError) -> Void
    ) throws(StorageError) -> Replayed {
        precondition(fromSegment == 0 || fromSegment == 1)
        precondition(firstLSN > 0, "LSNs start at 1")
        let contents = try contents()
        defer { withExtendedLifetime(contents) {} }
        let base = contents.mutableBase
        let replay = try LogReplay(
            base, header: header, path: path, fromSegment: fromSegment, firstLSN: firstLSN,
            toleratesLoss: toleratesLoss)
        for group in replay.groups {
            var payload = UnsafeRawBufferPointer(start: base + group.payloadOffset, count: group.payloadBytes)
            if let sealing {
                let context = SealContext.group(epoch.tag, group.firstLSN, group.lastLSN)
                guard let opened = sealing.open(base + group.payloadOffset, group.payloadBytes, context) else {
                    throw .logCorrupt(path: path, offset: group.payloadOffset)
                }
                payload = opened
            }
            try body(payload, group.firstLSN, group.lastLSN)
        }
        return Replayed(
            lastLSN: replay.groups.last?.lastLSN ?? firstLSN - 1, groups: replay.groups.count,
            repairedBits: replay.repairedBits)
    }

    /// The whole file in memory. It may be large, and so may not be there to be had.
    private func contents() throws(StorageError) -> MappedRange {
        guard let range = MappedRange(anonymous: byteCount) else { throw .limit(.addressSpace) }
        let count: Int
        do throws(FileError) {
            count = try file.read(
                into: UnsafeMutableRawBufferPointer(start: range.mutableBase, count: byteCount), at: 0)
        } catch {
            throw StorageError(error)
        }
        guard count == byteCount else { throw .logCorrupt(path: path, offset: count) }
        return range
    }

    /// The last version that any whole group header of this epoch speaks of; 0 when there is none.
    func lastVersion() throws(StorageError) -> TransactionID {
        let contents = try contents()
        return withExtendedLifetime(contents) {
            var last: UInt64 = 0
            for offset in stride(from: Format.pageSize, to: byteCount, by: LogFormat.groupHeaderSize) {
                if let group = LogGroupHeader(contents.base + offset, epoch) { last = max(last, group.lastLSN) }
            }
            return TransactionID(last)
        }
    }
}
