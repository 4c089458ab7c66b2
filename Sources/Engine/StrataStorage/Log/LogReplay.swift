// Invariants
// 1. The first batch has the requested first LSN; each later one continues at its predecessor's last LSN, and names its
//    checksum. So leftovers of an earlier use of a half never join the chain.
// 2. The chain runs through the half in which replay starts, then through the other one from its start. If the first
//    half was still empty, and the leader used it again after the other one, replay visits it twice.
// 3. The chain ends before the first record that is not in it. If any intact batch header of this epoch says that this
//    record was durable, the end is not torn but damaged. The same holds if an intact batch with this record names
//    another predecessor: no writer produces that, so the file was changed. Payloads hold the program's values, which
//    may look like headers, so replay does not search the payloads of the chain for headers.
// 4. The header slot holds the LSN that the log had reached at a checkpoint. A log always holds an intact batch that
//    ends at this LSN or later: a leader overwrites a half only while the other one holds a younger durable batch. A
//    log without such a batch is an older copy of the file. Replay needs no record of that batch, so its header
//    suffices as proof, even with a damaged payload or one flipped bit. In a sealed log an attacker can forge a header
//    without the key, so the payload must open, too.
// Fault model: the bytes are arbitrary. No length is used before it was checked.

/// Finds the batches to replay in the bytes of a log.
package struct LogReplay {
    /// A batch's payload in the log.
    package struct Batch: Equatable {
        package var payloadOffset: Int
        package var payloadBytes: Int
        package var firstLSN: UInt64
        package var lastLSN: UInt64
        /// Fields of the header that are sealed with the payload.
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

    /// Payloads up to this size are searched for a single flipped bit; that takes at most 20 ms.
    private static let repairBytes = 8192
    /// In a sealed log, at most this many damaged batches are examined as proof of how far the log has reached.
    private static let repairedWitnesses = 4

    private let bytes: UnsafeMutableRawPointer
    private let halfBytes: Int
    private let epoch: LogEpoch
    private let isSealed: Bool
    private var nextLSN: UInt64
    private var previous: UInt64?
    package private(set) var batches: [Batch] = []
    /// Bits that were corrected, in `bytes` and not in the file.
    private(set) var repairedBits = 0
    /// Durable records after ``batches`` are missing, and the caller tolerates the loss.
    package private(set) var isCutShort = false
    /// Intact batches that are not replayed, but whose headers prove something: that records follow the end of the
    /// chain, or that the log reached them. In a sealed log their payloads must open.
    package private(set) var witnesses: [Batch] = []

    /// - Parameters:
    ///   - bytes: a copy of the whole log, header page included; it is corrected in place. It must outlive `self`.
    ///   - reach: the LSN that the log had reached, from the header slot; 0 if the slot has none.
    ///   - isSealed: payloads are sealed; the caller opens those of ``batches`` and ``witnesses``.
    ///   - toleratesLoss: whether the caller, a salvage, wants the records before the damage instead of an error.
    /// - Throws: `logCorrupt` with the offset of the first durable batch that is missing; `logOutdated` if the log does
    ///   not reach the slot's LSN.
    /// - Complexity: O(bytes); each byte is read twice.
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

    /// Appends to ``batches`` those that continue the chain from the start of a half.
    /// - Returns: where the next one should be.
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

    /// The batch at `offset`, if it is intact and the next one.
    private func joining(_ offset: Int, _ end: Int) -> LogBatchHeader? {
        guard let header = follows(offset, end) else { return nil }
        return isPayloadWhole(offset, header) ? header : nil
    }

    /// Whether the payload of the batch at `offset` matches its checksum.
    private func isPayloadWhole(_ offset: Int, _ header: LogBatchHeader) -> Bool {
        #if Zoo
            if PlantedMistake.tornBatchTaken.isPlanted { return true }
        #endif
        return epoch.checksum(bytes + offset + LogFormat.batchHeaderSize, header.payloadBytes) == header.payloadChecksum
    }

    /// The header at `offset`, if it is intact, the next one, and its payload lies within the half.
    private func follows(_ offset: Int, _ end: Int) -> LogBatchHeader? {
        guard let header = LogBatchHeader(bytes + offset, epoch), header.firstLSN == nextLSN,
            previous == nil || header.previous == previous,
            header.payloadBytes <= end - offset - LogFormat.batchHeaderSize
        else { return nil }
        return header
    }

    /// The batch at `offset` with one bit corrected, if that makes it intact and the next one.
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
        // An intact header that does not follow is a leftover, not damage.
        if LogBatchHeader(base, epoch) != nil { return nil }
        return flip(offset..<offset + LogFormat.batchHeaderSize) { joining(offset, end) }
    }

    /// Whether magic and epoch tag differ in at most one bit from those of a batch.
    private func isAlmostBatch(_ base: UnsafeRawPointer) -> Bool {
        (base.u32(0) ^ LogFormat.batchMagic).nonzeroBitCount + (base.u64(8) ^ epoch.tag).nonzeroBitCount <= 1
    }

    /// Flips each bit of the range until `check` returns a header; otherwise the bytes stay as they were.
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

    /// Meaning of the batches outside the chain for its end: no durable record is missing; one is missing, or another
    /// program has changed the file; the log does not reach the LSN in the header slot.
    private enum Rest {
        case consistent, contradictory, outdated
    }

    /// Examines the batches of this epoch outside the chain, for what they say about its end.
    /// - Parameter stop: where the next batch should be.
    private mutating func judge(_ reach: UInt64, stop: Int) -> Rest {
        // The batches of the chain come after the checkpoint, and so after the LSN in the slot.
        var hasReached = reach == 0 || !batches.isEmpty
        var rest = unjoined(stop: stop)
        // Bytes of payloads that are verified at most: headers that belong to no batch may claim any length.
        var patience = 2 * LogFormat.fileBytes(halfBytes: halfBytes)
        while let offset = rest.next() {
            if bytes.u32(offset) != LogFormat.batchMagic { continue }
            guard let header = LogBatchHeader(bytes + offset, epoch) else { continue }
            let halfEnd = LogFormat.start(ofHalf: half(of: offset) + 1, halfBytes: halfBytes)
            let fits = header.payloadBytes <= min(patience, halfEnd - offset - LogFormat.batchHeaderSize)
            let isWhole = fits && isPayloadWhole(offset, header)
            if fits && !isWhole { patience -= header.payloadBytes }
            // In a plain log the payload may hold values that look like headers, so the search skips it. In a sealed
            // log it does not: a forged length would hide real headers.
            if isWhole && !isSealed { rest.skip(LogFormat.stride(payloadBytes: header.payloadBytes)) }
            let facts = BatchFacts(
                place: header.firstLSN == nextLSN ? .next : header.firstLSN > nextLSN ? .after : .before,
                claimsDurable: header.durableTo >= nextLSN, isWhole: isWhole, reaches: header.lastLSN >= reach,
                hasReached: hasReached)
            switch facts.answer {
            case .nothing: continue
            case .contradiction: return .contradictory
            case .witness:
                hasReached = true
                witnesses.append(Batch(header, at: offset))
            }
        }
        return hasReached ? .consistent : judgeDamaged(reach, stop: stop)
    }

    /// Offsets at which the header of a batch outside the chain may be. Payloads may hold bytes that look like headers,
    /// so the batches of the chain are left out, and in a plain log the payload of one that was being written at its
    /// end.
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

    /// Examines damaged batches for proof of how far the log has reached.
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
            guard let found else { continue }
            var facts = DamagedBatchFacts(
                claimsDurable: found.durableTo >= nextLSN, reaches: found.lastLSN >= reach, isSealed: isSealed,
                payload: attempts < Self.repairedWitnesses ? .unexamined : .beyondLimit)
            if facts.answer == .examinePayload {
                attempts += 1
                facts.payload = mendPayload(offset, found, isHeaderWhole: whole != nil) ? .whole : .lost
            }
            switch facts.answer {
            case .nothing, .examinePayload: continue
            case .contradiction: return .contradictory
            case .giveUp: return .outdated
            case .proof:
                if isSealed { witnesses.append(Batch(found, at: offset)) } else if whole == nil { noteMended() }
                return .consistent
            }
        }
        return .outdated
    }

    /// Whether a batch's payload matches its checksum, if necessary with one bit corrected. A batch whose header was
    /// corrected gets no second correction.
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

/// Offsets in a log at which a batch may begin, in order, except within taken ranges.
private struct BatchPlaces {
    private var offset: Int
    private let end: Int
    /// Ascending.
    private let taken: [Range<Int>]
    private var nextTaken = 0
    /// The place returned last.
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

    /// Skips an intact batch of this size at the place returned last.
    mutating func skip(_ count: Int) { offset = max(offset, last + count) }
}
