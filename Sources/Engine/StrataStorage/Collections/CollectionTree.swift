/// A leaf's run of elements.
struct CollectionRun {
    let leaf: CollectionLeaf
    /// The place of the leaf's first element.
    let first: Int

    @inline(__always) var end: Int { first + leaf.count }
}

/// Reads a tree of elements: a list, a set or a map.
///
/// The empty collection is the null reference; a tree of one leaf has no branch. All functions throw `corrupt` for
/// nodes that differ from their parent's reference or the shape, and never read beyond a node. They compare every
/// child's level and number of elements with what its parent says, so that no descent is endless. Every node names its
/// row and column, so that no tree belongs to two collections.
enum CollectionTree {
    /// The number of elements of the whole tree. Complexity: one node.
    static func count(
        _ root: NodeReference, _ shape: CollectionShape, reading nodes: some NodeReading
    ) throws(StorageError) -> Int {
        if root.isNull { return 0 }
        if root.is(.collectionLeaf) { return try leaf(root, shape, nodes).count }
        return try branch(root, level: nil, shape, nodes).total
    }

    /// The leaf with the element at `place`.
    /// - Parameter count: number of elements, from the reference to the root.
    /// - Throws: `misuse(.noSuchPlace)` if there is no such element.
    /// Complexity: O(log n).
    static func run(
        at place: Int, in root: NodeReference, _ shape: CollectionShape, of count: Int? = nil,
        reading nodes: some NodeReading
    ) throws(StorageError) -> CollectionRun {
        guard place >= 0, !root.isNull else { throw .misuse(.noSuchPlace) }
        var reference = root
        var level = try level(of: root, shape, nodes)
        var first = 0
        var expected = count
        while level > 0 {
            let branch = try branch(reference, level: level, shape, nodes)
            let total = branch.total
            if let expected {
                guard total == expected else { throw damaged(reference) }
            } else if place >= total {
                throw .misuse(.noSuchPlace)
            }
            let (child, before) = branch.find(place - first, isBorder: false)
            first += before
            expected = branch.elements(child)
            reference = branch.reference(child)
            level -= 1
        }
        let leaf = try leaf(reference, shape, nodes)
        if let expected { guard leaf.count == expected else { throw damaged(reference) } }
        guard place < first + leaf.count else { throw .misuse(.noSuchPlace) }
        return CollectionRun(leaf: leaf, first: first)
    }

    /// Calls `body` with all runs from that of `place` on, in order, until it returns false. `body` must not change the
    /// tree.
    static func forEachRun(
        from place: Int = 0, in root: NodeReference, _ shape: CollectionShape, of count: Int? = nil,
        reading nodes: some NodeReading, _ body: (CollectionRun) throws(StorageError) -> Bool
    ) throws(StorageError) {
        if root.isNull { return }
        let level = try level(of: root, shape, nodes)
        _ = try visit(root, level: level, first: 0, expected: count, from: place, shape: shape, in: nodes, body)
    }

    private static func visit(
        _ reference: NodeReference, level: Int, first: Int, expected: Int?, from place: Int, shape: CollectionShape,
        in nodes: some NodeReading, _ body: (CollectionRun) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        if level == 0 {
            let leaf = try leaf(reference, shape, nodes)
            if let expected { guard leaf.count == expected else { throw damaged(reference) } }
            return try body(CollectionRun(leaf: leaf, first: first))
        }
        let branch = try branch(reference, level: level, shape, nodes)
        if let expected { guard branch.total == expected else { throw damaged(reference) } }
        var first = first
        for i in 0..<branch.count {
            let elements = branch.elements(i)
            if first + elements > place {
                let goesOn = try visit(
                    branch.reference(i), level: level - 1, first: first, expected: elements, from: place, shape: shape,
                    in: nodes,
                    body)
                if !goesOn { return false }
            }
            first += elements
        }
        return true
    }

    /// Calls `body` with all readable runs from that of `place` on, in order. Places come from the branches above, so
    /// they count lost elements.
    /// - Parameter failed: called with the error of each node that cannot be read, or differs from its branch.
    static func forEachReadableRun(
        from place: Int, in root: NodeReference, _ shape: CollectionShape, of count: Int,
        reading nodes: some NodeReading, _ body: (CollectionRun) -> Void, failed: (StorageError) -> Void
    ) {
        do throws(StorageError) {
            let level = try level(of: root, shape, nodes)
            visitReadable(
                root, level: level, first: 0, expected: count, from: place, shape: shape, in: nodes, body,
                failed: failed)
        } catch {
            failed(error)
        }
    }

    private static func visitReadable(
        _ reference: NodeReference, level: Int, first: Int, expected: Int, from place: Int, shape: CollectionShape,
        in nodes: some NodeReading, _ body: (CollectionRun) -> Void, failed: (StorageError) -> Void
    ) {
        do throws(StorageError) {
            if level == 0 {
                let leaf = try leaf(reference, shape, nodes)
                guard leaf.count == expected else { throw damaged(reference) }
                return body(CollectionRun(leaf: leaf, first: first))
            }
            let branch = try branch(reference, level: level, shape, nodes)
            guard branch.total == expected else { throw damaged(reference) }
            var first = first
            for i in 0..<branch.count {
                let elements = branch.elements(i)
                if first + elements > place {
                    visitReadable(
                        branch.reference(i), level: level - 1, first: first, expected: elements, from: place,
                        shape: shape,
                        in: nodes, body, failed: failed)
                }
                first += elements
            }
        } catch {
            failed(error)
        }
    }

