/// What one owner of writing leaves to the next: what it knows and the files do not say.
///
/// Its last checkpoint says the rest. Words of 8 bytes: sequence of the slot in force, then per extent page and pages,
/// birth, death. It never outlives the processes that share a store, so it has no version of its own: the process
/// table's covers it.
struct HandOver {
    /// Of the slot that was in force.
    var sequence: UInt64
    /// Dead extents that older versions still need.
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

    /// Reads what ``encode()`` wrote; nil when it is anything else.
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
