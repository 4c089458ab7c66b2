import Seeds

/// Damage to one place of closed files, as a failing medium causes it.
///
/// The canonical form is `bit:N` (bit N % 8 of byte N / 8), or the fault and a byte: `zero:N`, `age:N`, `cut:N`; of two
/// pages `swap:A,B` and `misdirect:A,B`, by their first bytes. Bytes are counted over all files (``DamagedFiles``).
package struct FileDamage: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// An inverted bit.
        case flip
        /// A page of zeros: a lost write.
        case zero
        /// Two swapped pages of a file.
        case swap
        /// A page with its content from an older copy: a lost write.
        case age
        /// A file that is truncated at a byte.
        case cut
        /// A page overwritten with the content of another: a misdirected write.
        case misdirect

        /// The word at the beginning of its addresses.
        package var word: String { self == .flip ? "bit" : rawValue }
        package var hasTwoPlaces: Bool { self == .swap || self == .misdirect }
    }

    package let kind: Kind
    /// The byte; for a flip the bit.
    package let position: Int
    /// For a swap the other page; for a misdirected write the overwritten page.
    package let other: Int

    package init(_ kind: Kind, _ position: Int, _ other: Int = 0) {
        self.kind = kind
        self.position = position
        self.other = other
    }

    /// The first byte that changes.
    package var byte: Int {
        switch kind {
        case .flip: position / 8
        case .misdirect: other
        case .swap: min(position, other)
        case .zero, .age, .cut: position
        }
    }

    package var description: String {
        "\(kind.word):\(position)" + (kind.hasTwoPlaces ? ",\(other)" : "")
    }

    /// Parses the canonical form; nil for any other text.
    package init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"),
            let kind = Kind.allCases.first(where: { $0.word == text[..<colon] })
        else { return nil }
        let numbers = text[text.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false)
            .compactMap { Int($0) }
        guard numbers.count == (kind.hasTwoPlaces ? 2 : 1), numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(kind, numbers[0], kind.hasTwoPlaces ? numbers[1] : 0)
        guard description == text else { return nil }
    }
}

/// The effect of a damage: overwritten bytes, and the new end of the file.
package struct FileChange: Equatable, Sendable {
    package struct Patch: Equatable, Sendable {
        /// In its file.
        package var offset: Int
        package var bytes: [UInt8]
    }

    /// The index of the file.
    package var file: Int
    package var patches: [Patch] = []
    /// nil: unchanged.
    package var length: Int?

    /// Whether `applied(to:)` changes anything. Complexity: O(patches).
    package func changes(_ bytes: [UInt8]) -> Bool {
        if let length, length < bytes.count { return true }
        return patches.contains { !bytes[$0.offset..<($0.offset + $0.bytes.count)].elementsEqual($0.bytes) }
    }

    package func applied(to bytes: [UInt8]) -> [UInt8] {
        var changed = bytes
        for patch in patches {
            changed.replaceSubrange(patch.offset..<(patch.offset + patch.bytes.count), with: patch.bytes)
        }
        return length.map { Array(changed.prefix($0)) } ?? changed
    }
}

extension DamagedFiles {
    /// The change of a damage. nil where it changes nothing, or its position does not exist.
    /// - Parameters:
    ///   - pageSize: for faults of pages.
    ///   - older: the same files, in the same order, at an earlier time.
    package func change(_ damage: FileDamage, pageSize: Int, older: DamagedFiles? = nil) -> FileChange? {
        guard let index = index(at: damage.byte) else { return nil }
        let file = files[index]
        let offset = damage.byte - file.start
        var change = FileChange(file: index)
        switch damage.kind {
        case .flip:
            change.patches = [.init(offset: offset, bytes: [file.bytes[offset] ^ 1 << UInt8(damage.position % 8)])]
        case .cut:
            change.length = offset
        case .zero:
            let page = page(at: damage.position, size: pageSize)
            change.patches = [.init(offset: offset, bytes: [UInt8](repeating: 0, count: page.count))]
        case .age:
            guard let older, older.files.count == files.count, offset < older.files[index].bytes.count else {
                return nil
            }
            let old = older.files[index].bytes[offset...].prefix(page(at: damage.position, size: pageSize).count)
            change.patches = [.init(offset: offset, bytes: Array(old))]
        case .swap, .misdirect:
            guard let patches = exchange(damage, in: index, pageSize: pageSize) else { return nil }
            change.patches = patches
        }
        return change.changes(file.bytes) ? change : nil
    }

