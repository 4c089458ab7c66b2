/// Changes one collection within a transaction.
///
/// The editor never writes a node of an older version: before it changes that node, or one below it, it copies the node
/// to the arena. It drops a node that the tree no longer reaches once. After an error the tree is half changed, and the
/// caller must roll the transaction back; only `misuse` leaves the tree unchanged.
///
/// The place of an element of a set or a map comes from ``CollectionTree/find(_:in:_:reading:precedes:)``: elements are
/// not compared here.
///
/// Concurrency: confined to its owner.
final class CollectionEditor<Nodes: NodeWriting> {
    private let nodes: Nodes
    private let shape: CollectionShape
    private let limits: StoreLimits
    private let tree: CollectionBranchEditor<Nodes>
    private let single: CollectionElements

    /// Null for an empty collection.
    @exclusivity(unchecked) private(set) var root: NodeReference
    @exclusivity(unchecked) private(set) var count: Int

    /// Branches from the root to the last changed leaf, all in the arena, so that a further change of that leaf needs
    /// no descent.
    @exclusivity(unchecked) private var path: [Step] = []
    /// The last changed leaf, in the arena; nil if there is none.
    @exclusivity(unchecked) private var leaf: UnsafeMutableRawPointer?
    /// The place of that leaf's first element.
    @exclusivity(unchecked) private var first = 0

    /// A branch on the path, and the index of the child that the path takes.
    private struct Step {
        var node: UnsafeMutableRawPointer
        var child: Int
    }

    init(
        _ root: NodeReference, _ shape: CollectionShape, writing nodes: Nodes, limits: StoreLimits
    ) throws(StorageError) {
        self.nodes = nodes
        self.shape = shape
        self.limits = limits
        self.root = root
        tree = CollectionBranchEditor(nodes, shape, limits)
        single = CollectionElements(shape)
        count = try CollectionTree.count(root, shape, reading: nodes)
    }

    /// Forgets the path to the last changed leaf. The caller is about to move nodes of the arena, or may do so.
    func forgetPath() {
        path.removeAll(keepingCapacity: true)
        leaf = nil
    }

    // MARK: Operations

    /// Inserts elements before `place`, or at the end.
    /// - Complexity: O(log n + elements); no descent within the last changed leaf.
    func insert(_ elements: CollectionElements, at place: Int) throws(StorageError) {
        guard place >= 0, place <= count else { throw .misuse(.noSuchPlace) }
        if elements.count == 0 { return }
        try tree.leaves.prepare(elements, longest: limits.inlineBytes)
        try apply(CollectionEdit(elements, 0..<elements.count, at: place, replacing: 0))
    }

    /// Inserts one element of a list or a set before `place`, or at the end.
    func insert(_ value: Cell, at place: Int) throws(StorageError) {
        single.removeAll()
        single.append(value)
        try insert(single, at: place)
    }

    /// Replaces elements from `place` on. In a map it replaces their values only; the keys stay.
    func set(_ elements: CollectionElements, at place: Int) throws(StorageError) {
        guard place >= 0, elements.count <= count, place <= count - elements.count else {
            throw .misuse(.noSuchPlace)
        }
        try tree.leaves.prepare(elements, longest: limits.inlineBytes)
        var done = 0
        while done < elements.count {
            try seek(place + done, isBorder: false)
            guard let leaf else { return }
            let most = first + CollectionLeaf(UnsafeRawPointer(leaf)).count - (place + done)
            let part = done..<min(elements.count, done + most)
            var edit = CollectionEdit(elements, part, at: place + done, replacing: part.count)
            edit.keepsKeys = shape.form == .map
            try apply(edit)
            done = part.upperBound
        }
    }

    /// Replaces the element at `place`, or in a map its value.
    func set(_ value: Cell, at place: Int) throws(StorageError) {
        single.removeAll()
        single.append(value)
        try set(single, at: place)
    }

    /// Replaces the value at `place` by a long one or a short one. If the old value is long, its node is not dropped.
    func setKept(_ value: CellValue, at place: Int) throws(StorageError) {
        guard place >= 0, place < count else { throw .misuse(.noSuchPlace) }
        if let long = value.long, try overwrite(long, at: place) { return }
        single.removeAll()
        single.append(value.cell)
        if let long = value.long { single.values.setLong(0, long) }
        var edit = CollectionEdit(single, 0..<1, at: place, replacing: 1)
        edit.keepsKeys = shape.form == .map
        tree.leaves.keepsLong = true
        defer { tree.leaves.keepsLong = false }
        try apply(edit)
    }

    /// Overwrites a long value's descriptor in place; its length is fixed.
    private func overwrite(_ value: LongValue, at place: Int) throws(StorageError) -> Bool {
        try seek(place, isBorder: false)
        guard let leaf else { return false }
        let values = CollectionLeaf(UnsafeRawPointer(leaf)).values
        guard values.cellValue(place - first).long != nil, let base = values.bytes(place - first).baseAddress else {
            return false
        }
        value.store(leaf + (base - UnsafeRawPointer(leaf)))
        if value.isTree, CollectionLeaf(UnsafeRawPointer(leaf)).flags & CollectionLeaf.hasTrees != 0 { return true }
        CollectionLeaf.update(leaf)
        let flags = CollectionLeaf(UnsafeRawPointer(leaf)).flags
        for step in path { CollectionBranch.addFlags(step.node, flags) }
        return true
    }

