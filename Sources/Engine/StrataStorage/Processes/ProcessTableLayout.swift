internal import StrataFiles

/// A word of 4 bytes in the lock file, by its offset.
struct Word32: Sendable {
    let offset: Int
    init(_ offset: Int) { self.offset = offset }
}

/// A word of 8 bytes in the lock file, by its offset.
struct Word64: Sendable {
    let offset: Int
    init(_ offset: Int) { self.offset = offset }
}

extension SharedMemory {
    subscript(word: Word32) -> UInt32 {
        get { load32(word.offset) }
        set { store32(word.offset, newValue) }
    }

    subscript(word: Word64) -> UInt64 {
        get { load64(word.offset) }
        set { store64(word.offset, newValue) }
    }
}

extension ProcessTable {
    /// Offsets of the table's words. docs/file-format.md lists them.
    enum Layout {
        static let magicNumber: UInt64 = 0x314B_434C_5453_5453
        static let versionNumber: UInt32 = 4

        static let magic = Word64(64)
        static let version = Word32(72)
        static let slotCount = Word32(76)
        static let device = Word64(80)
        static let inode = Word64(88)
        static let session = Word64(96)
        static let poison = Word32(120)
        static let usesLog = Word32(124)
        /// ``ProcessSlots`` keeps a mark here while a single process is attached.
        static let alone = Word32(128)
        /// 0 while the tail holds a hand-over block of the previous owner.
        static let phase = Word32(132)
        /// Slot of the owner, plus 1.
        static let owner = Word32(136)
        static let lastTicket = Word64(144)
        /// Counts how often a process became the owner of writing.
        static let ownerships = Word64(152)
        static let blockBytes = Word64(160)
        static let blockChecksum = Word64(168)
        static let publication = Word64(192)
        /// Counts recoveries by a new owner: after the death of an owner, or if the previous one left no block.
        static let deaths = Word64(768)
        static let lastGrant = Word64(840)
        /// ``Durability`` of the owner, plus 1.
        static let durability = Word32(848)
        /// Counts changes of the damage record beside the store.
        static let damageChanges = Word32(852)
        /// Base version of the last grant.
        static let base = Version(base: 896)

        /// Number of records of publications: publication `n` is in record `n` modulo this.
        static let versions: UInt64 = 8
        /// The results of this many recoveries are kept.
        static let deathsKept: UInt64 = 8
        static let slots = 32
        static let pinsPerSlot = (slotBytes - Slot.pinsOffset) / 8
        /// The first of them are for readers that pin the newest version without a lock. A power of two.
        static let readerPins = 16
        /// Versions that a process can keep. One more of the others is for the base of a guest's turn.
        static let mostVersions = pinsPerSlot - readerPins - 1
        /// Size of the table in bytes. After it the file has a tail: a hand-over block or a guest's record.
        static let bytes = slotsOffset + slots * slotBytes

        private static let slotsOffset = 4096
        private static let slotBytes = 8192

        static func slot(_ index: Int) -> Slot { Slot(base: slotsOffset + index * slotBytes) }
        static func version(_ number: UInt64) -> Version { Version(base: 256 + Int(number % versions) * 64) }
        /// The version that recovery number `number` brought back.
        static func recovered(_ number: UInt64) -> Word64 { Word64(776 + 8 * Int(number % deathsKept)) }

        /// A published version.
        struct Version {
            let base: Int
            var version: Word64 { Word64(base) }
            /// Page, pages and kind of the root.
            var place: Word64 { Word64(base + 8) }
            var rootChecksum: Word64 { Word64(base + 16) }
            var birth: Word64 { Word64(base + 24) }
            /// ``FileExtent``: pages of the file, and of the contents.
            var filePages: Word64 { Word64(base + 32) }
            /// Checksum of the words before and of the record's number.
            var checksum: Word64 { Word64(base + 40) }
        }

        /// A process slot.
        struct Slot {
            static let pinsOffset = 128
            let base: Int
            /// 1 when it is taken.
            var state: Word32 { Word32(base) }
            /// Wakes the attendant.
            var bell: Word32 { Word32(base + 4) }
            /// Number of the process's request for a turn; 0 if there is none.
            var ticket: Word64 { Word64(base + 8) }
            /// 1 if the attendant is rung at each publication.
            var watches: Word32 { Word32(base + 16) }
            var pinsUsed: Word32 { Word32(base + 20) }
            /// Wakes threads that wait for a turn, an answer, or a version.
            var guestBell: Word32 { Word32(base + 24) }
            /// Threads of the process that wait for a publication.
            var waiters: Word32 { Word32(base + 28) }
            /// Number and state of the process's last grant: ``GrantWord``.
            var grant: Word64 { Word64(base + 32) }
            /// Counts the attendant's signs of life: ``SilenceWatch``.
            var signs: Word32 { Word32(base + 40) }
            var flags: Word32 { Word32(base + 44) }
            var recordBytes: Word32 { Word32(base + 48) }
            var recordChecksum: Word64 { Word64(base + 56) }
            /// Why the owner refused the process's record: a code and two numbers. For a refused request for ownership
            /// only the numbers count: errno, and the request's ticket.
            var failure: Word32 { Word32(base + 64) }
            var failureFirst: Word64 { Word64(base + 72) }
            var failureSecond: Word64 { Word64(base + 80) }
            /// A pinned version, plus 1.
            func pin(_ index: Int) -> Word64 { Word64(base + Self.pinsOffset + 8 * index) }
        }

        /// Flag of a waiting process: it needs ownership, a grant is not enough.
        static let wantsOwnership: UInt32 = 1
        /// Flag of a guest: other threads of its process wait for its turn to end.
        static let isInHurry: UInt32 = 2
        /// Flag of a waiting process: the owner cannot hand ownership over; the slot holds the reason.
        static let isRefused: UInt32 = 4
    }
}