    /// Two whole pages of one file.
    private func exchange(_ damage: FileDamage, in index: Int, pageSize: Int) -> [FileChange.Patch]? {
        let pages = [damage.position, damage.other]
        guard pages.allSatisfy({ self.index(at: $0) == index }) else { return nil }
        let bytes = pages.map { page(at: $0, size: pageSize) }
        guard bytes.allSatisfy({ $0.count == pageSize }), abs(pages[0] - pages[1]) >= pageSize else { return nil }
        let start = files[index].start
        let hit = FileChange.Patch(offset: pages[1] - start, bytes: Array(bytes[0]))
        if damage.kind == .misdirect { return [hit] }
        return [hit, FileChange.Patch(offset: pages[0] - start, bytes: Array(bytes[1]))]
    }

    // MARK: Possible damages

    /// `count` different damages of that kind that change something, by the seed; all of them where `count` is nil. For
    /// swaps and misdirected writes, all are those of each page with the next one.
    /// Complexity: O(bytes).
    package func damages(
        _ kind: FileDamage.Kind, count: Int?, pageSize: Int, older: DamagedFiles?, spread: Spread = .files,
        random: inout RandomStream
    ) -> [FileDamage] {
        switch kind {
        case .flip, .cut:
            return places(kind, count: count, pageSize: pageSize, spread, random: &random)
        case .zero, .age:
            let candidates = pages(of: pageSize).map { FileDamage(kind, $0) }
            return draw(count, of: candidates, pageSize: pageSize, older: older, random: &random)
        case .swap, .misdirect:
            let whole = pages(of: pageSize).filter { page(at: $0, size: pageSize).count == pageSize }
            guard let count else {
                let next = whole.map { FileDamage(kind, $0, $0 + pageSize) }
                return draw(nil, of: next, pageSize: pageSize, older: nil, random: &random)
            }
            return pairs(kind, count: count, of: whole, pageSize: pageSize, random: &random)
        }
    }

    private func places(
        _ kind: FileDamage.Kind, count: Int?, pageSize: Int, _ spread: Spread, random: inout RandomStream
    ) -> [FileDamage] {
        let scale = kind == .flip ? 8 : 1
        if count == 0 { return [] }
        var chosen = Set(positions(count: count ?? 0, scale: scale, spread: spread, random: &random))
        // A file is most likely truncated at a page boundary.
        if kind == .cut, let count {
            let boundaries = pages(of: pageSize)
            let order = random.permutation(of: boundaries.count).prefix(max(1, count / 2))
            let drawn = chosen.sorted()
            let kept = random.permutation(of: drawn.count).prefix(max(0, count - order.count)).map { drawn[$0] }
            chosen = Set(order.map { boundaries[$0] } + kept)
        }
        return chosen.sorted().map { FileDamage(kind, $0) }
    }

    private func draw(
        _ count: Int?, of candidates: [FileDamage], pageSize: Int, older: DamagedFiles?, random: inout RandomStream
    ) -> [FileDamage] {
        let changing = candidates.filter { change($0, pageSize: pageSize, older: older) != nil }
        guard let count, count < changing.count else { return changing }
        return random.permutation(of: changing.count).prefix(count).sorted().map { changing[$0] }
    }

    private func pairs(
        _ kind: FileDamage.Kind, count: Int, of whole: [Int], pageSize: Int, random: inout RandomStream
    ) -> [FileDamage] {
        var chosen: Set<FileDamage> = []
        guard whole.count > 1 else { return [] }
        // Pages may all be equal, and files may have one page each.
        for _ in 0..<(count * 8) where chosen.count < count {
            let one = whole[random.below(whole.count)]
            let other = whole[random.below(whole.count)]
            // A swap has only one spelling.
            let isTurned = kind == .swap && one > other
            let damage = FileDamage(kind, isTurned ? other : one, isTurned ? one : other)
            if change(damage, pageSize: pageSize) != nil { chosen.insert(damage) }
        }
        return chosen.sorted { ($0.position, $0.other) < ($1.position, $1.other) }
    }
}
