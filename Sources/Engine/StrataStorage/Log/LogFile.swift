package import StrataFiles
internal import Synchronization

// Invariants
// 1. Its maker fills the file with zeros, by writes, and syncs it with its directory entry before a header slot
//    requires it. From then on a sync has no sizes or extents to write.
// 2. A leader appends batches to the active half. It overwrites the other half only after the caller has reported by
//    ``releaseInactiveHalf()`` that the durable header slot no longer needs it, and while the half that was active
//    until then holds a durable batch.
// 3. An object appends only to a log that it created. It only replays a log that it opened.
// 4. After a failed write or sync the object neither writes nor syncs.
// 5. The size of a half and the offset of every batch are multiples of 64 bytes.
// 6. `sync` does not return while the log's name leads to another file or to none: recovery opens the log by its name.

/// The preallocated write-ahead log: a file of two halves, in which commits first become durable.
///
/// Concurrency: one thread at a time appends, a leader of commits (``CommitQueue/beginWriting()``). `goOn`,
/// `switchHalf` and `releaseInactiveHalf` change the position, too: the holder of the write gate calls them when no
/// record waits to be appended. `sync` may run at the same time on another thread.
package final class LogFile: @unchecked Sendable {  // mutable state: used by one thread at a time, see above
    /// The file of the batches. A thread holds the lock while it writes a batch, and while a copy replaces the file.
    private let place: Guarded<Place>
    package let path: String
    package let header: LogHeader
    let epoch: LogEpoch
    private let failed = ClosedFlag()
    private let canAppend: Bool
    /// Seals payloads, and makes nonces; nil in a plain store.
    let sealing: LogSealing?
    private var nextOffset: Int
    private var previous: UInt64 = 0
    private var lastLSN: UInt64?
    /// Last LSN of the first batch in the active half; nil if none was appended to the half since it became active.
    private var firstOfHalf: UInt64?
    /// The last LSN that was written, and the last one that a sync covered.
    private let written = Atomic<UInt64>(0)
    private let synced = Atomic<UInt64>(0)
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The half that batches are appended to: 0 or 1.
    package private(set) var activeHalf = 0
    /// Whether the other half may be overwritten.
    package private(set) var isInactiveHalfFree = true

    private struct Place {
        var file: any File
        /// The files to which the names of log and data file led; nil for a log that is only replayed.
        var names: LogNames?
    }

    private init(
        _ file: any File, header: LogHeader, names: LogNames?, sealing: LogSealing?, scheduling: any Scheduling
    ) {
        self.sealing = sealing
        self.header = header
        path = file.path
        place = Guarded(Place(file: file, names: names), by: scheduling.makeMonitor("log"))
        canAppend = names != nil
        epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        nextOffset = LogFormat.start(ofHalf: 0, halfBytes: header.halfBytes)
    }

    deinit { buffer.deallocate() }

    var file: any File { place.withState { $0.file } }

    /// Size of the file.
    package var byteCount: Int { LogFormat.fileBytes(halfBytes: header.halfBytes) }

    /// Bytes of the largest payload whose batch fits a half.
    package var maxPayloadBytes: Int { Self.maxPayloadBytes(header.halfBytes, sealing?.cipher) }

    private static func syncName(_ path: String, _ fileSystem: any FileSystem) throws(FileError) {
        #if Zoo
            if PlantedMistake.logNameWithoutSync.isPlanted { return }
        #endif
        try fileSystem.syncDirectory(of: path)
    }

    static func maxPayloadBytes(_ halfBytes: Int, _ cipher: (any Cipher)?) -> Int {
        halfBytes - LogFormat.batchHeaderSize - (cipher == nil ? 0 : Seal.size)
    }

    /// Size of a half for a data file of this size: the log takes an eighth of it, at least 512 KiB and at most 16 MiB,
    /// header page included.
    package static func halfBytes(forDataBytes dataBytes: Int) -> Int {
        let total = min(max(512 << 10, dataBytes / 8), 16 << 20)
        return (total - Format.pageSize) / 2 / Format.pageSize * Format.pageSize
    }

    /// Closes the descriptor. The file stays.
    package func close() { file.close() }

    /// Removes a log that no slot requires, durably.
    ///
    /// A log that another user's process made in a directory with the sticky bit stays, since this process may not
    /// remove it. No slot requires it, and the next log takes over the file.
    package static func remove(fileSystem: any FileSystem, path: String) throws(StorageError) {
        do throws(FileError) {
            if try fileSystem.status(path) == nil { return }
            do throws(FileError) { try fileSystem.remove(path) } catch {
                if error.isRefused { return mark(.logLeft) }
                throw error
            }
            try fileSystem.syncDirectory(of: path)
        } catch {
            throw StorageError(error)
        }
    }
}

