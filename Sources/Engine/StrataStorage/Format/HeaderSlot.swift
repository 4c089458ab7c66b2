import CXXHash

// Invariants
// 1. Slot 0 is at the start of page 0, slot 1 at the start of page 1. Each is one sector, so a write is complete or
//    absent; a slot that does not verify is therefore damage, not the result of a crash. Each holds its own index: a
//    copy of one in the other's place does not verify.
// 2. A writer overwrites the older of the two slots, with the next sequence number, and syncs the new slot before it
//    writes another one.
// 3. A clean close writes both slots without a log, each followed by a sync: same checkpoint, same roots. After a crash
//    between the two, one slot is clean, and the other one is older and requires its log. A session without a log marks
//    its slots, and at its close the first of the two. So two clean unmarked slots that differ never result from a
//    crash: a synced write was lost.
// 4. Of two valid slots, the newer one never has the older checkpoint.

/// The bytes that an open reads first: they say where the newest durable checkpoint is, and whether the open has to
/// replay a log on top of it.
///
/// Layout, 512 bytes: magic u64 @0, format version u32 @8, log required u32 (0, 1) @12, store id @16, sequence u64 @32,
/// checkpoint u64 @40, root reference @48, free map reference @72, page count u64 @96, salt @104, log half u32 @120,
/// flags u32 @124, the slot's own index u32 (0, 1) @128, LSN that the log has reached u64 @136, zeros, XXH3 of the
/// first 504 bytes u64 @504. Magic, version and checksum keep their places in every later format.
package struct HeaderSlot: Equatable, Sendable {
    /// Assigned when a store is made; a compacted or copied store gets another one.
    package var storeID: RandomID
    /// Counts the slots written so far.
    package var sequence: UInt64
    package var checkpoint: TransactionID
    /// Null before the first commit.
    package var root: NodeReference
    /// The free map of the checkpoint: its root, or its only node. Null before the first commit.
    package var freeMap: NodeReference
    /// Pages of the file that the checkpoint uses; the file is at least as long.
    package var pageCount: UInt64
    /// Whether an open must replay the log. If not, the data file alone is the newest version.
    package var logRequired: Bool
    /// The log's epoch.
    package var salt: RandomID
    /// The half (0 or 1) in which replay starts.
    package var logHalf: UInt32
    /// ``withoutLog``, or 0.
    package var flags: UInt32
    /// The last LSN that a sync of the log had covered at the checkpoint; 0 without a log, and for a new one. A log
    /// that ends before this LSN is an older copy.
    package var logReach: UInt64 = 0

    /// Marks a slot of a session without a log: the other slot may be older.
    package static let withoutLog: UInt32 = 1

    package init(
        storeID: RandomID, sequence: UInt64 = 1, checkpoint: TransactionID = TransactionID(0),
        root: NodeReference = .null, freeMap: NodeReference = .null,
        pageCount: UInt64 = UInt64(Format.firstDataPage), logRequired: Bool = false, salt: RandomID = RandomID(0, 0),
        logHalf: UInt32 = 0, flags: UInt32 = 0
    ) {
        self.storeID = storeID
        self.sequence = sequence
        self.checkpoint = checkpoint
        self.root = root
        self.freeMap = freeMap
        self.pageCount = pageCount
        self.logRequired = logRequired
        self.salt = salt
        self.logHalf = logHalf
        self.flags = flags
    }

    /// As a clean close writes it.
    package var isClean: Bool { !logRequired && flags == 0 }

    /// Marks the data file alone as the newest version.
    package mutating func makeClean() {
        logRequired = false
        flags = 0
        salt = RandomID(0, 0)
        logHalf = 0
        logReach = 0
    }

    /// Result of decoding 512 bytes.
    package enum Decoded: Equatable, Sendable {
        case valid(HeaderSlot)
        /// Zeros: never written, or a lost write.
        case empty
        /// Another program's bytes.
        case foreign
        /// Intact, but of another version of the format.
        case unsupported(version: UInt32)
        case damaged
    }

    private static let checksumOffset = Format.slotSize - 8
    private static let indexOffset = 128
    private static let reachOffset = 136

    /// Encodes one sector, checksum included. Tests pass other versions.
    /// - Parameter index: which of the two slots it will be.
    package func encode(at index: Int, version: UInt32 = Format.version) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Format.slotSize) { buffer, count in
            buffer.initialize(repeating: 0)
            count = Format.slotSize
            guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
            base.put64(0, Format.magic)
            base.put32(8, version)
            base.put32(12, logRequired ? 1 : 0)
            storeID.store(base, 16)
            base.put64(32, sequence)
            base.put64(40, checkpoint.rawValue)
            root.store(base, 48)
            freeMap.store(base, 72)
            base.put64(96, pageCount)
            salt.store(base, 104)
            base.put32(120, logHalf)
            base.put32(124, flags)
            base.put32(Self.indexOffset, UInt32(index))
            base.put64(Self.reachOffset, logReach)
            base.put64(Self.checksumOffset, XXH3_64bits(base, Self.checksumOffset))
        }
    }

    /// Decodes a slot. Fewer than 512 bytes are `foreign`, none at all `empty`.
    /// - Parameter index: the slot's place: a slot of the other index is `damaged`.
    package static func decode(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Decoded {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return .empty }
        guard bytes.count >= Format.slotSize else { return .foreign }
        guard base.u64(0) == Format.magic else {
            return bytes.prefix(Format.slotSize).allSatisfy { $0 == 0 } ? .empty : .foreign
        }
        guard base.u64(checksumOffset) == XXH3_64bits(base, checksumOffset) else { return .damaged }
        guard base.u32(8) == Format.version else { return .unsupported(version: base.u32(8)) }
        var slot = HeaderSlot(
            storeID: RandomID(base, 16), sequence: base.u64(32), checkpoint: TransactionID(base.u64(40)),
            root: NodeReference(base, 48), freeMap: NodeReference(base, 72), pageCount: base.u64(96),
            logRequired: base.u32(12) == 1, salt: RandomID(base, 104), logHalf: base.u32(120), flags: base.u32(124))
        slot.logReach = base.u64(reachOffset)
        return base.u32(12) <= 1 && base.u32(indexOffset) == UInt32(index) && slot.isPlausible
            ? .valid(slot) : .damaged
    }

    /// Whether the fields are consistent.
    private var isPlausible: Bool {
        // Incrementing either never overflows. Only a store without a version has no root.
        guard sequence < Format.versionLimit, checkpoint.rawValue < Format.versionLimit,
            root.isNull == (checkpoint.rawValue == 0)
        else {
            return false
        }
        // The checkpoint noted the reach when it began, before the log had a newer record.
        guard logReach <= (logRequired ? checkpoint.rawValue : 0) else { return false }
        guard logHalf <= 1, flags <= Self.withoutLog, pageCount >= UInt64(Format.firstDataPage),
            pageCount <= UInt64(Format.arenaBit)
        else { return false }
        if !root.isNull && !root.is(.root) { return false }
        if !freeMap.isNull && !freeMap.is(.freeMapRoot) && !freeMap.is(.freeMap) { return false }
        return [root, freeMap].allSatisfy { reference in
            if reference.isNull { return true }
            return reference.page >= Format.firstDataPage && reference.birth < Format.versionLimit
                && UInt64(reference.page) + UInt64(reference.pages) <= pageCount
        }
    }

    /// Whether both name the same state of the data file.
    package func hasSameState(as other: HeaderSlot) -> Bool {
        storeID == other.storeID && checkpoint == other.checkpoint && root == other.root && freeMap == other.freeMap
            && pageCount == other.pageCount
    }
}

