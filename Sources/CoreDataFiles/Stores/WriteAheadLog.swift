/// The state of an SQLite write-ahead log, by its checksums: which frames the next open will read.
package struct WriteAheadLog: Sendable, Equatable {
    package enum State: String, Sendable {
        /// No file or an empty one: the store itself is complete.
        case empty
        /// Frames with commits, which belong to the store.
        case live
        /// Its first frame does not match its header: a checkpoint has copied everything to the store.
        case stale
        /// Its header is invalid.
        case damaged
    }

    package var state = State.empty
    /// Frames up to the last commit.
    package var committedFrames = 0
    /// All frames of the file, valid or not.
    package var frames = 0

    package init() {}

    /// - Parameter bytes: the whole file.
    package init(_ bytes: UnsafeRawBufferPointer, pageSize: Int) {
        guard bytes.count >= 32 else {
            state = bytes.isEmpty ? .empty : .damaged
            return
        }
        let magic = Self.big(bytes, 0)
        guard magic & ~1 == 0x377F_0682, Self.big(bytes, 4) == 3_007_000, Int(Self.big(bytes, 8)) == pageSize else {
            state = .damaged
            return
        }
        let isBig = magic & 1 == 1
        var sum = Self.sum(bytes, 0..<24, start: (0, 0), isBig: isBig)
        guard sum.0 == Self.big(bytes, 24), sum.1 == Self.big(bytes, 28) else {
            state = .damaged
            return
        }
        let size = 24 + pageSize
        frames = (bytes.count - 32 + size - 1) / size
        var place = 32
        var valid = 0
        while bytes.count - place >= size {
            guard Self.big(bytes, place + 8) == Self.big(bytes, 16), Self.big(bytes, place + 12) == Self.big(bytes, 20)
            else { break }
            sum = Self.sum(bytes, place..<place + 8, start: sum, isBig: isBig)
            sum = Self.sum(bytes, place + 24..<place + size, start: sum, isBig: isBig)
            guard sum.0 == Self.big(bytes, place + 16), sum.1 == Self.big(bytes, place + 20) else { break }
            valid += 1
            if Self.big(bytes, place + 4) != 0 { committedFrames = valid }
            place += size
        }
        state = committedFrames > 0 ? .live : frames > 0 ? .stale : .empty
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
