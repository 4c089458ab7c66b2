import StrataFiles

@testable import StrataStorage

/// The log's three layers: the operations of a record, the chain of batches, and a store that replays both.
enum LogFuzzing {
    static func run(_ input: inout FuzzInput) {
        switch input.byte() % 3 {
        case 0: readRecord(&input)
        case 1: replayGroups(&input)
        default: recoverStore(&input)
        }
    }

    // MARK: Records

    private static func readRecord(_ input: inout FuzzInput) {
        let record = makeRecord(lsn: 1, input.run(.max / 2))
        record.withUnsafeBytes { bytes in
            do {
                var sequence = RecordSequence(bytes, firstLSN: 1, lastLSN: 1)
                while let record = try sequence.next() {
                    var changes = try ChangeReader(record)
                    while let change = try changes.next() {
                        if case .insert = change { _ = changes.cells.count }
                        if case .insertElements = change { while try changes.element() != nil {} }
                        if case .schema(let schema) = change { _ = try SchemaCoding.decode(schema) }
                    }
                }
            } catch {}
        }
    }

    private static func makeRecord(lsn: UInt64, _ operations: UnsafeRawBufferPointer) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: ChangeRecord.headerSize)
        record += operations
        record.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            base.put32(0, UInt32(bytes.count))
            base.put64(8, lsn)
        }
        return record
    }

    // MARK: Batches

    /// A log as commits write it, with changed words in batch headers and recomputed checksums, followed by any bytes.
    private static func replayGroups(_ input: inout FuzzInput) {
        do {
            let header = LogHeader(
                storeID: RandomID(1, 2), salt: RandomID(3, 4), halfBytes: Format.pageSize,
                baseVersion: TransactionID(5))
            let bytes = UnsafeMutableRawBufferPointer.allocate(
                byteCount: LogFormat.fileBytes(halfBytes: header.halfBytes), alignment: 64)
            defer { bytes.deallocate() }
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            guard let base = bytes.baseAddress else { return }
            let options = input.byte()
            appendBatches(&input, base, header)
            while !input.isAtEnd {
                let offset = Format.pageSize + input.below(2 * header.halfBytes)
                base.put8(offset, input.byte())
            }
            let first = UInt64(6 + options >> 1 & 3)
            let replay = try LogReplay(
                base, header: header, path: "log", fromHalf: options & 1, firstLSN: first,
                toleratesLoss: options & 8 != 0)
            var next = first
            for batch in replay.batches {
                fuzzExpect(batch.firstLSN == next && batch.lastLSN >= batch.firstLSN, "batches follow each other")
                fuzzExpect(
                    batch.payloadOffset >= Format.pageSize && batch.payloadOffset + batch.payloadBytes <= bytes.count,
                    "a payload lies in the log")
                next = batch.lastLSN &+ 1
            }
        } catch {}
    }

    private static func appendBatches(
        _ input: inout FuzzInput, _ base: UnsafeMutableRawPointer, _ header: LogHeader
    ) {
        let epoch = LogEpoch(storeID: header.storeID, salt: header.salt)
        var offset = Format.pageSize
        var lsn: UInt64 = 6
        var previous: UInt64 = 0
        for _ in 0..<(input.byte() % 8) {
            let payload = input.run(input.byte())
            if offset + LogFormat.stride(payloadBytes: payload.count) > Format.pageSize + 2 * header.halfBytes {
                return
            }
            for (index, byte) in payload.enumerated() {
                base.put8(offset + LogFormat.batchHeaderSize + index, Int(byte))
            }
            let change = input.byte()
            var batch = LogBatchHeader(
                payloadBytes: payload.count, lsns: lsn...(lsn + UInt64(change >> 6)), durableTo: lsn - 1,
                previous: previous, payloadChecksum: epoch.checksum(base + offset + 64, payload.count))
            switch change & 15 {
            case 0: batch.payloadBytes = Int(UInt32(truncatingIfNeeded: input.number(4)))
            case 1: batch.firstLSN = input.number(8)
            case 2: batch.lastLSN = input.number(8)
            case 3: batch.durableTo = input.number(8)
            case 4: batch.previous = input.number(8)
            case 5: batch.payloadChecksum = input.number(8)
            default: break
            }
            previous = batch.store(base + offset, epoch)
            lsn = batch.lastLSN &+ 1
            if change & 15 == 6 {
                offset = Format.pageSize + header.halfBytes
            } else {
                offset += LogFormat.stride(payloadBytes: payload.count)
            }
        }
    }

    // MARK: A store

    private struct Base: Sendable {
        var image: FileImages.Image
        var header: LogHeader
        var nextOffset: Int
        var nextLSN: UInt64
        var previous: UInt64
        /// The contents of the records to replay.
        var operations: [[UInt8]]
    }

    private static let base: Base? = {
        do {
            let image = try FileImages.withLog(seed: 1, steps: 20, commits: 4)
            return try makeBase(image)
        } catch { return nil }
    }()

    /// The option bit of an input for a store with collections.
    static let withCollections = 0x70

    private static let collections: Base? = {
        do { return try makeBase(try FileImages.withCollections(seed: 2)) } catch { return nil }
    }()

    private static func makeBase(_ image: FileImages.Image) throws -> Base? {
        guard var log = image.log else { return nil }
        return try log.withUnsafeMutableBytes { bytes -> Base? in
            guard let base = bytes.baseAddress, case .valid(let header) = LogHeader.decode(base) else { return nil }
            let slot = try image.data.withUnsafeBytes { data -> HeaderSlot? in
                let second = UnsafeRawBufferPointer(rebasing: data[Format.pageSize...])
                return try HeaderSlot.choose(
                    HeaderSlot.decode(data, at: 0), HeaderSlot.decode(second, at: 1), path: "")?.slot
            }
            guard let slot else { return nil }
            let replay = try LogReplay(
                base, header: header, path: "", fromHalf: Int(slot.logHalf),
                firstLSN: slot.checkpoint.rawValue + 1)
            guard let last = replay.batches.last else { return nil }
            return Base(
                image: image, header: header,
                nextOffset: last.payloadOffset - LogFormat.batchHeaderSize
                    + LogFormat.stride(payloadBytes: last.payloadBytes),
                nextLSN: last.lastLSN + 1,
                previous: UnsafeRawPointer(base).u64(last.payloadOffset - 8),
                operations: replay.batches.map { batch in
                    let payload = bytes[batch.payloadOffset..<(batch.payloadOffset + batch.payloadBytes)]
                    return Array(payload.dropFirst(ChangeRecord.headerSize).prefix(2000))
                })
        }
    }

    /// Appends a batch with the fuzzer's record to the log of a dead process. A replay without an error must leave a
    /// sound store.
    private static func recoverStore(_ input: inout FuzzInput) {
        let options = input.byte()
        guard let base = options & 0xF0 == withCollections ? collections : base, var log = base.image.log else {
            fatalError("no log to begin with")
        }
        let isReadOnly = options & 1 != 0
        let payload = makeRecord(lsn: base.nextLSN, input.run(2000))
        log.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            let epoch = LogEpoch(storeID: base.header.storeID, salt: base.header.salt)
            let batch = start + base.nextOffset
            for (index, byte) in payload.enumerated() { batch.put8(LogFormat.batchHeaderSize + index, Int(byte)) }
            _ = LogBatchHeader(
                payloadBytes: payload.count, lsns: base.nextLSN...base.nextLSN, durableTo: base.nextLSN - 1,
                previous: base.previous,
                payloadChecksum: epoch.checksum(batch + LogFormat.batchHeaderSize, payload.count)
            ).store(batch, epoch)
        }
        let store: Store
        do {
            var image = base.image
            image.log = log
            var options = try FileImages.options(on: FileImages.Disk(image))
            options.readOnly = isReadOnly
            store = try Store.open(path: FileImages.path, options: options)
        } catch { return }
        do {
            try store.checkInvariants()
            try store.close()
        } catch {
            fatalError("broken: a store that was recovered: \(error)")
        }
    }

    // MARK: Seeds

    /// The contents of the records of a store with collections.
    static var collectionOperations: [[UInt8]] { collections?.operations ?? [] }

    static func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for image in [
            try FileImages.withLog(seed: 1, steps: 20, commits: 4), try FileImages.withLog(seed: 5, steps: 9),
        ] {
            for operations in try makeBase(image)?.operations ?? [] {
                seeds += [[0] + operations, [2, 0] + operations, [2, 1] + operations]
            }
        }
        for operations in collectionOperations {
            seeds += [[0] + operations, [2, UInt8(withCollections)] + operations]
        }
        seeds.append([1, 0, 3, 4, 1, 2, 3, 4, 15, 2, 9, 9, 15, 6, 1, 1, 1, 1, 1, 1, 6])
        seeds.append([1, 8, 7, 40] + [UInt8](repeating: 5, count: 40) + [70, 0, 15, 0, 6, 3, 1, 1, 1, 3, 9])
        return seeds
    }
}
