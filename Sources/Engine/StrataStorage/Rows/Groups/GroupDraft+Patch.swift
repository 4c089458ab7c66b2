/// Changes of values: as patches, in place in a segment in the arena, or folded into a segment.
extension GroupDraft {
    /// Outcome of ``fold(only:)``.
    enum Folding {
        case done
        /// There are no patches to fold.
        case nothing
        /// The segment must be cut anew or moved, which ``GroupEditor`` does.
        case refused
    }

    // MARK: Setting

    /// Sets a value of a row.
    /// - Returns: false, with the group unchanged, if there is no space, or too many patches.
    func set(_ column: Int, _ row: Int32, _ value: CellValue) throws(StorageError) -> Bool {
        let group = group
        let kind = layout.kinds[column]
        if row < 0 {
            return try set(
                base.u16(group.insertsOffset + 2 * column), index: Int(~row), kind: kind, frame: .roomy, to: value)
        }
        let slot = Int(row)
        let number = patchNumber(column)
        if let number {
            let patch = group.patch(number)
            if let place = patch.find(slot) {
                return try set(patch.segmentOffset, index: place, kind: kind, frame: .roomy, to: value)
            }
        }
        if try setMain(column, slot, value) { return true }
        if group.isSmall { return false }
        guard let number else { return addPatch(column, slot, value) }
        return try insertPatch(number, slot, value)
    }

    private func patchNumber(_ column: Int) -> Int? {
        for index in 0..<group.patched where group.patch(index).column == column { return index }
        return nil
    }

    /// Writes into the main rows' segment, if that is in this node or in another node in the arena.
    private func setMain(_ column: Int, _ slot: Int, _ value: CellValue) throws(StorageError) -> Bool {
        let group = group
        if group.segmentCount(column) == 0 { return false }
        let descriptor = group.descriptor(group.segmentIndex(column, slot))
        let kind = layout.kinds[column]
        let index = slot - descriptor.firstSlot
        if descriptor.node == Group.inThisNode {
            if group.isSmall { return try set(descriptor.offset, index: index, kind: kind, frame: .tight, to: value) }
            return Segment(base + descriptor.offset).kindCode == kind.rawValue
                && SegmentEdit.set(base + descriptor.offset, index, value)
        }
        let reference = group.reference(descriptor.node)
        guard reference.isInArena else { return false }
        let node = nodes.arena.pointer(reference.arenaIndex)
        let target = ownedSegment(node, descriptor.index)
        return Segment(target).kindCode == kind.rawValue
            && SegmentEdit.set(target, index, value, room: growth(node, target, reference.byteCount))
    }

    private func ownedSegment(_ node: UnsafeMutableRawPointer, _ index: Int) -> UnsafeMutableRawPointer {
        node + node.u16(SegmentNode.directoryOffset + 2 + 2 * index) * 8
    }

    /// Bytes by which a segment can grow in place: only one that is alone in its node can.
    private func growth(_ node: UnsafeMutableRawPointer, _ segment: UnsafeMutableRawPointer, _ bytes: Int) -> Int {
        SegmentNode.count(node) == 1 ? bytes - (segment - node) - Segment(segment).size : 0
    }

    // MARK: Patches

    private func addPatch(_ column: Int, _ slot: Int, _ value: CellValue) -> Bool {
        nodes.scratch.removeAll()
        let buffer = ColumnBuffer(layout.kinds[column], capacity: 1)
        value.insert(buffer, 0)
        let blob = nodes.scratch.encode(SegmentPlan(buffer, 0..<1, .roomy), buffer)
        if Group.patchSize + 8 + aligned8(blob.count) > room { return false }
        let entry = group.insertsOffset
        move(entry, by: Group.patchSize)
        base.put16(Group.Field.patched, group.patched + 1)
        let start = group.inserted > 0 ? base.u16(group.insertsOffset) : group.size
        move(start, by: 8 + aligned8(blob.count), keepsDeleted: true)
        base.put16(entry + Patch.Field.column, column)
        base.put16(entry + Patch.Field.count, 1)
        base.put16(entry + Patch.Field.slots, start)
        base.put16(entry + Patch.Field.segment, start + 8)
        base.put16(start, slot)
        (base + (start + 8)).copyMemory(from: blob.base, byteCount: blob.count)
        mark(slot)
        return true
    }

