/// State that one owner of writing passes to the next, and that is only in the owner's memory.
///
/// The last checkpoint has the rest. Layout: words of 8 bytes; the sequence of the header slot in force, then per
/// extent three words: page and pages, birth, death. A block never outlives the processes that share a store, so the
/// version number of the process table's layout covers its layout, too.
struct HandOver {
    /// Of the header slot in force.
    var sequence: UInt64
    /// Extents that the newest version does not reach, and an older, protected one does.
    var held: [Extent]

    func encode() -> [UInt8] {
        var words = [sequence]
        for extent in held {
            words += [UInt64(extent.page) | UInt64(extent.pages) << 32, extent.birth, extent.freed]
        }
        return words.withUnsafeBytes(Array.init)
    }

    init(sequence: UInt64, held: [Extent]) {
        self.sequence = sequence
        self.held = held
    }

    /// Decodes ``encode()``; nil if the bytes are not its output.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 8, (bytes.count - 8) % 24 == 0 else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self) }
        }
        sequence = word(0)
        held = (0..<(bytes.count - 8) / 24).map { index in
            let place = word(1 + 3 * index)
            return Extent(
                page: UInt32(truncatingIfNeeded: place), pages: UInt32(truncatingIfNeeded: place >> 32),
                birth: word(2 + 3 * index), freed: word(3 + 3 * index))
        }
        let versions = held.flatMap { [$0.birth, $0.freed] }
        guard sequence < Format.versionLimit, versions.allSatisfy({ $0 < Format.versionLimit }) else { return nil }
    }
}
