internal import StrataFiles

/// The commits behind the checkpoint, as far as a log holds them that verifies.
///
/// Concurrency: confined to the salvage.
final class SalvageLog {
    private let bytes: UnsafeMutableRawBufferPointer
    private var groups: [LogReplay.Group] = []
    /// The version that the first record is built on.
    private var base: UInt64
    /// Durable commits are missing behind the last record, or there is no log at all where one is required.
    private(set) var isCutShort = false
    private(set) var isLost = false
    /// What opens payloads of a store; nil for a plain one.
    private let sealing: (RandomID) -> LogSealing?

    deinit { bytes.deallocate() }

    /// - Parameter slot: the checkpoint that the log goes on from; nil when no slot verifies.
    /// - Returns: nil when no log is needed, or no slot says so and there is none.
    init?(_ source: SalvageSource, _ slot: HeaderSlot?) {
        sealing = source.logSealing
        let contents = source.readLog()
        let header = Self.header(source)
        base = slot?.checkpoint.rawValue ?? 0
        bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(contents?.count ?? 0, 64), alignment: 64)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        if let contents { bytes.copyBytes(from: contents) }
        guard let slot else {
            guard let header, take(header) else { return nil }
            return
        }
        if slot.logRequired {
            let segment = (bytes.count - Format.pageSize) / 2
            let reading =
                header
                ?? LogHeader(
                    storeID: slot.storeID, salt: slot.salt, segmentBytes: segment, baseVersion: slot.checkpoint)
            isLost =
                contents == nil || reading.storeID != slot.storeID || reading.salt != slot.salt
                || !replay(reading, fromSegment: Int(slot.logSegment), firstLSN: base + 1)
            return
        }
        guard source.validSlots.count < 2, let header, header.storeID == slot.storeID,
            header.baseVersion == slot.checkpoint
        else { return nil }
        isLost = !replay(header, fromSegment: 0, firstLSN: base + 1)
    }

    static func header(_ source: SalvageSource) -> LogHeader? {
        do throws(StorageError) {
            return try LogFile.header(fileSystem: source.fileSystem, path: Store.logPath(source.path))
        } catch {
            return nil
        }
    }

    /// Starts at the older of the two segments; at the newer one when the older one's groups do not lead to it.
    private func take(_ header: LogHeader) -> Bool {
        let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        var starts: [(segment: Int, lsn: UInt64)] = []
        for segment in 0..<2 {
            let offset = LogFormat.start(ofSegment: segment, segmentBytes: header.segmentBytes)
            guard let base = bytes.baseAddress, offset + LogFormat.groupHeaderSize <= bytes.count,
                let group = LogGroupHeader(UnsafeRawPointer(base + offset), epoch), group.firstLSN > 0
            else { continue }
            starts.append((segment, group.firstLSN))
        }
        starts.sort { $0.lsn < $1.lsn }
        if starts.isEmpty { starts.append((0, header.baseVersion.rawValue + 1)) }
        for start in starts {
            base = start.lsn - 1
            guard replay(header, fromSegment: start.segment, firstLSN: start.lsn) else { return false }
            if !isCutShort { break }
        }
        return true
    }

    /// Opens the payloads where they stand.
    private func open(_ groups: [LogReplay.Group], _ header: LogHeader) -> [LogReplay.Group]? {
        guard let sealing = sealing(header.storeID), let start = bytes.baseAddress else { return groups }
        let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        var opened: [LogReplay.Group] = []
        for var group in groups {
            let context = SealContext.group(epoch.tag, group.firstLSN, group.lastLSN)
            guard sealing.open(start + group.payloadOffset, group.payloadBytes, context) != nil else { return nil }
            group.payloadOffset += Seal.size
            group.payloadBytes -= Seal.size
            opened.append(group)
        }
        return opened
    }

    private func replay(_ header: LogHeader, fromSegment: Int, firstLSN: UInt64) -> Bool {
        guard let start = bytes.baseAddress, header.segmentBytes >= Format.pageSize,
            LogFormat.fileBytes(segmentBytes: header.segmentBytes) <= bytes.count
        else { return false }
        do throws(StorageError) {
            let found = try LogReplay(
                start, header: header, path: "", fromSegment: fromSegment, firstLSN: firstLSN, toleratesLoss: true)
            guard let opened = open(found.groups, header) else { return false }
            groups = opened
            isCutShort = found.isCutShort
            return true
        } catch {
            return false
        }
    }

    var lastVersion: UInt64 { groups.last?.lastLSN ?? base }

    /// Whether the records lead from this version to the last one.
    func goesOn(from version: UInt64) -> Bool { version >= base && version <= lastVersion }

    /// Hands out the records behind a version, in order.
    /// - Returns: false when a record is not what its group promised.
    func forEachRecord(
        after version: UInt64, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        for group in groups where group.lastLSN > version {
            let payload = UnsafeRawBufferPointer(
                rebasing: bytes[group.payloadOffset..<(group.payloadOffset + group.payloadBytes)])
            var records = RecordSequence(payload, firstLSN: group.firstLSN, lastLSN: group.lastLSN)
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