    private func insertPatch(_ number: Int, _ slot: Int, _ value: CellValue) throws(StorageError) -> Bool {
        let patch = group.patch(number)
        if patch.count >= nodes.limits.patches { return false }
        let kind = layout.kinds[patch.column]
        let place = Group.lowerBound(UnsafeRawPointer(base + patch.slotsOffset), patch.count, slot)
        let oldSlots = aligned8(2 * patch.count)
        let newSlots = aligned8(2 * patch.count + 2)
        let segment = patch.segment
        let oldSize = aligned8(segment.size)
        if segment.kindCode == kind.rawValue, SegmentEdit.takes(segment, value) {
            let newSize = aligned8(SegmentEdit.sizeWith(segment, value))
            if newSlots - oldSlots + newSize - oldSize > room { return false }
            move(patch.segmentOffset + oldSize, by: newSize - oldSize)
            SegmentEdit.insert(base + patch.segmentOffset, place, value)
        } else {
            nodes.scratch.removeAll()
            let blob = try encoded(patch.segmentOffset, kind: kind, frame: .roomy) { value.insert($0, place) }
            if newSlots - oldSlots + aligned8(blob.count) - oldSize > room { return false }
            _ = replace(patch.segmentOffset, with: blob)
        }
        move(patch.slotsOffset + oldSlots, by: newSlots - oldSlots)
        let slots = base + patch.slotsOffset
        (slots + 2 * (place + 1)).copyMemory(from: slots + 2 * place, byteCount: 2 * (patch.count - place))
        slots.put16(2 * place, slot)
        base.put16(group.patchesOffset + number * Group.patchSize + Patch.Field.count, patch.count + 1)
        mark(slot)
        return true
    }

    private func mark(_ slot: Int) {
        let bit = slot >> 3
        let at = Group.filterOffset + 8 * (bit >> 6)
        base.put64(at, base.u64(at) | 1 << UInt64(bit & 63))
    }

    // MARK: Folding

    /// Folds the patches of the segment with the most patch bytes into the segment, in the group's own node or in
    /// another one, of which the transaction makes a copy first unless it has one.
    func fold(only column: Int? = nil) throws(StorageError) -> Folding {
        guard let best = fullest(column) else { return .nothing }
        let group = group
        let patch = group.patch(best.patch)
        let kind = layout.kinds[patch.column]
        try patch.segment.require(kind, nodes.reader)
        StrataStorage.mark(.foldedPatches)
        let descriptor = group.descriptor(best.segment)
        if descriptor.node == Group.inThisNode {
            let target = base + descriptor.offset
            if !write(patch, in: best.range, to: target, descriptor: descriptor, kind: kind, room: 0) {
                return .refused
            }
        } else {
            _ = try group.foreignSegment(descriptor, nodes.reader)
            var reference = group.reference(descriptor.node)
            let node = try nodes.mutable(&reference)
            reference.store(base, Group.referencesOffset + descriptor.node * NodeReference.size)
            let target = ownedSegment(node, descriptor.index)
            let room = growth(node, target, reference.byteCount)
            if !write(patch, in: best.range, to: target, descriptor: descriptor, kind: kind, room: room),
                try !encode(
                    patch, in: best.range, to: target, descriptor: descriptor, kind: kind, node: node,
                    bytes: reference.byteCount)
            {
                return .refused
            }
        }
        return try removePatches(best.patch, best.range) ? .done : .refused
    }

    /// The patches of one segment that take the most bytes.
    private func fullest(_ column: Int?) -> (patch: Int, segment: Int, range: Range<Int>)? {
        let group = group
        var best: (patch: Int, segment: Int, range: Range<Int>)?
        var most = 0
        for number in 0..<group.patched {
            let patch = group.patch(number)
            if let column, patch.column != column { continue }
            let each = patch.segment.size / max(patch.count, 1) + 2
            let first = group.firstSegment(patch.column)
            var low = 0
            for segment in first..<(first + group.segmentCount(patch.column)) {
                let descriptor = group.descriptor(segment)
                let high = Group.lowerBound(
                    UnsafeRawPointer(base + patch.slotsOffset), patch.count, descriptor.firstSlot + descriptor.rows)
                if (high - low) * each > most {
                    most = (high - low) * each
                    best = (number, segment, low..<high)
                }
                low = high
            }
        }
        return best
    }

