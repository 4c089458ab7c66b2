import CStrataShim

/// A bitmap over a group's rows: main slots, and inserted rows.
///
/// Bits without a row are zero, except in the word behind each part, which is never read.
struct Selection {
    let main: UnsafeMutablePointer<UInt64>
    let extra: UnsafeMutablePointer<UInt64>
    let mainWords: Int
    let extraWords: Int

    static func words(_ rows: Int) -> Int { (rows + 63) >> 6 }

    @inline(__always) var isEmpty: Bool {
        var any: UInt64 = 0
        for word in 0..<mainWords { any |= main[word] }
        for word in 0..<extraWords { any |= extra[word] }
        return any == 0
    }

    var count: Int { strata_bits_count(main, mainWords) + strata_bits_count(extra, extraWords) }

    func clear() {
        main.update(repeating: 0, count: mainWords)
        extra.update(repeating: 0, count: extraWords)
    }

    /// Selects every row, deleted ones included.
    func fill(_ group: Group) {
        clear()
        strata_bits_fill(main, 0, group.rows)
        strata_bits_fill(extra, 0, group.inserted)
    }

    func removeDeleted(_ group: Group) {
        for index in 0..<group.deleted {
            let slot = group.deletedSlot(index)
            main[slot >> 6] &= ~(1 << UInt64(slot & 63))
        }
    }

    func formIntersection(_ other: Selection) {
        for word in 0..<mainWords { main[word] &= other.main[word] }
        for word in 0..<extraWords { extra[word] &= other.extra[word] }
    }

    func formUnion(_ other: Selection) {
        for word in 0..<mainWords { main[word] |= other.main[word] }
        for word in 0..<extraWords { extra[word] |= other.extra[word] }
    }

    /// Inverts the selection; `other` is overwritten.
    func invert(_ group: Group, spare other: Selection) {
        other.fill(group)
        for word in 0..<mainWords { main[word] ^= other.main[word] }
        for word in 0..<extraWords { extra[word] ^= other.extra[word] }
    }

    @inline(__always) subscript(slot: Int) -> Bool { main[slot >> 6] >> UInt64(slot & 63) & 1 != 0 }
}

/// Buffers for the selections of a filter's parts, reused for every group.
///
/// Concurrency: confined to its owner.
final class SelectionStack {
    private let depth: Int
    @exclusivity(unchecked) private var words: UnsafeMutablePointer<UInt64>
    @exclusivity(unchecked) private var capacity = 0
    @exclusivity(unchecked) private var mainWords = 0
    @exclusivity(unchecked) private var extraWords = 0

    /// - Parameter depth: number of selections in use at once.
    init(depth: Int) {
        self.depth = depth
        words = .allocate(capacity: 1)
    }

    deinit { words.deallocate() }

    private var stride: Int { mainWords + extraWords + 2 }
    /// Unread words behind the last selection. Slots and row counts have 16 bits, so even if another program overwrites
    /// a group while it is read, no bit is set behind these words.
    private static let slack = 2 * (1 << 16) / 64

    func prepare(_ group: Group) {
        mainWords = Selection.words(group.rows)
        extraWords = Selection.words(group.inserted)
        let needed = stride * (depth + 1) + Self.slack
        if needed <= capacity { return }
        words.deallocate()
        words = .allocate(capacity: needed)
        capacity = needed
    }

    /// The `level`-th selection; its contents are undefined initially.
    @inline(__always)
    subscript(level: Int) -> Selection {
        precondition(level < depth)
        let base = words + level * stride
        return Selection(
            main: base, extra: base + mainWords + 1, mainWords: mainWords, extraWords: extraWords)
    }

    /// Words for one segment's or patch's values: for at most as many rows as the group has.
    var spare: UnsafeMutablePointer<UInt64> { words + depth * stride }
}
