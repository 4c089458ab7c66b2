@testable import StrataStorage

/// An element of a collection, or a key and a value of a map, as the tests' arrays hold it.
enum CollectionValue: Hashable, CustomStringConvertible {
    case null
    case integer(Int64)
    case double(Double)
    case bytes([UInt8])

    init(_ cell: Cell) {
        switch cell.kind {
        case .null: self = .null
        case .integer: self = .integer(cell.integerValue)
        case .double: self = .double(cell.doubleValue)
        case .bytes: self = .bytes(Array(cell.bytesValue))
        }
    }

    var description: String {
        switch self {
        case .null: "null"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bytes(let bytes): "\(bytes.count) bytes \(bytes.prefix(4))"
        }
    }

    func withCell<Result>(_ body: (Cell) throws -> Result) rethrows -> Result {
        switch self {
        case .null: try body(.null)
        case .integer(let value): try body(.integer(value))
        case .double(let value): try body(.double(value))
        case .bytes(let bytes): try bytes.withUnsafeBytes { try body(.bytes($0)) }
        }
    }

    /// Null first, then by number or byte by byte.
    static func precedes(_ a: CollectionValue, _ b: CollectionValue) -> Bool {
        switch (a, b) {
        case (.null, _): b != .null
        case (.integer(let a), .integer(let b)): a < b
        case (.double(let a), .double(let b)): a < b
        case (.bytes(let a), .bytes(let b)): a.lexicographicallyPrecedes(b)
        default: false
        }
    }
}

/// The entry at one place: a value, in a map with its key.
struct CollectionPair: Hashable {
    var key = CollectionValue.null
    var value: CollectionValue
}

/// A tree and its expected contents.
struct CheckedCollection {
    let nodes = MemoryNodes()
    let shape: CollectionShape
    let limits: StoreLimits
    let editor: CollectionEditor<MemoryNodes>
    var model: [CollectionPair] = []
    /// Drops the cached path to the last leaf after each operation.
    var isForgetful = false

    init(_ form: CollectionForm, _ kind: SegmentKind, _ limits: StoreLimits) throws {
        shape = CollectionShape(form: form, kind: kind, table: 7, column: 3, owner: 99)
        self.limits = limits
        editor = try CollectionEditor(.null, shape, writing: nodes, limits: limits)
    }

    /// The sort key of a set or a map.
    func ordered(_ pair: CollectionPair) -> CollectionValue { shape.form == .map ? pair.key : pair.value }

    func elements(_ pairs: [CollectionPair], onlyValues: Bool = false) -> CollectionElements {
        let elements = CollectionElements(shape)
        for pair in pairs {
            pair.value.withCell { value in
                if shape.form == .map && !onlyValues {
                    pair.key.withCell { elements.append(key: $0, value) }
                } else {
                    elements.append(value)
                }
            }
        }
        return elements
    }

    func pairs(_ run: CollectionRun) throws -> [CollectionPair] {
        try (0..<run.leaf.count).map { slot in
            let value = CollectionValue(try CollectionTree.element(run.leaf.values, slot, nodes))
            guard let keys = run.leaf.keys else { return CollectionPair(value: value) }
            return CollectionPair(key: CollectionValue(try CollectionTree.element(keys, slot, nodes)), value: value)
        }
    }

    func pairs(_ root: NodeReference) throws -> [CollectionPair] {
        var found: [CollectionPair] = []
        var failure: (any Error)?
        try CollectionTree.forEachRun(in: root, shape, reading: nodes) { (run) throws(StorageError) in
            do { found += try pairs(run) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
        return found
    }

    // MARK: Operations

    mutating func insert(_ pairs: [CollectionPair], at place: Int) throws {
        try editor.insert(elements(pairs), at: place)
        model.insert(contentsOf: pairs, at: place)
        if isForgetful { editor.forgetPath() }
    }

    mutating func set(_ pairs: [CollectionPair], at place: Int) throws {
        try editor.set(elements(pairs, onlyValues: true), at: place)
        for (index, pair) in pairs.enumerated() { model[place + index].value = pair.value }
        if isForgetful { editor.forgetPath() }
    }

    mutating func remove(_ range: Range<Int>) throws {
        try editor.remove(range)
        model.removeSubrange(range)
        if isForgetful { editor.forgetPath() }
    }

    mutating func move(_ range: Range<Int>, to target: Int) throws {
        try editor.move(range, to: target)
        let moved = Array(model[range])
        model.removeSubrange(range)
        model.insert(contentsOf: moved, at: target)
        if isForgetful { editor.forgetPath() }
    }

    mutating func clear() throws {
        try editor.clear()
        model = []
    }

    /// The place of a value, or its insertion point.
    func find(_ value: CollectionValue) throws -> Int {
        let key = value.withCell { shape.orderKey($0) }
        return try CollectionTree.find(key, in: editor.root, shape, reading: nodes) { (cell) throws(StorageError) in
            CollectionValue.precedes(CollectionValue(cell), value)
        }
    }

    // MARK: Checks

    struct Nodes {
        var pages: Set<UInt32> = []
        var leaves: [Int] = []
        var used = 0
        var height = 0
        /// The number of nodes with several references.
        var shared = 0

        /// The fill of the leaves in percent.
        var fill: Double { 100 * Double(used) / Double(leaves.count * CollectionLeaf.capacity) }

        mutating func reach(_ reference: NodeReference) { if !pages.insert(reference.page).inserted { shared += 1 } }
    }

    /// Walks the tree with all checks, and collects its nodes.
    func walk() throws -> Nodes {
        var found = Nodes()
        let walk = CollectionWalk(nodes: nodes, shape: shape) { a, b in
            CollectionValue.precedes(CollectionValue(a), CollectionValue(b))
        }
        try walk.run(editor.root) { (reference) throws(StorageError) in
            found.reach(reference)
            if reference.is(.collectionBranch) {
                let node = try nodes.node(reference, .collectionBranch)
                found.height = max(found.height, CollectionBranch(node).level)
            }
        } visitRun: { (run) throws(StorageError) in
            found.leaves.append(run.leaf.count)
            found.used += run.leaf.used - CollectionLeaf.segmentOffset
            for segment in [run.leaf.values, run.leaf.keys].compactMap(\.self) where segment.kind == .bytes {
                for slot in 0..<segment.rows {
                    if let long = segment.cellValue(slot).long { found.reach(long.reference) }
                }
            }
        }
        return found
    }
}
