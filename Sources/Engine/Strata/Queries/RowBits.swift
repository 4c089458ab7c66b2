/// Ascending keys of rows, without duplicates, as a bit per key in chunks of adjacent keys.
///
/// For keys that are close to each other, as those of a class are: dense keys take an eighth of a byte each.
///
/// Complexity: O(chunks + words of a chunk) for a place, with small constants; a change costs a chunk.
struct RowBits {
    private struct Chunk {
        /// The keys' upper bits.
        let number: Int64
        var count = 0
        var words = [UInt64](repeating: 0, count: RowBits.chunkWords)
    }

    /// Ascending by number; none is empty.
    private var chunks: [Chunk] = []
    private(set) var count = 0

    private static let chunkBits: Int64 = 14
    private static let chunkWords = 1 << 8
    /// The bytes that a chunk takes, about, and those of a key in an array.
    private static let chunkSize = 8 * chunkWords + 64
    private static let keySize = 8

    init() {}

    /// Nil if an array takes less memory.
    init?(ascending keys: [Int64]) {
        var wanted = 0
        var last: Int64?
        for key in keys where key >> Self.chunkBits != last {
            last = key >> Self.chunkBits
            wanted += 1
        }
        guard wanted * Self.chunkSize <= keys.count * Self.keySize else { return nil }
        chunks.reserveCapacity(wanted)
        append(keys)
    }

    /// Appends ascending keys, all greater than the last one.
    mutating func append(_ keys: [Int64]) {
        for key in keys { put(1 << UInt64(Self.bit(key) & 63), at: key) }
    }

    /// Appends keys, a bit each from `first` on, all greater than the last one.
    mutating func append(_ bits: UnsafePointer<UInt64>, words: Int, from first: Int64) {
        let shift = UInt64(bitPattern: first & 63)
        for index in 0..<words where bits[index] != 0 {
            let key = first &+ Int64(64 * index)
            put(bits[index] << shift, at: key)
            if shift > 0 { put(bits[index] >> (64 - shift), at: key &+ 64) }
        }
    }

    /// Adds the keys of the word around `key`, which is in the last chunk or behind it.
    @inline(__always)
    private mutating func put(_ word: UInt64, at key: Int64) {
        if word == 0 { return }
        let number = key >> Self.chunkBits
        if chunks.last?.number != number { chunks.append(Chunk(number: number)) }
        let last = chunks.count - 1
        chunks[last].words[Self.bit(key) >> 6] |= word
        chunks[last].count += word.nonzeroBitCount
        count += word.nonzeroBitCount
    }

    /// Whether an array would take less memory.
    var isSparse: Bool { chunks.count * Self.chunkSize > count * Self.keySize }

    /// Whether an array would take much less memory by now.
    var isWasteful: Bool { chunks.count * Self.chunkSize > 4 * count * Self.keySize + (1 << 16) }

    @inline(__always)
    private static func bit(_ key: Int64) -> Int { Int(truncatingIfNeeded: key & ((1 << chunkBits) - 1)) }

    /// The first chunk that is not before a key's, and whether it is the key's.
    private func find(_ key: Int64) -> (chunk: Int, isThere: Bool) {
        let number = key >> Self.chunkBits
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return (low, low < chunks.count && chunks[low].number == number)
    }

    func contains(_ key: Int64) -> Bool {
        let (chunk, isThere) = find(key)
        if !isThere { return false }
        let bit = Self.bit(key)
        return chunks[chunk].words[bit >> 6] >> UInt64(bit & 63) & 1 != 0
    }

    /// The places of those of `keys` that are present. The keys ascend.
    /// - Complexity: O(chunks + keys and the words between them).
    func places(of keys: [Int64]) -> [(place: Int, key: Int64)] {
        var found: [(place: Int, key: Int64)] = []
        var before = 0
        var next = 0
        for chunk in chunks {
            while next < keys.count, keys[next] >> Self.chunkBits < chunk.number { next += 1 }
            if next == keys.count { break }
            var (word, within) = (0, 0)
            while next < keys.count, keys[next] >> Self.chunkBits == chunk.number {
                let bit = Self.bit(keys[next])
                while word < bit >> 6 {
                    within += chunk.words[word].nonzeroBitCount
                    word += 1
                }
                let mask: UInt64 = 1 << UInt64(bit & 63)
                if chunk.words[word] & mask != 0 {
                    found.append((before + within + (chunk.words[word] & (mask - 1)).nonzeroBitCount, keys[next]))
                }
                next += 1
            }
            before += chunk.count
        }
        return found
    }

    /// Nil beyond the end.
    func key(at place: Int) -> Int64? {
        guard place >= 0, place < count else { return nil }
        var left = place
        for chunk in chunks {
            if left >= chunk.count {
                left -= chunk.count
                continue
            }
            for (index, word) in chunk.words.enumerated() {
                let ones = word.nonzeroBitCount
                if left >= ones {
                    left -= ones
                    continue
                }
                var word = word
                for _ in 0..<left { word &= word - 1 }
                return chunk.number << Self.chunkBits + Int64(64 * index + word.trailingZeroBitCount)
            }
        }
        return nil
    }

    /// Inserts a key; has no effect if it is present.
    mutating func insert(_ key: Int64) {
        let (place, isThere) = find(key)
        if !isThere { chunks.insert(Chunk(number: key >> Self.chunkBits), at: place) }
        let bit = Self.bit(key)
        let mask: UInt64 = 1 << UInt64(bit & 63)
        if chunks[place].words[bit >> 6] & mask != 0 { return }
        chunks[place].words[bit >> 6] |= mask
        chunks[place].count += 1
        count += 1
    }

    /// Removes a key; has no effect if it is not present.
    mutating func remove(_ key: Int64) {
        let (place, isThere) = find(key)
        if !isThere { return }
        let bit = Self.bit(key)
        let mask: UInt64 = 1 << UInt64(bit & 63)
        if chunks[place].words[bit >> 6] & mask == 0 { return }
        chunks[place].words[bit >> 6] &= ~mask
        chunks[place].count -= 1
        count -= 1
        if chunks[place].count == 0 { chunks.remove(at: place) }
    }

    var keys: [Int64] {
        var all: [Int64] = []
        all.reserveCapacity(count)
        for chunk in chunks {
            let first = chunk.number << Self.chunkBits
            for (index, word) in chunk.words.enumerated() {
                var word = word
                while word != 0 {
                    all.append(first + Int64(64 * index + word.trailingZeroBitCount))
                    word &= word - 1
                }
            }
        }
        return all
    }
}
