// Invariants
// 1. The first batch has exactly the first LSN that was asked for; each later one goes on where the one before it
//    ended, and names that one's checksum. So leftovers of an older use of a half never join.
// 2. Batches run through the half that replay starts in, then through the other one from its start. A start half
//    that was still empty, and was used again after the other one, is visited twice.
// 3. Where the chain ends, some record may be missing. If any whole batch header of this epoch says that this record
//    was durable, it is not a torn end but damage. So it is when the batch that would be next is whole and names
//    another one before it: no writer of a log writes that, so the file was changed. The payload of a batch holds
//    values of the program, and replay looks for no headers in it.
// 4. The header slot says which LSN the log had reached when a checkpoint was taken. A whole batch up to it, or behind
//    it, is always left: a half is written over only while the other one holds a durable batch that is younger. A
//    log without one is an older copy of itself. Damage to the batch that shows it takes nothing away that is needed:
//    its header is enough, which may have one flipped bit. In a sealed log anybody can write a header, so there the
//    payload is looked at too, and opened.
// Fault model: any bytes may be anything. No length is used before it was checked.

/// Finds the batches to replay in the bytes of a log.
package struct LogReplay {
    /// A batch's payload in the log.
    package struct Batch: Equatable {
        package var payloadOffset: Int
        package var payloadBytes: Int
        package var firstLSN: UInt64
        package var lastLSN: UInt64
        /// What its header says of others: sealed with the payload.
        var durableTo: UInt64
        var previous: UInt64

        fileprivate init(_ header: LogBatchHeader, at offset: Int) {
            payloadOffset = offset + LogFormat.batchHeaderSize
            payloadBytes = header.payloadBytes
            firstLSN = header.firstLSN
            lastLSN = header.lastLSN
            durableTo = header.durableTo
            previous = header.previous
        }
    }

    /// Payloads up to this size are searched for a single flipped bit: at most 20 ms.
    private static let repairBytes = 8192
    /// So many payloads that need not be replayed are searched for one.
    private static let repairedWitnesses = 4

    private let bytes: UnsafeMutableRawPointer
    private let halfBytes: Int
    private let epoch: LogEpoch
    private let isSealed: Bool
    private var nextLSN: UInt64
    private var previous: UInt64?
    package private(set) var batches: [Batch] = []
    /// Bits that were flipped back, in `bytes` only.
    private(set) var repairedBits = 0
    /// Durable records are missing behind ``batches``; only where losses are tolerated.
    package private(set) var isCutShort = false
    /// Whole batches that are not replayed, but whose headers were believed: that they are behind the end of the chain,
    /// or that the log has reached them. In a sealed log their payloads have to open.
    package private(set) var witnesses: [Batch] = []

    /// - Parameters:
    ///   - bytes: a copy of the whole log, header page included; repairs change it. It must outlive `self`.
    ///   - reach: what the header slot says that the log has reached; 0 when it says nothing.
    ///   - isSealed: payloads are; whoever calls opens those of ``batches`` and ``witnesses``.
    ///   - toleratesLoss: a salvage takes what stands in front of damage.
    /// - Throws: `logCorrupt` with the offset of the first batch that is missing though it was durable; `logOutdated`
    ///   when the log does not reach as far as the slot says.
    /// - Complexity: O(bytes); each byte is looked at twice.
    package init(
        _ bytes: UnsafeMutableRawPointer, header: LogHeader, path: String, fromHalf: Int, firstLSN: UInt64,
        reach: UInt64 = 0, isSealed: Bool = false, toleratesLoss: Bool = false
    ) throws(StorageError) {
        self.bytes = bytes
        self.isSealed = isSealed
        halfBytes = header.halfBytes
        epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        nextLSN = firstLSN
        var half = fromHalf
        var stop = walk(half)
        while true {
            let before = batches.count
            let nextStop = walk(1 - half)
            if batches.count == before { break }
            half = 1 - half
            stop = nextStop
            mark(.secondHalf)
        }
        #if Zoo
            if PlantedMistake.recoveryDropsLast.isPlanted, !batches.isEmpty { batches.removeLast() }
        #endif
        let rest = judge(reach, stop: stop)
        isCutShort = rest != .consistent
        if isCutShort { mark(.lostRecord) }
        if toleratesLoss { return }
        switch rest {
        case .consistent: return
        case .contradictory: throw .logCorrupt(path: path, offset: stop)
        case .outdated: throw .logOutdated(path: path)
        }
    }

    /// Collects batches from a half's start on, and returns where the next one should have been.
    private mutating func walk(_ half: Int) -> Int {
        var offset = LogFormat.start(ofHalf: half, halfBytes: halfBytes)
        let end = offset + halfBytes
        while offset + LogFormat.batchHeaderSize <= end {
            var found = joining(offset, end)
            if found == nil {
                found = repaired(offset, end)
                if found != nil { noteMended() }
            }
            guard let header = found else {
                if follows(offset, end) != nil { mark(.tornBatch) }
                break
            }
            batches.append(Batch(header, at: offset))
            nextLSN = header.lastLSN &+ 1
            previous = header.checksum
            offset += LogFormat.stride(payloadBytes: header.payloadBytes)
        }
        return offset
    }

    /// The batch at `offset`, if it is whole and the next one.
    private func joining(_ offset: Int, _ end: Int) -> LogBatchHeader? {
        guard let header = follows(offset, end) else { return nil }
        return isPayloadWhole(offset, header) ? header : nil
    }

    private func isPayloadWhole(_ offset: Int, _ header: LogBatchHeader) -> Bool {
        #if Zoo
            if PlantedMistake.tornBatchTaken.isPlanted { return true }
        #endif
        return epoch.checksum(bytes + offset + LogFormat.batchHeaderSize, header.payloadBytes) == header.payloadChecksum
    }

    /// The header at `offset`, if it is whole, the next one, and its payload lies within the half.
    private func follows(_ offset: Int, _ end: Int) -> LogBatchHeader? {
        guard let header = LogBatchHeader(bytes + offset, epoch), header.firstLSN == nextLSN,
            previous == nil || header.previous == previous,
            header.payloadBytes <= end - offset - LogFormat.batchHeaderSize
        else { return nil }
        return header
    }

    /// The batch at `offset` with one bit flipped back, if that makes it whole and the next one.
    private func repaired(_ offset: Int, _ end: Int) -> LogBatchHeader? {
        let base = UnsafeRawPointer(bytes + offset)
        guard isAlmostBatch(base) else { return nil }
        if let header = follows(offset, end) {
            if header.payloadBytes > Self.repairBytes { return nil }
            let payload = offset + LogFormat.batchHeaderSize
            return flip(payload..<payload + header.payloadBytes) {
                isPayloadWhole(offset, header) ? header : nil
            }
        }
        // A whole header that does not follow is a leftover, not damage.
        if LogBatchHeader(base, epoch) != nil { return nil }
        return flip(offset..<offset + LogFormat.batchHeaderSize) { joining(offset, end) }
    }

    /// Whether at most one bit keeps this from being a batch of the epoch.
    private func isAlmostBatch(_ base: UnsafeRawPointer) -> Bool {
        (base.u32(0) ^ LogFormat.batchMagic).nonzeroBitCount + (base.u64(8) ^ epoch.tag).nonzeroBitCount <= 1
    }

    /// Flips each bit of the range until `check` is content; leaves the bytes as they were if it never is.
    private func flip(_ range: Range<Int>, _ check: () -> LogBatchHeader?) -> LogBatchHeader? {
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

    private enum Rest {
        case consistent, contradictory, outdated
    }

    /// What the batches of this epoch that were not joined say of the end of the chain.
    /// - Parameter stop: where the next batch should have been.
    private mutating func judge(_ reach: UInt64, stop: Int) -> Rest {
        // What was joined is behind the checkpoint, and so behind what the slot says of the log.
        var hasReached = reach == 0 || !batches.isEmpty
        var rest = unjoined(stop: stop)
        // Headers that stand in no batch may claim any length.
        var patience = 2 * LogFormat.fileBytes(halfBytes: halfBytes)
        while let offset = rest.next() {
            if bytes.u32(offset) != LogFormat.batchMagic { continue }
            guard let header = LogBatchHeader(bytes + offset, epoch) else { continue }
            if header.durableTo >= nextLSN { return .contradictory }
            let halfEnd = LogFormat.start(ofHalf: half(of: offset) + 1, halfBytes: halfBytes)
            guard header.payloadBytes <= min(patience, halfEnd - offset - LogFormat.batchHeaderSize) else { continue }
            guard isPayloadWhole(offset, header) else {
                patience -= header.payloadBytes
                continue
            }
            // In a sealed log no user's bytes can be seen, and a header that claims too much would hide others.
            if !isSealed { rest.skip(LogFormat.stride(payloadBytes: header.payloadBytes)) }
            let isBehind = header.firstLSN >= nextLSN
            if !isBehind && (hasReached || header.lastLSN < reach) { continue }
            if header.firstLSN == nextLSN { return .contradictory }
            hasReached = true
            witnesses.append(Batch(header, at: offset))
        }
        return hasReached ? .consistent : judgeDamaged(reach, stop: stop)
    }

    /// Where a header may stand of a batch that was not joined. What batches hold is the user's, and may look like one:
    /// those that were joined are passed over, and the one that was being written at the end.
    private func unjoined(stop: Int) -> BatchPlaces {
        var taken = batches.map { batch in
            let start = batch.payloadOffset - LogFormat.batchHeaderSize
            return start..<(start + LogFormat.stride(payloadBytes: batch.payloadBytes))
        }
        let end = LogFormat.fileBytes(halfBytes: halfBytes)
        if !isSealed, stop + LogFormat.batchHeaderSize <= end {
            let halfEnd = LogFormat.start(ofHalf: half(of: stop) + 1, halfBytes: halfBytes)
            if let torn = follows(stop, halfEnd), torn.durableTo < nextLSN {
                taken.append(
                    (stop + LogFormat.batchHeaderSize)..<(stop + LogFormat.stride(payloadBytes: torn.payloadBytes)))
            }
        }
        return BatchPlaces(Format.pageSize..<end, without: taken)
    }

    /// What batches that are not whole say of how far the log has reached.
    private mutating func judgeDamaged(_ reach: UInt64, stop: Int) -> Rest {
        var attempts = 0
        var rest = unjoined(stop: stop)
        while let offset = rest.next() {
            let base = UnsafeRawPointer(bytes + offset)
            guard isAlmostBatch(base) else { continue }
            let whole = LogBatchHeader(base, epoch)
            let found =
                whole
                ?? flip(offset..<offset + LogFormat.batchHeaderSize) {
                    LogBatchHeader(base, epoch).flatMap { $0.lastLSN >= reach ? $0 : nil }
                }
            guard let found, found.lastLSN >= reach else { continue }
            if found.durableTo >= nextLSN { return .contradictory }
            if isSealed {
                guard attempts < Self.repairedWitnesses else { return .outdated }
                attempts += 1
                guard mendPayload(offset, found, isHeaderWhole: whole != nil) else { continue }
                witnesses.append(Batch(found, at: offset))
            } else if whole == nil {
                noteMended()
            }
            return .consistent
        }
        return .outdated
    }

    /// Whether a batch's payload is whole, or is with one bit flipped back. Of header and payload one is mended.
    private mutating func mendPayload(_ offset: Int, _ header: LogBatchHeader, isHeaderWhole: Bool) -> Bool {
        let halfEnd = LogFormat.start(ofHalf: half(of: offset) + 1, halfBytes: halfBytes)
        let payload = offset + LogFormat.batchHeaderSize
        guard header.payloadBytes <= halfEnd - payload else { return false }
        if isPayloadWhole(offset, header) {
            if !isHeaderWhole { noteMended() }
            return true
        }
        guard isHeaderWhole, header.payloadBytes <= Self.repairBytes,
            flip(payload..<payload + header.payloadBytes, { isPayloadWhole(offset, header) ? header : nil }) != nil
        else { return false }
        noteMended()
        return true
    }

    private func half(of offset: Int) -> Int { (offset - Format.pageSize) / halfBytes }

    private mutating func noteMended() {
        repairedBits += 1
        mark(.mendedBit)
    }
}

/// Places in a log that a batch may begin at, in order, but for those that batches stand on.
private struct BatchPlaces {
    private var offset: Int
    private let end: Int
    /// Ascending.
    private let taken: [Range<Int>]
    private var nextTaken = 0
    /// The place that was handed out last.
    private var last = 0

    init(_ range: Range<Int>, without taken: [Range<Int>]) {
        offset = range.lowerBound
        end = range.upperBound
        self.taken = taken.sorted { $0.lowerBound < $1.lowerBound }
    }

    mutating func next() -> Int? {
        while nextTaken < taken.count, taken[nextTaken].lowerBound <= offset {
            offset = max(offset, taken[nextTaken].upperBound)
            nextTaken += 1
        }
        guard offset + LogFormat.batchHeaderSize <= end else { return nil }
        last = offset
        offset += LogFormat.batchHeaderSize
        return last
    }

    /// A whole batch of so many bytes stands at the place that was handed out last.
    mutating func skip(_ count: Int) { offset = max(offset, last + count) }
}
