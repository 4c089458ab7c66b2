internal import StrataFiles
internal import StrataStorage

/// The commits after the checkpoint, as far as the log's batches verify.
///
/// Concurrency: confined to the salvage.
final class SalvageLog {
    private let bytes: MappedRange
    private var batches: [LogReplay.Batch] = []
    /// The version on which the first record builds.
    private var base: UInt64
    /// Whether durable commits are missing after the last record.
    private(set) var isCutShort = false
    /// Whether a log was required, and none of it can be used.
    private(set) var isLost = false
    /// Opens payloads of an encrypted store; nil for a plain one.
    private let sealing: (RandomID) -> LogSealing?

    /// - Parameter slot: the checkpoint before the log; nil if no slot verifies.
    /// - Returns: nil if no log is needed, or if there is neither a slot that requires it nor a log.
    init?(_ source: SalvageSource, _ slot: HeaderSlot?) {
        sealing = source.logSealing
        #if Zoo
            if PlantedMistake.salvageLogForgotten.isPlanted { return nil }
        #endif
        let contents = source.readLog()
        let header = Self.header(source.fileSystem, source.path)
        base = slot?.checkpoint.rawValue ?? 0
        let whole = header.map { LogFormat.fileBytes(halfBytes: $0.halfBytes) } ?? 0
        // If the log was truncated, its missing part reads as zeros.
        guard let range = MappedRange(anonymous: max(contents?.count ?? 0, whole, Format.pageSize)) else { return nil }
        bytes = range
        copy(contents)
        // Without a header the log's size is unknown.
        let isCut = contents.map { header == nil || $0.count < whole } ?? false
        if let slot {
            guard read(slot, header, source, isThere: contents != nil) else { return nil }
        } else {
            guard let header, take(header, contents) else { return nil }
        }
        if isCut { isCutShort = true }
    }

    /// Copies the bytes as they are in the file. A replay changes them, when it corrects a bit or opens a payload, so
    /// each replay needs a fresh copy.
    private func copy(_ contents: LogBytes?) { contents?.copy(to: bytes.mutableBase) }

    /// Finds the records after a slot's checkpoint.
    /// - Returns: false if no log is needed.
    private func read(_ slot: HeaderSlot, _ header: LogHeader?, _ source: SalvageSource, isThere: Bool) -> Bool {
        if slot.logRequired {
            let half = (bytes.count - Format.pageSize) / 2
            let reading =
                header
                ?? LogHeader(
                    storeID: slot.storeID, salt: slot.salt, halfBytes: half, baseVersion: slot.checkpoint)
            isLost =
                !isThere || reading.storeID != slot.storeID || reading.salt != slot.salt
                || !replay(reading, fromHalf: Int(slot.logHalf), firstLSN: base + 1, reach: slot.logReach)
            return true
        }
        guard let header, header.storeID == slot.storeID else {
            // The other slot is lost, and may have required this log, which cannot be read.
            isLost = source.validSlots.filter { $0.storeID == slot.storeID }.count < 2 && source.hasLog
            return isLost
        }
        if header.baseVersion < slot.checkpoint { return false }
        if header.baseVersion > slot.checkpoint {
            // The log was made after a newer checkpoint: the data file is older than its log.
            isLost = true
            return true
        }
        let isRead = replay(header, fromHalf: 0, firstLSN: base + 1)
        // The log was created and not used, or its creation was interrupted.
        if batches.isEmpty && !isCutShort && source.validSlots.count == 2 { return false }
        isLost = !isRead
        return true
    }

    static func header(_ fileSystem: any FileSystem, _ path: String) -> LogHeader? {
        do throws(StorageError) {
            return try LogFile.header(fileSystem: fileSystem, path: Store.logPath(path))
        } catch {
            return nil
        }
    }

    /// Replays a log without a slot: starts in the half with the older first batch, and in the other one only if the
    /// batches of the older half do not lead to it.
    private func take(_ header: LogHeader, _ contents: LogBytes?) -> Bool {
        let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        var starts: [(half: Int, lsn: UInt64)] = []
        for half in 0..<2 {
            let offset = LogFormat.start(ofHalf: half, halfBytes: header.halfBytes)
            guard offset + LogFormat.batchHeaderSize <= bytes.count,
                let batch = LogBatchHeader(bytes.base + offset, epoch), batch.firstLSN > 0,
                batch.firstLSN < Format.versionLimit
            else { continue }
            starts.append((half, batch.firstLSN))
        }
        starts.sort { $0.lsn < $1.lsn }
        if starts.isEmpty { starts.append((0, header.baseVersion.rawValue + 1)) }
        for start in starts {
            // Records that lead up to this half are kept, even without those in it.
            if !batches.isEmpty && lastVersion >= start.lsn { break }
            base = start.lsn - 1
            copy(contents)
            guard replay(header, fromHalf: start.half, firstLSN: start.lsn) else { return false }
            if !isCutShort { break }
        }
        return true
    }

    /// Decrypts the payloads of batches in place; nil if one does not open.
    private func open(_ batches: [LogReplay.Batch], _ header: LogHeader) -> [LogReplay.Batch]? {
        guard let sealing = sealing(header.storeID) else { return batches }
        let start = bytes.mutableBase
        let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        var opened: [LogReplay.Batch] = []
        for var batch in batches {
            guard sealing.open(batch, start, epoch) != nil else { return nil }
            batch.payloadOffset += Seal.size
            batch.payloadBytes -= Seal.size
            opened.append(batch)
        }
        return opened
    }

    private func replay(_ header: LogHeader, fromHalf: Int, firstLSN: UInt64, reach: UInt64 = 0) -> Bool {
        guard header.halfBytes >= Format.pageSize,
            LogFormat.fileBytes(halfBytes: header.halfBytes) <= bytes.count
        else { return false }
        do throws(StorageError) {
            let found = try LogReplay(
                bytes.mutableBase, header: header, path: "", fromHalf: fromHalf, firstLSN: firstLSN,
                reach: reach, isSealed: sealing(header.storeID) != nil, toleratesLoss: true)
            guard found.batches.allSatisfy({ $0.lastLSN < Format.versionLimit }),
                let opened = open(found.batches, header)
            else { return false }
            batches = opened
            isCutShort = found.isCutShort || open(found.witnesses, header) == nil
            return true
        } catch {
            return false
        }
    }

    var lastVersion: UInt64 { batches.last?.lastLSN ?? base }

    /// Whether the records lead from this version to the last one.
    func goesOn(from version: UInt64) -> Bool { version >= base && version <= lastVersion }

    /// Calls `body` with the records after a version, in order.
    /// - Returns: false if a record differs from its batch's header.
    func forEachRecord(
        after version: UInt64, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        for batch in batches where batch.lastLSN > version {
            let payload = UnsafeRawBufferPointer(start: bytes.base + batch.payloadOffset, count: batch.payloadBytes)
            var records = RecordSequence(payload, firstLSN: batch.firstLSN, lastLSN: batch.lastLSN)
            while true {
                let record: UnsafeRawBufferPointer?
                do throws(StorageError) { record = try records.next() } catch { return false }
                guard let record, let base = record.baseAddress else { break }
                if base.u64(8) > version, !(try body(record)) { return false }
            }
        }
        return true
    }
}