extension HeaderSlot {
    /// The slot to start from.
    package struct Choice: Equatable, Sendable {
        package var slot: HeaderSlot
        /// 0 or 1. The next slot overwrites the other one.
        package var index: Int
        package var other: Decoded

        /// The other place is unreadable, so it may have held a newer slot.
        ///
        /// A clean slot then does not prove that there is nothing to replay. A log with this store's id that is based
        /// on the slot's checkpoint has to be replayed, and one with a newer base means corruption;
        /// ``LogFile/header(fileSystem:path:)`` reads the log's id and base.
        package var isOtherLost: Bool {
            if case .valid = other { return false }
            return true
        }

        /// Both slots name the same version, and neither requires a log.
        package var isClean: Bool {
            guard case .valid(let second) = other else { return false }
            return slot.isClean && !second.logRequired && slot.hasSameState(as: second)
        }
    }

    /// The newest valid slot; nil if both are empty, as in a file that was just made.
    ///
    /// - Throws: `notAStore`, `keyRequired`, `unsupportedFormat` (if either slot is intact and of another version),
    ///   `corrupt` with `header` (no valid slot) or `slotsDiffer` (see invariants 3 and 4, and slots of two stores in
    ///   one file).
    package static func choose(_ a: Decoded, _ b: Decoded, path: String) throws(StorageError) -> Choice? {
        switch SlotKinds(a.kind, b.kind).answer {
        case .compare: break
        case .first: if case .valid(let slot) = a { return Choice(slot: slot, index: 0, other: b) }
        case .second: if case .valid(let slot) = b { return Choice(slot: slot, index: 1, other: a) }
        case .newStore: return nil
        case .keyRequired: throw .keyRequired(path: path)
        case .otherVersion(let index):
            if case .unsupported(let version) = index == 0 ? a : b {
                throw .unsupportedFormat(path: path, version: version & ~SealedSlot.versionBit)
            }
        case .damaged(let index): throw .corrupt(page: PageNumber(UInt32(index)), offset: 0, reason: .header)
        case .notAStore: throw .notAStore(path: path)
        }
        guard case .valid(let first) = a, case .valid(let second) = b else { throw .notAStore(path: path) }
        let takesFirst = first.sequence >= second.sequence
        let facts = takesFirst ? SlotFacts(newer: first, older: second) : SlotFacts(newer: second, older: first)
        if !facts.mayStandTogether {
            throw .corrupt(page: PageNumber(takesFirst ? 1 : 0), offset: 0, reason: .slotsDiffer)
        }
        return takesFirst ? Choice(slot: first, index: 0, other: b) : Choice(slot: second, index: 1, other: a)
    }
}
