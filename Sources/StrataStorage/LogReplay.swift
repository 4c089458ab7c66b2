// Invariants
// 1. The first group has exactly the first LSN that was asked for; each later one goes on where the one before it
//    ended, and names that one's checksum. So leftovers of an older use of a segment never join.
// 2. Groups run through the segment that replay starts in, then through the other one from its start. A start segment
//    that was still empty, and was used again after the other one, is visited twice.
// 3. Where the chain ends, some record may be missing. If any whole group header of this epoch says that this record
//    was durable, it is not a torn end but damage.
// Fault model: any bytes may be anything. No length is used before it was checked.

/// Finds the groups to replay in the bytes of a log.
struct LogReplay {
    /// A group's payload in the log.
    struct Group: Equatable {
        var payloadOffset: Int
        var payloadBytes: Int
        var firstLSN: UInt64
        var lastLSN: UInt64
    }

    /// Payloads up to this size are searched for a single flipped bit: at most 20 ms.
    private static let repairBytes = 8192

    private let bytes: UnsafeMutableRawPointer
    private let segmentBytes: Int
    private let epoch: LogEpoch
    private var nextLSN: UInt64
    private var previous: UInt64?
    private(set) var groups: [Group] = []
    /// Bits that were flipped back, in `bytes` only.
    private(set) var repairedBits = 0
    /// Durable records are missing behind ``groups``; only where losses are tolerated.
    private(set) var isCutShort = false

    /// - Parameters:
    ///   - bytes: a copy of the whole log, header page included; repairs change it. It must outlive `self`.
    ///   - toleratesLoss: a salvage takes what stands in front of damage.
    /// - Throws: `logCorrupt` with the offset of the first group that is missing though it was durable.
    /// - Complexity: O(bytes); each byte is looked at twice.
    init(
        _ bytes: UnsafeMutableRawPointer, header: LogHeader, path: String, fromSegment: Int, firstLSN: UInt64,
        toleratesLoss: Bool = false
    ) throws(StorageError) {
        self.bytes = bytes
        segmentBytes = header.segmentBytes
        epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        nextLSN = firstLSN
        var segment = fromSegment
        var stop = walk(segment)
        while true {
            let before = groups.count
            let nextStop = walk(1 - segment)
            if groups.count == before { break }
            segment = 1 - segment
            stop = nextStop
            mark(.secondSegment)
        }
        isCutShort = wasDurable(nextLSN)
        if isCutShort { mark(.lostRecord) }
        if isCutShort && !toleratesLoss { throw .logCorrupt(path: path, offset: stop) }
    }

    /// Collects groups from a segment's start on, and returns where the next one should have been.
    private mutating func walk(_ segment: Int) -> Int {
        var offset = LogFormat.start(ofSegment: segment, segmentBytes: segmentBytes)
        let end = offset + segmentBytes
        while offset + LogFormat.groupHeaderSize <= end {
            var found = joining(offset, end)
            if found == nil {
                found = repaired(offset, end)
                if found != nil {
                    repairedBits += 1
                    mark(.mendedBit)
                }
            }
            guard let header = found else {
                if follows(offset, end) != nil { mark(.tornGroup) }
                break
            }
            groups.append(
                Group(
                    payloadOffset: offset + LogFormat.groupHeaderSize, payloadBytes: header.payloadBytes,
                    firstLSN: header.firstLSN, lastLSN: header.lastLSN))
            nextLSN = header.lastLSN &+ 1
            previous = header.checksum
            offset += LogFormat.stride(payloadBytes: header.payloadBytes)
        }
        return offset
    }

    /// The group at `offset`, if it is whole and the next one.
    private func joining(_ offset: Int, _ end: Int) -> LogGroupHeader? {
        guard let header = follows(offset, end) else { return nil }
        return isPayloadWhole(offset, header) ? header : nil
    }

    private func isPayloadWhole(_ offset: Int, _ header: LogGroupHeader) -> Bool {
        epoch.checksum(bytes + offset + LogFormat.groupHeaderSize, header.payloadBytes) == header.payloadChecksum
    }

    /// The header at `offset`, if it is whole, the next one, and its payload lies within the segment.
    private func follows(_ offset: Int, _ end: Int) -> LogGroupHeader? {
        guard let header = LogGroupHeader(bytes + offset, epoch), header.firstLSN == nextLSN,
            previous == nil || header.previous == previous,
            header.payloadBytes <= end - offset - LogFormat.groupHeaderSize
        else { return nil }
        return header
    }

    /// The group at `offset` with one bit flipped back, if that makes it whole and the next one.
    private func repaired(_ offset: Int, _ end: Int) -> LogGroupHeader? {
        let base = UnsafeRawPointer(bytes + offset)
        let distance =
            (base.u32(0) ^ LogFormat.groupMagic).nonzeroBitCount + (base.u64(8) ^ epoch.tag).nonzeroBitCount
        guard distance <= 1 else { return nil }
        if let header = follows(offset, end) {
            if header.payloadBytes > Self.repairBytes { return nil }
            let payload = offset + LogFormat.groupHeaderSize
            return flip(payload..<payload + header.payloadBytes) {
                isPayloadWhole(offset, header) ? header : nil
            }
        }
        // A whole header that does not follow is a leftover, not damage.
        if LogGroupHeader(base, epoch) != nil { return nil }
        return flip(offset..<offset + LogFormat.groupHeaderSize) { joining(offset, end) }
    }

    /// Flips each bit of the range until `check` is content; leaves the bytes as they were if it never is.
    private func flip(_ range: Range<Int>, _ check: () -> LogGroupHeader?) -> LogGroupHeader? {
        for position in range {
            let byte = bytes.load(fromByteOffset: position, as: UInt8.self)
            for bit in 0..<8 {
                bytes.storeBytes(of: byte ^ (1 << UInt8(bit)), toByteOffset: position, as: UInt8.self)
                if let header = check() { return header }
            }
            bytes.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
        }
        return nil
    }

    /// Whether any group of this epoch, joined or not, says that the record was durable.
    private func wasDurable(_ lsn: UInt64) -> Bool {
        let end = LogFormat.fileBytes(segmentBytes: segmentBytes)
        for offset in stride(from: Format.pageSize, to: end, by: LogFormat.groupHeaderSize) {
            if bytes.u32(offset) != LogFormat.groupMagic { continue }
            if let header = LogGroupHeader(bytes + offset, epoch), header.durableTo >= lsn { return true }
        }
        return false
    }
}