    /// Removes elements.
    /// - Complexity: O(log n), and the dropped nodes.
    func remove(_ range: Range<Int>) throws(StorageError) {
        guard range.lowerBound >= 0, range.upperBound <= count else { throw .misuse(.noSuchPlace) }
        if range.isEmpty { return }
        try seek(range.lowerBound, isBorder: false)
        if let leaf, range.upperBound <= first + CollectionLeaf(UnsafeRawPointer(leaf)).count,
            try applyInPlace(CollectionEdit(removing: range))
        {
            return
        }
        forgetPath()
        try tree.remove(range, from: &root)
        count -= range.count
    }

    /// Moves elements of a list. `target` is the place of the first one afterwards.
    /// - Complexity: O(log n + elements).
    func move(_ range: Range<Int>, to target: Int) throws(StorageError) {
        guard range.lowerBound >= 0, range.upperBound <= count, target >= 0, target <= count - range.count else {
            throw .misuse(.noSuchPlace)
        }
        if range.isEmpty || target == range.lowerBound { return }
        let moved = CollectionElements(shape)
        try CollectionTree.forEachRun(from: range.lowerBound, in: root, shape, reading: nodes) {
            (run) throws(StorageError) in
            let slots = max(range.lowerBound, run.first)..<min(range.upperBound, run.end)
            for place in slots { moved.copy(run.leaf, place - run.first) }
            return run.end < range.upperBound
        }
        tree.leaves.keepsLong = true
        defer { tree.leaves.keepsLong = false }
        try remove(range)
        try apply(CollectionEdit(moved, 0..<moved.count, at: target, replacing: 0))
    }

    /// Removes all elements.
    func clear() throws(StorageError) {
        forgetPath()
        try tree.drop(root)
        root = .null
        count = 0
    }

    // MARK: Applying changes

    private func apply(_ edit: CollectionEdit) throws(StorageError) {
        if edit.range.count == 1, edit.removed <= 1, !root.isNull {
            try seek(edit.place, isBorder: edit.isBorder)
            if try applyInPlace(edit) { return }
        }
        forgetPath()
        try tree.splice(edit, in: &root)
        count += edit.added
    }

    /// Changes the leaf at the end of the path in place, and the counts and keys above it.
    @inline(__always)
    private func applyInPlace(_ edit: CollectionEdit) throws(StorageError) -> Bool {
        guard let leaf else { return false }
        let edit = edit.moved(by: first)
        // An underfull leaf is rebuilt, so that it joins a neighbour.
        if edit.added < 0, !path.isEmpty, tree.leaves.isUnderfull(CollectionLeaf(UnsafeRawPointer(leaf))) {
            return false
        }
        guard edit.apply(to: leaf, most: tree.leaves.most) else { return false }
        count += edit.added
        if edit.added != 0 { for step in path { CollectionBranch.add(edit.added, step.node, step.child) } }
        if edit.place == 0, shape.form != .list {
            let key = try CollectionTree.firstKey(CollectionLeaf(UnsafeRawPointer(leaf)), shape, nodes)
            for step in path.reversed() {
                CollectionBranch.setKey(step.node, step.child, key)
                if step.child > 0 { break }
            }
        }
        return true
    }

    /// Finds the leaf of a place, and copies the nodes on the path to the arena, unless they are there.
    @inline(__always)
    private func seek(_ place: Int, isBorder: Bool) throws(StorageError) {
        if let leaf {
            let end = first + CollectionLeaf(UnsafeRawPointer(leaf)).count
            if place >= first && (isBorder ? (place > first || place == 0) && place <= end : place < end) { return }
        }
        try descend(place, isBorder: isBorder)
    }

    private func descend(_ place: Int, isBorder: Bool) throws(StorageError) {
        forgetPath()
        var level = try CollectionTree.level(of: root, shape, nodes)
        var reference = root
        var before = 0
        var expected = count
        while true {
            let found =
                level == 0
                ? try CollectionTree.leaf(reference, shape, nodes).count
                : try CollectionTree.branch(reference, level: level, shape, nodes).total
            guard found == expected else { throw CollectionTree.damaged(reference) }
            var made = reference
            let node = try nodes.mutable(&made)
            if made != reference {
                if let above = path.last {
                    CollectionBranch.setReference(above.node, above.child, made)
                } else {
                    root = made
                }
            }
            if level == 0 {
                leaf = node
                first = before
                return
            }
            let branch = CollectionBranch(UnsafeRawPointer(node))
            let (child, elements) = branch.find(place - before, isBorder: isBorder)
            path.append(Step(node: node, child: child))
            before += elements
            expected = branch.elements(child)
            reference = branch.reference(child)
            level -= 1
        }
    }
}

extension CollectionElements {
    /// Appends a copy of an element of a leaf. A long value's node is not copied: two elements reference it until one
    /// is removed.
    fileprivate func copy(_ leaf: CollectionLeaf, _ slot: Int) {
        Self.copy(leaf.values, slot, values)
        if let keys, let segment = leaf.keys { Self.copy(segment, slot, keys) }
    }

    private static func copy(_ segment: Segment, _ slot: Int, _ column: ColumnBuffer) {
        let value = segment.cellValue(slot)
        column.append(value.cell)
        if let long = value.long { column.setLong(column.count - 1, long) }
    }
}