// MARK: Creation and opening

extension LogFile {
    /// Creates a log full of zeros, and syncs it and its directory. An existing file is removed; the caller guarantees
    /// that no durable header slot requires it.
    ///
    /// - Parameter scheduling: makes the lock that a thread holds while it writes a batch.
    /// - Throws: `noSpace`, `file`. The new file is removed then.
    /// - Complexity: writes the whole file, in pieces of 16 KiB: larger ones make every later small write slower.
    package static func create(
        fileSystem: any FileSystem, path: String, beside data: String, storeID: RandomID, salt: RandomID,
        halfBytes: Int, baseVersion: TransactionID, cipher: (any Cipher)? = nil,
        scheduling: any Scheduling
    ) throws(StorageError) -> LogFile {
        precondition(halfBytes >= Format.pageSize && halfBytes <= LogFormat.maxHalfBytes)
        precondition(halfBytes % Format.pageSize == 0, "a half is whole pages")
        let header = LogHeader(storeID: storeID, salt: salt, halfBytes: halfBytes, baseVersion: baseVersion)
        do throws(FileError) {
            let names = LogNames(log: path, data: data, fileSystem)
            let file = try names.makeFile()
            do throws(FileError) {
                try file.preallocate(to: Int64(LogFormat.fileBytes(halfBytes: halfBytes)))
                try fill(file, header)
                try file.syncData()
                try syncName(path, fileSystem)
            } catch {
                file.close()
                names.removeUnfinished(path)
                throw error
            }
            return LogFile(
                file, header: header, names: try names.ofFiles(file),
                sealing: LogSealing(cipher, storeID, fileSystem), scheduling: scheduling)
        } catch {
            throw StorageError(error)
        }
    }

    private static func fill(_ file: any File, _ header: LogHeader) throws(FileError) {
        let size = LogFormat.fileBytes(halfBytes: header.halfBytes)
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

    /// Opens a log for replay.
    ///
    /// - Throws: `logMissing`; `logMismatch` for the log of another store, of another epoch or of an older format, and
    ///   for a file that is no log; `logCorrupt` if its header is damaged or the file too short; `unsupportedFormat`,
    ///   `file`.
    package static func open(
        fileSystem: any FileSystem, path: String, storeID: RandomID, salt: RandomID, readOnly: Bool = false,
        cipher: (any Cipher)? = nil
    ) throws(StorageError) -> LogFile {
        guard let file = try openIfThere(fileSystem, path, readOnly ? .read : .write) else {
            throw .logMissing(path: path)
        }
        let header: LogHeader
        do throws(StorageError) { header = try readHeader(file) } catch {
            // The header slot that requires the log has the present format, so a log of an older format is another one.
            throw error.isOlderFormat ? .logMismatch(path: path) : error
        }
        guard header.storeID == storeID && header.salt == salt else { throw .logMismatch(path: path) }
        return LogFile(
            file, header: header, names: nil, sealing: LogSealing(cipher, storeID, fileSystem),
            scheduling: SystemScheduling())
    }

    /// Header of the log at a path; nil if there is none. It tells which store and checkpoint the log belongs to, if no
    /// readable header slot requires it.
    ///
    /// - Throws: `logMismatch` for a file that is no log; `logCorrupt` if its header is damaged or the file too short;
    ///   `unsupportedFormat`, also for an older format; `file`.
    package static func header(fileSystem: any FileSystem, path: String) throws(StorageError) -> LogHeader? {
        guard let file = try openIfThere(fileSystem, path, .read) else { return nil }
        defer { file.close() }
        return try readHeader(file)
    }

    private static func openIfThere(
        _ fileSystem: any FileSystem, _ path: String, _ mode: OpenMode
    ) throws(StorageError) -> (any File)? {
        do throws(FileError) {
            guard let status = try fileSystem.status(path) else { return nil }
            if status.isRegularFile { return try fileSystem.open(path, mode) }
        } catch {
            throw StorageError(error)
        }
        throw .logMismatch(path: path)
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
            if size < Int64(LogFormat.fileBytes(halfBytes: header.halfBytes)) {
                throw .logCorrupt(path: file.path, offset: Int(size))
            }
            return header
        }
    }
}

