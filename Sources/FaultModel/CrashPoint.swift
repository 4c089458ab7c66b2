/// Every disk that a loss of power may leave behind at one moment.
///
/// A state is a mask with a bit per sector of each undecided write, a bit per undecided size change, and a bit per
/// undecided change of a name, oldest operation first. Within one operation: sectors in order, then the size. Bits
/// whose forerunner is missing (an earlier size of the same file, an earlier change of the same name) have no effect.
package struct CrashPoint: Sendable {
    /// An undecided or durable operation with the bits that decide it.
    struct Effect: Sendable {
        var operation: PendingOperation
        /// One per sector; empty when on disk for certain.
        var dataBits: Range<Int>
        var sizeBit: Int?
        var entryBit: Int?
        /// Bits that must be set for `sizeBit` or `entryBit` to count.
        var forerunners: [Int] = []

        var isCertain: Bool { operation.fate == .durable }
        /// All bits of the operation.
        var bits: Range<Int> {
            let end = (sizeBit ?? entryBit).map { $0 + 1 } ?? dataBits.upperBound
            return dataBits.lowerBound..<end
        }
    }

    /// How many operations had been asked for.
    package let operation: Int
    let durable: DiskImage
    /// Oldest first.
    let effects: [Effect]
    /// Bits that a mask can have.
    package let bitCount: Int

    /// Prepares the states after the operations that `model` has seen.
    package init(_ model: DiskModel) {
        operation = model.operations
        var base = model.durable
        _ = base.digest()  // Kept in the image: a state then digests only the pages that differ.
        durable = base
        var effects: [Effect] = []
        var next = 0
        var lastSize: [Inode: Int] = [:]
        var lastName: [String: Int] = [:]
        for pending in model.pending {
            var effect = Effect(operation: pending, dataBits: next..<next)
            if !effect.isCertain {
                effect.dataBits = next..<(next + (pending.data?.sectorCount ?? 0))
                next = effect.dataBits.upperBound
                if pending.size != nil, let inode = pending.inode {
                    effect.sizeBit = next
                    if let forerunner = lastSize[inode] { effect.forerunners = [forerunner] }
                    lastSize[inode] = next
                    next += 1
                } else if let entry = pending.entry {
                    effect.entryBit = next
                    effect.forerunners = Set(entry.names.compactMap { lastName[$0] }).sorted()
                    for name in entry.names { lastName[name] = next }
                    next += 1
                }
            } else if pending.size != nil, let inode = pending.inode {
                lastSize[inode] = nil
            }
            effects.append(effect)
        }
        self.effects = effects
        bitCount = next
    }

    /// The mask of the same state with only bits that have an effect.
    package func normalized(_ mask: StateMask) -> StateMask {
        var result = mask
        for effect in effects {
            guard let bit = effect.sizeBit ?? effect.entryBit, result[bit] else { continue }
            if !effect.forerunners.allSatisfy({ result[$0] }) { result[bit] = false }
        }
        for bit in bitCount..<max(bitCount, result.width) { result[bit] = false }
        return result
    }

    /// Builds the disk of a state.
    /// Complexity: O(pages written since the last syncs), and the names.
    package func image(of mask: StateMask) -> DiskImage {
        let mask = normalized(mask)
        var image = durable
        var sizes: [Inode: Int64] = [:]
        for effect in effects {
            let operation = effect.operation
            if let inode = operation.inode {
                if sizes[inode] == nil { sizes[inode] = image.files[inode, default: FileImage()].size }
                if let data = operation.data {
                    put(data, of: effect, mask, into: &image.files[inode, default: FileImage()])
                }
                if let size = operation.size, effect.sizeBit.map({ mask[$0] }) ?? true {
                    if size.after < size.before { image.files[inode, default: FileImage()].setSize(size.after) }
                    sizes[inode] = size.after
                }
            } else if let entry = operation.entry, effect.entryBit.map({ mask[$0] }) ?? true {
                entry.apply(to: &image.entries)
            }
        }
        for (inode, size) in sizes { image.files[inode, default: FileImage()].setSize(size) }
        return image
    }

    /// Puts the sectors that reached the disk, in as few runs as they make.
    private func put(_ data: PendingOperation.Data, of effect: Effect, _ mask: StateMask, into file: inout FileImage) {
        let sector = FileImage.sectorSize
        data.content.withUnsafeBytes { content in
            var start = 0
            while start < data.sectorCount {
                let isKept = effect.isCertain || mask[effect.dataBits.lowerBound + start]
                var end = start + 1
                while end < data.sectorCount,
                    effect.isCertain || mask[effect.dataBits.lowerBound + end] == isKept
                { end += 1 }
                if isKept {
                    let run = UnsafeRawBufferPointer(rebasing: content[(start * sector)..<(end * sector)])
                    file.put(run, at: Int64((data.firstSector + start) * sector))
                }
                start = end
            }
        }
    }
}