    // MARK: Order

    /// The place of the first element of a set, or key of a map, that does not precede the one sought; the number of
    /// elements if all do.
    ///
    /// - Parameters:
    ///   - orderKey: of the element sought.
    ///   - precedes: whether an element precedes the one sought.
    /// Complexity: O(log n), and more nodes when many first elements have the same order key.
    static func find(
        _ orderKey: Int64, in root: NodeReference, _ shape: CollectionShape, reading nodes: some NodeReading,
        precedes: (Cell) throws(StorageError) -> Bool
    ) throws(StorageError) -> Int {
        if root.isNull { return 0 }
        var reference = root
        var level = try level(of: root, shape, nodes)
        var first = 0
        while level > 0 {
            let branch = try branch(reference, level: level, shape, nodes)
            // Child `low` is the first one or starts before the element sought; child `high` does not start before it.
            var low = 0
            var high = branch.count
            while high - low > 1 {
                let middle = (low + high) >> 1
                let key = branch.key(middle)
                var startsBefore = key < orderKey
                if key == orderKey {
                    let first = try firstElement(branch.reference(middle), level: level - 1, shape, nodes)
                    startsBefore = try precedes(first)
                }
                if startsBefore { low = middle } else { high = middle }
            }
            for i in 0..<low { first += branch.elements(i) }
            reference = branch.reference(low)
            level -= 1
        }
        let leaf = try leaf(reference, shape, nodes)
        var low = 0
        var high = leaf.count
        while low < high {
            let middle = (low + high) >> 1
            if try precedes(element(leaf.ordered, middle, nodes)) { low = middle + 1 } else { high = middle }
        }
        return first + low
    }

    private static func firstElement(
        _ reference: NodeReference, level: Int, _ shape: CollectionShape, _ nodes: some NodeReading
    ) throws(StorageError) -> Cell {
        var reference = reference
        var level = level
        while level > 0 {
            reference = try branch(reference, level: level, shape, nodes).reference(0)
            level -= 1
        }
        return try element(leaf(reference, shape, nodes).ordered, 0, nodes)
    }

    /// A value's bytes, borrowed from its leaf or from its own node.
    /// - Throws: `misuse(.wrongType)` if it is a tree.
    static func element(
        _ segment: Segment, _ slot: Int, _ nodes: some NodeReading
    ) throws(StorageError) -> Cell {
        let value = segment.cellValue(slot)
        guard let long = value.long else { return value.cell }
        if long.isTree { throw .misuse(.wrongType) }
        let node = try nodes.node(long.reference, .value)
        return .bytes(
            UnsafeRawBufferPointer(start: node + Format.nodeHeaderSize, count: Int(truncatingIfNeeded: long.count)))
    }

    /// The order key of a leaf's first element; 0 in a list.
    @inline(__always)
    static func firstKey(
        _ leaf: CollectionLeaf, _ shape: CollectionShape, _ nodes: some NodeReading
    ) throws(StorageError) -> Int64 {
        shape.form == .list ? 0 : shape.orderKey(try element(leaf.ordered, 0, nodes))
    }

    // MARK: Nodes

    /// The height of a tree: 0 for a leaf, else the root branch's level. Callers that descend check each branch's level
    /// against the one above.
    static func level(
        of root: NodeReference, _ shape: CollectionShape, _ nodes: some NodeReading
    ) throws(StorageError) -> Int {
        root.is(.collectionLeaf) ? 0 : try branch(root, level: nil, shape, nodes).level
    }

    /// Reads a leaf, and checks its shape.
    @inline(__always)
    static func leaf(
        _ reference: NodeReference, _ shape: CollectionShape, _ nodes: some NodeReading
    ) throws(StorageError) -> CollectionLeaf {
        let leaf = CollectionLeaf(try nodes.node(reference, .collectionLeaf))
        guard leaf.formCode == Int(shape.form.rawValue), leaf.values.kind == shape.kind, leaf.column == shape.column,
            shape.isAnyones || leaf.owner == shape.owner, leaf.flags & CollectionLeaf.isNested == shape.nodeFlags
        else { throw damaged(reference) }
        return leaf
    }

    /// Reads a branch, and checks its shape and level.
    @inline(__always)
    static func branch(
        _ reference: NodeReference, level: Int?, _ shape: CollectionShape, _ nodes: some NodeReading
    ) throws(StorageError) -> CollectionBranch {
        let branch = CollectionBranch(try nodes.node(reference, .collectionBranch))
        guard branch.formCode == Int(shape.form.rawValue), level == nil || branch.level == level,
            branch.column == shape.column, shape.isAnyones || branch.owner == shape.owner,
            branch.flags & CollectionLeaf.isNested == shape.nodeFlags
        else { throw damaged(reference) }
        return branch
    }

    static func damaged(_ reference: NodeReference) -> StorageError {
        .corrupt(page: PageNumber(reference.page & ~Format.arenaBit), offset: 0, reason: .structure)
    }
}