    /// Writes patched values into a segment in place. If one does not fit, this leaves the values written before it:
    /// their patches stay, and readers take the patches.
    private func write(
        _ patch: Patch, in range: Range<Int>, to target: UnsafeMutableRawPointer, descriptor: SegmentDescriptor,
        kind: SegmentKind, room: Int
    ) -> Bool {
        if Segment(target).kindCode != kind.rawValue { return false }
        var room = room
        let values = patch.segment
        for place in range {
            let old = room > 0 ? Segment(target).size : 0
            guard SegmentEdit.set(target, patch.slot(place) - descriptor.firstSlot, values.cellValue(place), room: room)
            else { return false }
            if room > 0 { room -= Segment(target).size - old }
        }
        return true
    }

    /// Encodes a segment that is alone in its node anew, with its patches.
    /// - Returns: false if it does not fit, or is not alone.
    private func encode(
        _ patch: Patch, in range: Range<Int>, to target: UnsafeMutableRawPointer, descriptor: SegmentDescriptor,
        kind: SegmentKind, node: UnsafeMutableRawPointer, bytes: Int
    ) throws(StorageError) -> Bool {
        let segment = Segment(target)
        guard SegmentNode.count(node) == 1, segment.kindCode == kind.rawValue else { return false }
        let buffer = ColumnBuffer(kind, capacity: segment.rows)
        segment.decode(into: buffer)
        for place in range {
            patch.segment.cellValue(place).set(buffer, patch.slot(place) - descriptor.firstSlot)
        }
        let plan = SegmentPlan(buffer, 0..<buffer.count)
        let offset = target - node
        if offset + plan.size > bytes { return false }
        nodes.scratch.removeAll()
        let blob = nodes.scratch.encode(plan, buffer)
        target.copyMemory(from: blob.base, byteCount: blob.count)
        SegmentEdit.zero(target + blob.count, bytes - offset - blob.count)
        return true
    }

    /// - Returns: false if the remaining patches do not fit, which only an unusual encoding causes.
    private func removePatches(_ number: Int, _ range: Range<Int>) throws(StorageError) -> Bool {
        let patch = group.patch(number)
        let oldSlots = aligned8(2 * patch.count)
        let left = patch.count - range.count
        if left == 0 {
            let size = aligned8(patch.segment.size)
            move(patch.slotsOffset + oldSlots + size, by: -(oldSlots + size))
            let entry = group.patchesOffset + number * Group.patchSize
            // The move also shifts the offsets in the entry that is removed next, which no reader uses any more.
            move(entry + Group.patchSize, by: -Group.patchSize)
            base.put16(Group.Field.patched, group.patched - 1)
            markAll()
            return true
        }
        let oldSize = aligned8(patch.segment.size)
        if SegmentEdit.isPlain(patch.segment) {
            SegmentEdit.remove(base + patch.segmentOffset, range)
            let newSize = aligned8(Segment(base + patch.segmentOffset).size)
            move(patch.segmentOffset + oldSize, by: newSize - oldSize)
        } else {
            nodes.scratch.removeAll()
            let blob = try encoded(patch.segmentOffset, kind: layout.kinds[patch.column], frame: .roomy) { buffer in
                for place in range.reversed() { buffer.remove(at: place) }
            }
            if !replace(patch.segmentOffset, with: blob) { return false }
        }
        let slots = base + patch.slotsOffset
        (slots + 2 * range.lowerBound).copyMemory(
            from: slots + 2 * range.upperBound, byteCount: 2 * (patch.count - range.upperBound))
        SegmentEdit.zero(slots + 2 * left, 2 * range.count)
        let newSlots = aligned8(2 * left)
        base.put16(group.patchesOffset + number * Group.patchSize + Patch.Field.count, left)
        move(patch.slotsOffset + oldSlots, by: newSlots - oldSlots)
        markAll()
        return true
    }

    /// Rebuilds the filter.
    private func markAll() {
        SegmentEdit.zero(base + Group.filterOffset, Group.filterBytes)
        for index in 0..<group.patched {
            let patch = group.patch(index)
            for place in 0..<patch.count { mark(patch.slot(place)) }
        }
    }
}
