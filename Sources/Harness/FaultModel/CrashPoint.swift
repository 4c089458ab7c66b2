/// Every disk state that a power failure at one moment may leave.
///
/// A state is a mask with a bit per sector of each undecided write, a bit per undecided size change, and a bit per
/// undecided change of a name, oldest operation first. Within one operation: sectors in order, then the size. A bit
/// without its predecessor (an earlier size of the same file, an earlier change of the same name) has no effect.
package struct CrashPoint: Sendable {
    /// An undecided or durable operation with the bits that decide it.
    struct Effect: Sendable {
        var operation: PendingOperation
        /// The file's index in `touched`; nil for changes of names.
        var file: Int?
        /// One per sector; empty when certainly on disk.
        var dataBits: Range<Int>
        var sizeBit: Int?
        var entryBit: Int?
        /// Bits that must be set for `sizeBit` or `entryBit` to have an effect.
        var forerunners: [Int] = []
        /// With a journal: indexes of the earlier writes that are on disk if this change is.
        var rest: [Int] = []
        /// The parts of the write in each page of its file.
        var pieces: [Piece] = []

        /// A write beyond the end of its file, whose size is not certainly on disk.
        var lengthens: Bool { sizeBit != nil && operation.lengthens }
        /// The bit of a change in a journal; nil for one that is certainly on disk, and for other changes.
        var journalBit: Int? { operation.isJournalled ? sizeBit ?? entryBit : nil }
        /// Whether contents or name are on disk for any mask.
        var isCertain: Bool { operation.fate == .durable }
        /// All bits of the operation.
        var bits: Range<Int> {
            let end = (sizeBit ?? entryBit).map { $0 + 1 } ?? dataBits.upperBound
            return dataBits.lowerBound..<end
        }
    }

    /// The part of a write in one page of its file.
    struct Piece: Sendable {
        /// Sectors of the write.
        var sectors: Range<Int>
        /// When the piece is a whole page: its number and contents, which images share.
        var page: (number: Int, contents: FileImage.Page)?
    }

    /// The number of operations before the power failure.
    package let operation: Int
    let durable: DiskImage
    /// Oldest first.
    let effects: [Effect]
    /// The files with pending operations.
    private let touched: [Inode]
    /// Number of bits of a mask.
    package let bitCount: Int

    /// Prepares the states after the operations of `model`.
    package init(_ model: DiskModel) {
        operation = model.operations
        var base = model.durable
        _ = base.digest()  // Kept in the image: a state then digests only the pages that differ.
        durable = base
        let touched = Set(model.pending.compactMap(\.inode)).sorted()
        self.touched = touched
        var effects: [Effect] = []
        var next = 0
        var lastSize: [Inode: Int] = [:]
        var lastName: [String: Int] = [:]
        var lengthening: [Inode: [Int]] = [:]
        for pending in model.pending {
            var effect = Effect(operation: pending, dataBits: next..<next)
            effect.file = pending.inode.flatMap { touched.firstIndex(of: $0) }
            if let data = pending.data { effect.pieces = Self.pieces(of: data) }
            if pending.data != nil, !effect.isCertain {
                effect.dataBits = next..<(next + (pending.data?.sectorCount ?? 0))
                next = effect.dataBits.upperBound
            }
            if pending.size != nil, let inode = pending.inode {
                if pending.isSizeDurable {
                    lastSize[inode] = nil
                } else {
                    effect.sizeBit = next
                    if let forerunner = lastSize[inode] { effect.forerunners = [forerunner] }
                    lastSize[inode] = next
                    next += 1
                }
            } else if let entry = pending.entry, !effect.isCertain {
                effect.entryBit = next
                effect.forerunners = Set(entry.names.compactMap { lastName[$0] }).sorted()
                for name in entry.names { lastName[name] = next }
                next += 1
            }
            if model.profile.hasJournal {
                if let inode = pending.rest { effect.rest = lengthening.removeValue(forKey: inode) ?? [] }
                if effect.lengthens, let inode = pending.inode {
                    lengthening[inode, default: []].append(effects.count)
                }
            }
            effects.append(effect)
        }
        self.effects = effects
        bitCount = next
    }

    /// The mask of the same state with only effective bits.
    package func normalized(_ mask: StateMask) -> StateMask {
        var result = mask
        for effect in effects {
            guard let bit = effect.sizeBit ?? effect.entryBit, result[bit] else { continue }
            if !effect.forerunners.allSatisfy({ result[$0] }) { result[bit] = false }
        }
        result.set(bitCount..<max(bitCount, result.width), to: false)
        return result
    }

    /// Builds the disk of a state.
    /// Complexity: O(pages written since the last syncs), and the names.
    package func image(of mask: StateMask) -> DiskImage {
        let mask = normalized(mask)
        var image = durable
        // Removed from the dictionary while they change: a lookup per write would dominate the time.
        var files = touched.map { image.files.removeValue(forKey: $0) ?? FileImage() }
        var sizes = files.map(\.size)
        for effect in effects {
            if let file = effect.file {
                if let data = effect.operation.data { put(data, of: effect, mask, into: &files[file]) }
                if let size = effect.operation.size, effect.sizeBit.map({ mask[$0] }) ?? true {
                    if size.after < size.before { files[file].setSize(size.after) }
                    sizes[file] = size.after
                }
            } else if let entry = effect.operation.entry, effect.entryBit.map({ mask[$0] }) ?? true {
                entry.apply(to: &image.entries)
            }
        }
        for (file, inode) in touched.enumerated() {
            files[file].setSize(sizes[file])
            image.files[inode] = files[file]
        }
        return image
    }

    /// Writes the sectors that reached the disk, in as few runs as possible.
    private func put(_ data: PendingOperation.Data, of effect: Effect, _ mask: StateMask, into file: inout FileImage) {
        func isKept(_ sector: Int) -> Bool { effect.isCertain || mask[effect.dataBits.lowerBound + sector] }
        let size = FileImage.sectorSize
        for piece in effect.pieces {
            if let (number, contents) = piece.page, piece.sectors.allSatisfy(isKept) {
                file.putPage(number, contents)
                continue
            }
            var start = piece.sectors.lowerBound
            while start < piece.sectors.upperBound {
                var end = start
                while end < piece.sectors.upperBound, isKept(end) { end += 1 }
                if end > start {
                    data.content.withUnsafeBytes { content in
                        let run = UnsafeRawBufferPointer(rebasing: content[(start * size)..<(end * size)])
                        file.put(run, at: Int64((data.firstSector + start) * size))
                    }
                }
                start = end + 1
            }
        }
    }

    private static func pieces(of data: PendingOperation.Data) -> [Piece] {
        let perPage = FileImage.pageSize / FileImage.sectorSize
        var pieces: [Piece] = []
        var start = 0
        while start < data.sectorCount {
            let place = data.firstSector + start
            let end = min(data.sectorCount, start + perPage - place % perPage)
            var piece = Piece(sectors: start..<end)
            if end - start == perPage {
                let bytes = data.content[(start * FileImage.sectorSize)..<(end * FileImage.sectorSize)]
                piece.page = (place / perPage, FileImage.Page(Array(bytes)))
            }
            pieces.append(piece)
            start = end
        }
        return pieces
    }
}
