/// Replaces a segment by new ones when patches are folded into it.
struct SegmentReplacer {
    let nodes: TransactionNodes
    let table: UInt32
    let heap: ByteHeap
    /// New nodes of the image. The caller drops them if the image does not replace the group after all.
    private(set) var made: [NodeReference] = []
    /// Nodes that the image no longer references. The caller drops them if the image replaces the group.
    private(set) var released: [NodeReference] = []

    init(nodes: TransactionNodes, table: UInt32, heap: ByteHeap) {
        self.nodes = nodes
        self.table = table
        self.heap = heap
    }

    /// Segments up to this size are put in the group's own node.
    private static let embedLimit = 64

    /// Replaces segment `number`, of column `column`, by the values of `buffer`; it may become several segments.
    mutating func replace(
        _ number: Int, of column: Int, with buffer: ColumnBuffer, _ image: inout GroupImage
    ) throws(StorageError) {
        let old = image.segments[number]
        let plans = GroupBuilder.plan(buffer, 0..<buffer.count)
        if plans.count == 1, old.node != Group.inThisNode, sharers(old.node, image) > 1,
            try replaceShared(number, plan: plans[0], buffer: buffer, in: &image)
        {
            return
        }
        // The new nodes are made before the old one is dropped: `buffer` borrows bytes of the old one.
        let packer = SegmentPacker(nodes: nodes, table: table)
        var replacements: [(descriptor: SegmentDescriptor, blob: Blob?)] = []
        for plan in plans {
            var descriptor = SegmentDescriptor(
                firstSlot: old.firstSlot + plan.rows.lowerBound, rows: plan.rows.count, node: Group.inThisNode,
                index: 0, offset: 0)
            if plan.size <= Self.embedLimit {
                replacements.append((descriptor, heap.encode(plan, buffer)))
            } else {
                descriptor.node = image.references.count
                let reference = try packer.makeSingle(plan, buffer)
                made.append(reference)
                image.references.append(reference)
                replacements.append((descriptor, nil))
            }
        }
        try release(number, &image)
        image.segments.replaceSubrange(number...number, with: replacements.map(\.descriptor))
        image.blobs.replaceSubrange(number...number, with: replacements.map(\.blob))
        image.columns[column].count += plans.count - 1
        for index in image.columns.indices where image.columns[index].first > number {
            image.columns[index].first += plans.count - 1
        }
        removeUnusedReferences(&image)
    }

    private func sharers(_ node: Int, _ image: GroupImage) -> Int { image.segments.count { $0.node == node } }

    /// Writes the shared node anew with one segment changed; false if that does not fit.
    private mutating func replaceShared(
        _ number: Int, plan: SegmentPlan, buffer: ColumnBuffer, in image: inout GroupImage
    ) throws(StorageError) -> Bool {
        let nodeIndex = image.segments[number].node
        let reference = image.references[nodeIndex]
        let old = try nodes.node(reference, .segments)
        let members = image.segments.indices.filter { image.segments[$0].node == nodeIndex }
        var blobs: [Blob] = []
        for member in members {
            blobs.append(
                member == number
                    ? heap.encode(plan, buffer) : try blob(old, member: member, in: image, reference: reference))
        }
        let total = blobs.reduce(SegmentNode.firstOffset(members.count)) { $0 + aligned8($1.count) }
        if total > Format.pageSize { return false }
        image.references[nodeIndex] = try write(blobs)
        for (index, member) in members.enumerated() { image.segments[member].index = index }
        released.append(reference)
        return true
    }

    private func blob(
        _ node: UnsafeRawPointer, member: Int, in image: GroupImage, reference: NodeReference
    ) throws(StorageError) -> Blob {
        let index = image.segments[member].index
        guard index < SegmentNode.count(node) else { throw .structure(reference) }
        let segment = SegmentNode.segment(node, index)
        let available = reference.byteCount - (segment.base - node)
        guard let size = Segment.validatedSize(segment.base, available: available) else {
            throw .structure(reference)
        }
        return Blob(base: segment.base, count: size)
    }

    private mutating func write(_ blobs: [Blob]) throws(StorageError) -> NodeReference {
        let (reference, node) = try nodes.makeNode(.segments, pages: 1, table: table)
        made.append(reference)
        node.put16(SegmentNode.directoryOffset, blobs.count)
        var offset = SegmentNode.firstOffset(blobs.count)
        for (index, blob) in blobs.enumerated() {
            node.put16(SegmentNode.directoryOffset + 2 + 2 * index, offset / 8)
            (node + offset).copyMemory(from: blob.base, byteCount: blob.count)
            offset += aligned8(blob.count)
        }
        return reference
    }

    /// Removes a segment from its node: writes the node anew without it, or releases the node if it has no other.
    private mutating func release(_ number: Int, _ image: inout GroupImage) throws(StorageError) {
        let nodeIndex = image.segments[number].node
        if nodeIndex == Group.inThisNode { return }
        let reference = image.references[nodeIndex]
        if sharers(nodeIndex, image) == 1 {
            released.append(reference)
            return
        }
        let old = try nodes.node(reference, .segments)
        let members = image.segments.indices.filter { image.segments[$0].node == nodeIndex && $0 != number }
        var blobs: [Blob] = []
        for member in members { blobs.append(try blob(old, member: member, in: image, reference: reference)) }
        image.references[nodeIndex] = try write(blobs)
        for (index, member) in members.enumerated() { image.segments[member].index = index }
        released.append(reference)
    }

    private func removeUnusedReferences(_ image: inout GroupImage) {
        let used = Set(image.segments.map(\.node))
        for index in image.references.indices.reversed() where !used.contains(index) {
            image.references.remove(at: index)
            for segment in image.segments.indices
            where image.segments[segment].node > index && image.segments[segment].node != Group.inThisNode {
                image.segments[segment].node -= 1
            }
        }
    }
}
