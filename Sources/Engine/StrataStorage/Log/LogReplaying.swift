internal import StrataFiles

// Replay of a log that a process left behind.

extension LogFile {
    /// Result of a replay.
    package struct Replayed: Equatable, Sendable {
        /// One less than the first LSN requested if the log was empty.
        package var lastLSN: UInt64
        package var batches: Int
        /// Flipped bits that were corrected by checksums.
        package var repairedBits: Int
    }

    /// Examines the whole log, then calls `body` with the payload of each batch from `firstLSN` on, in order.
    ///
    /// - Parameters:
    ///   - reach: the LSN that the log had reached, from the header slot; 0 if the slot has none.
    ///   - toleratesLoss: replay the records before the damage instead of throwing `logCorrupt` or `logOutdated`.
    ///   - body: called with the payload, its first and its last LSN; the bytes are valid during the call.
    /// - Throws: before the first call of `body` `logCorrupt` if a durable record is missing, `logOutdated` if the log
    ///   does not reach `reach`; `file`; errors of `body`.
    /// - Complexity: reads the file once; memory for the parts that are not zero.
    @discardableResult
    package func replay(
        fromHalf: Int, firstLSN: UInt64, reach: UInt64 = 0, toleratesLoss: Bool = false,
        _ body: (_ payload: UnsafeRawBufferPointer, _ first: UInt64, _ last: UInt64) throws(StorageError) -> Void
    ) throws(StorageError) -> Replayed {
        precondition(fromHalf == 0 || fromHalf == 1)
        precondition(firstLSN > 0, "LSNs start at 1")
        let contents = try contents()
        defer { withExtendedLifetime(contents) {} }
        let base = contents.mutableBase
        let replay = try LogReplay(
            base, header: header, path: path, fromHalf: fromHalf, firstLSN: firstLSN, reach: reach,
            isSealed: sealing != nil, toleratesLoss: toleratesLoss)
        if let sealing, !toleratesLoss {
            for batch in replay.witnesses where sealing.open(batch, base, epoch) == nil {
                throw .logCorrupt(path: path, offset: batch.payloadOffset)
            }
        }
        for batch in replay.batches {
            var payload = UnsafeRawBufferPointer(start: base + batch.payloadOffset, count: batch.payloadBytes)
            if let sealing {
                guard let opened = sealing.open(batch, base, epoch) else {
                    throw .logCorrupt(path: path, offset: batch.payloadOffset)
                }
                payload = opened
            }
            try body(payload, batch.firstLSN, batch.lastLSN)
        }
        return Replayed(
            lastLSN: replay.batches.last?.lastLSN ?? firstLSN - 1, batches: replay.batches.count,
            repairedBits: replay.repairedBits)
    }

    /// Bytes of one read, and the parts of it that are copied unless they are full of zeros.
    private static let pieceBytes = 1 << 20
    private static let partBytes = 1 << 16

    /// The whole file in memory. The file may be larger than the memory available: parts full of zeros, such as the
    /// holes of a file that was extended, take none.
    private func contents() throws(StorageError) -> MappedRange {
        guard let range = MappedRange(anonymous: byteCount) else { throw .limit(.addressSpace) }
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(Self.pieceBytes, byteCount), alignment: Format.pageSize)
        defer { piece.deallocate() }
        for offset in stride(from: 0, to: byteCount, by: piece.count) {
            let wanted = min(piece.count, byteCount - offset)
            let count: Int
            do throws(FileError) {
                let target = UnsafeMutableRawBufferPointer(rebasing: piece[..<wanted])
                count = try file.read(into: target, at: Int64(offset))
            } catch {
                throw StorageError(error)
            }
            guard count == wanted else { throw .logCorrupt(path: path, offset: offset + count) }
            for start in stride(from: 0, to: wanted, by: Self.partBytes) {
                let part = UnsafeRawBufferPointer(rebasing: piece[start..<min(start + Self.partBytes, wanted)])
                if let base = part.baseAddress, !Self.isZero(part) {
                    (range.mutableBase + offset + start).copyMemory(from: base, byteCount: part.count)
                }
            }
        }
        return range
    }

    /// - Parameter bytes: aligned to words, and a whole number of them.
    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.withMemoryRebound(to: UInt64.self) { words in
            for word in words where word != 0 { return false }
            return true
        }
    }

    /// The last version named by any intact batch header of this epoch; 0 if there is none.
    package func lastVersion() throws(StorageError) -> TransactionID {
        let contents = try contents()
        return withExtendedLifetime(contents) {
            var last: UInt64 = 0
            for offset in stride(from: Format.pageSize, to: byteCount, by: LogFormat.batchHeaderSize) {
                if let batch = LogBatchHeader(contents.base + offset, epoch) { last = max(last, batch.lastLSN) }
            }
            return TransactionID(last)
        }
    }
}
