/// The state of an SQLite write-ahead log, by its checksums: which frames the next open will read.
package struct WriteAheadLog: Sendable, Equatable {
    package enum State: String, Sendable {
        /// No file, or one without frames: the store itself is complete.
        case empty
        /// Frames with commits, which belong to the store.
        case live
        /// It has frames, but no commit whose frames match its header: a checkpoint has copied everything to the store,
        /// or no commit was completed since.
        case stale
        /// Its header is invalid.
        case damaged
    }

    package var state = State.empty
    /// Frames up to the last commit.
    package var committedFrames = 0
    /// All frames of the file, valid or not.
    package var frames = 0

    /// The checksum so far, which each frame continues.
    private var sum: (UInt32, UInt32) = (0, 0)
    private var isBig = false
    /// The salt of the header; frames of an earlier log have another one.
    private var salt: (UInt32, UInt32) = (0, 0)
    private var validFrames = 0

    package init() {}

    package static let headerBytes = 32
    package static func frameBytes(pageSize: Int) -> Int { 24 + pageSize }

    package static func == (one: WriteAheadLog, other: WriteAheadLog) -> Bool {
        (one.state, one.committedFrames, one.frames) == (other.state, other.committedFrames, other.frames)
    }

    /// Takes the header. The caller then gives the frames that follow it to ``add(frame:)``, until that returns false.
    ///
    /// - Parameters:
    ///   - header: the first 32 bytes, fewer if the file is shorter.
    ///   - byteCount: of the whole file.
    package init(header: UnsafeRawBufferPointer, byteCount: Int64, pageSize: Int) {
        guard header.count >= Self.headerBytes else {
            state = header.isEmpty ? .empty : .damaged
            return
        }
        let magic = Self.big(header, 0)
        isBig = magic & 1 == 1
        sum = Self.sum(header, 0..<24, start: (0, 0), isBig: isBig)
        guard magic & ~1 == 0x377F_0682, Self.big(header, 4) == 3_007_000, Int(Self.big(header, 8)) == pageSize,
            sum == (Self.big(header, 24), Self.big(header, 28))
        else {
            state = .damaged
            return
        }
        salt = (Self.big(header, 16), Self.big(header, 20))
        let size = Int64(Self.frameBytes(pageSize: pageSize))
        frames = Int((byteCount - Int64(Self.headerBytes) + size - 1) / size)
        state = frames > 0 ? .stale : .empty
    }

    /// - Returns: whether the frame belongs to this log. After one that does not, no later frame does.
    package mutating func add(frame: UnsafeRawBufferPointer) -> Bool {
        guard (Self.big(frame, 8), Self.big(frame, 12)) == salt else { return false }
        sum = Self.sum(frame, 0..<8, start: sum, isBig: isBig)
        sum = Self.sum(frame, 24..<frame.count, start: sum, isBig: isBig)
        guard sum == (Self.big(frame, 16), Self.big(frame, 20)) else { return false }
        validFrames += 1
        if Self.big(frame, 4) != 0 { (committedFrames, state) = (validFrames, .live) }
        return true
    }

    private static func big(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }

    private static func sum(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, start: (UInt32, UInt32), isBig: Bool
    ) -> (UInt32, UInt32) {
        var (first, second) = start
        var place = range.lowerBound
        while place + 8 <= range.upperBound {
            var one = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
            var two = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            if isBig {
                (one, two) = (UInt32(bigEndian: one), UInt32(bigEndian: two))
            } else {
                (one, two) = (UInt32(littleEndian: one), UInt32(littleEndian: two))
            }
            first = first &+ one &+ second
            second = second &+ two &+ first
            place += 8
        }
        return (first, second)
    }

    /// Committed frames that no checkpoint has copied, by the index beside the log (`-shm`); 0 without an index.
    package static func expectedFrames(_ index: UnsafeRawBufferPointer) -> Int {
        guard index.count >= 136 else { return 0 }
        func number(_ place: Int) -> UInt32 {
            UInt32(littleEndian: index.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        }
        // The two copies of the header agree unless a writer died in between.
        let isWhole = (0..<48).allSatisfy { index[$0] == index[48 + $0] }
        guard isWhole, number(0) == 3_007_000, index[12] == 1 else { return 0 }
        let committed = Int(number(16))
        return committed > Int(number(96)) ? committed : 0
    }
}