// MARK: Writing

extension LogFile {
    /// Whether a batch with a payload of this size fits the rest of the active half.
    package func room(for payloadBytes: Int) -> Bool {
        let end = LogFormat.start(ofHalf: activeHalf, halfBytes: header.halfBytes) + header.halfBytes
        let sealed = payloadBytes + (sealing == nil ? 0 : Seal.size)
        return payloadBytes >= 0 && sealed <= end - nextOffset - LogFormat.batchHeaderSize
    }

    /// Appends a batch by one write, without a copy. Durable after ``sync()``.
    ///
    /// - Parameters:
    ///   - batch: 64 bytes of space for the header, then the payload.
    ///   - durableTo: the last LSN that is durable by now; less than `firstLSN`.
    /// - Throws: `file`, `noSpace`; `poisoned` from then on.
    package func append(
        batch: UnsafeMutableRawBufferPointer, firstLSN: UInt64, lastLSN: UInt64, durableTo: UInt64
    ) throws(StorageError) {
        guard let base = batch.baseAddress, batch.count >= LogFormat.batchHeaderSize else {
            preconditionFailure("a batch has room for its header")
        }
        let payloadBytes = batch.count - LogFormat.batchHeaderSize
        precondition(canAppend, "a replayed epoch is never appended to")
        precondition(room(for: payloadBytes), "a batch stays within its half")
        precondition(firstLSN <= lastLSN && durableTo < firstLSN, "records are in order")
        if let before = self.lastLSN { precondition(firstLSN == before + 1, "records leave no gap") }
        if failed.isSet { throw .poisoned }
        var batch = batch
        if let sealing {
            batch = reserve(batch.count + Seal.size)
            let context = SealContext.batch(epoch.tag, firstLSN...lastLSN, durableTo: durableTo, previous: previous)
            sealing.seal(base, payloadBytes, to: batch, context)
        }
        try write(
            batch,
            LogBatchHeader(
                payloadBytes: batch.count - LogFormat.batchHeaderSize, lsns: firstLSN...lastLSN, durableTo: durableTo,
                previous: previous, payloadChecksum: 0))
        self.lastLSN = lastLSN
        if firstOfHalf == nil { firstOfHalf = lastLSN }
        written.store(lastLSN, ordering: .releasing)
    }

    private func write(_ batch: UnsafeMutableRawBufferPointer, _ plan: LogBatchHeader) throws(StorageError) {
        guard let base = batch.baseAddress else { return }
        var plan = plan
        plan.payloadChecksum = epoch.checksum(base + LogFormat.batchHeaderSize, plan.payloadBytes)
        let checksum = plan.store(base, epoch)
        let offset = Int64(nextOffset)
        do throws(FileError) {
            try place.withState { (place) throws(FileError) in
                try place.file.write(UnsafeRawBufferPointer(batch), at: offset)
            }
        } catch {
            _ = failed.set()
            throw StorageError(error)
        }
        previous = checksum
        nextOffset += LogFormat.stride(payloadBytes: plan.payloadBytes)
    }

    /// The first `size` bytes of this object's own buffer, which grows if necessary.
    private func reserve(_ size: Int) -> UnsafeMutableRawBufferPointer {
        if buffer.count < size {
            buffer.deallocate()
            buffer = .allocate(byteCount: max(size, 16384), alignment: 64)
        }
        return UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
    }

    /// Copies the payload to a buffer, after the header, and appends both by one write. Otherwise as
    /// ``append(batch:firstLSN:lastLSN:durableTo:)``.
    package func append(
        payload: UnsafeRawBufferPointer, firstLSN: UInt64, lastLSN: UInt64, durableTo: UInt64
    ) throws(StorageError) {
        let size = LogFormat.batchHeaderSize + payload.count
        // Includes space for the seal, so that sealing does not reallocate the buffer.
        let batch = UnsafeMutableRawBufferPointer(rebasing: reserve(size + Seal.size)[..<size])
        UnsafeMutableRawBufferPointer(rebasing: batch[LogFormat.batchHeaderSize...]).copyMemory(from: payload)
        try append(batch: batch, firstLSN: firstLSN, lastLSN: lastLSN, durableTo: durableTo)
    }

    /// Makes the batches appended before the call durable under the log's name. If the name leads to another file by
    /// then, or to none, a copy of the log gets the name first.
    /// - Throws: `file` or `noSpace`, then `poisoned`: a failed sync is never repeated. `stale` if the data file's name
    ///   leads elsewhere, too.
    /// - Complexity: one sync, and one look-up of the name.
    package func sync() throws(StorageError) {
        #if Zoo
            if PlantedMistake.commitWithoutSync.isPlanted { return }
        #endif
        if failed.isSet { throw .poisoned }
        let covered = written.load(ordering: .acquiring)
        do throws(StorageError) {
            do throws(FileError) { try syncData() } catch { throw StorageError(error) }
            try confirmName()
        } catch {
            _ = failed.set()
            throw error
        }
        synced.max(covered, ordering: .acquiringAndReleasing)
    }

    private func syncData() throws(FileError) {
        #if Zoo
            if PlantedMistake.syncTriedAgain.isPlanted {
                do throws(FileError) { return try file.syncData() } catch { return try file.syncData() }
            }
        #endif
        try file.syncData()
    }

    /// Checks that recovery will find the log by its name. If the name leads to another file, or to none, a copy gets
    /// the name, and further batches go there.
    private func confirmName() throws(StorageError) {
        guard let names = place.withState({ $0.names }), try names.isLogGone else { return }
        mark(.logWrittenAgain)
        let count = byteCount
        try place.withState { (place) throws(StorageError) in
            // Another thread that synced may have copied the log.
            guard let names = place.names, try names.isLogGone else { return }
            // Another thread may still sync the old file: that closes when its last reference ends.
            (place.file, place.names) = try names.copy(of: place.file, count: count)
        }
    }

    /// If this log is a copy that took the log's name, renames it, so that no open finds it beside another data file.
    /// The caller has seen that the data file's name leads to another file by now.
    func giveUpCopy() { place.withState { $0.names }?.giveUpCopy() }

    /// The last LSN that a sync has covered, for a header slot.
    package var reached: UInt64 { synced.load(ordering: .acquiring) }

    /// Has the next batch start a half, for a replay from the next checkpoint: the other half, which must be free, or
    /// the active half while that is empty.
    ///
    /// The half that was active must hold a durable batch, so that overwriting the other one never removes the only
    /// proof of how far the log has reached. If none of its batches was synced yet, this syncs.
    /// - Parameter lsn: the version that the checkpoint will make durable; the next record has the LSN after it.
    /// - Throws: `file`, `noSpace`, `poisoned`, as ``sync()``.
    package func goOn(after lsn: UInt64) throws(StorageError) {
        if let firstOfHalf {
            if firstOfHalf > reached { try sync() }
            switchHalf(after: lsn)
        } else if let last = lastLSN {
            lastLSN = max(last, lsn)
        }
    }

    /// Has the next batch start the other half, which must be free. Part of the beginning of a checkpoint.
    /// - Parameter lsn: the version that the checkpoint will make durable; the next record has the LSN after it.
    package func switchHalf(after lsn: UInt64? = nil) {
        if let lsn, let last = lastLSN { lastLSN = max(last, lsn) }
        precondition(isInactiveHalfFree, "the other half is still needed to replay")
        activeHalf = 1 - activeHalf
        firstOfHalf = nil
        isInactiveHalfFree = false
        nextOffset = LogFormat.start(ofHalf: activeHalf, halfBytes: header.halfBytes)
    }

    /// Lets the leader overwrite the inactive half. The caller has made a header slot durable, with which replay starts
    /// in the active half.
    package func releaseInactiveHalf() { isInactiveHalfFree = true }
}
