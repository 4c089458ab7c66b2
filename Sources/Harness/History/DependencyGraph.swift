/// The direct dependencies between transactions, with reasons: edges in flat arrays, sorted by their source.
///
/// Size: 20 bytes an edge, twice that during sorting; a history has at most about two edges per operation.
struct DependencyGraph {
    enum Kind: UInt8, Sendable {
        /// Wrote a later version of the key.
        case writeWrite
        /// Read what the source wrote.
        case writeRead
        /// Overwrote what the source had read.
        case readWrite
        /// Began after the source had ended.
        case realTime
    }

    struct Edge {
        var from: Int32
        var to: Int32
        /// The reason: an operation of each end; -1 for real time.
        var fromOperation: Int32
        var toOperation: Int32
        var kind: Kind
    }

    let nodeCount: Int
    private(set) var edges: [Edge]
    /// By node: its first edge, with one more element at the end.
    private(set) var offsets: [Int32]

    init(nodeCount: Int, unsorted: [Edge]) {
        self.nodeCount = nodeCount
        var offsets = [Int32](repeating: 0, count: nodeCount + 1)
        for edge in unsorted { offsets[Int(edge.from) + 1] += 1 }
        for node in 0..<nodeCount { offsets[node + 1] += offsets[node] }
        var next = offsets
        var sorted = unsorted
        for edge in unsorted {
            sorted[Int(next[Int(edge.from)])] = edge
            next[Int(edge.from)] += 1
        }
        edges = sorted
        self.offsets = offsets
    }

    @inline(__always)
    func outgoing(_ node: Int) -> Range<Int> { Int(offsets[node])..<Int(offsets[node + 1]) }
}

extension DependencyGraph {
    /// The direct dependencies of all transactions that count: a chain per key, so that their number is linear.
    init(_ seen: Observations) {
        var edges: [Edge] = []
        edges.reserveCapacity(seen.history.operations.count * 2)
        let successors = Successors(seen)
        let unshown = Self.unshownAppends(seen)
        // Write dependencies come first, and searches take them first: they shorten long paths over one key's versions.
        Self.addListOrders(seen, unshown, to: &edges)
        for (index, operation) in seen.history.operations.enumerated()
        where operation.kind == .write && seen.isFinal[index] && seen.base[index] >= 0 {
            Self.add(.writeWrite, seen.base[index], to: Int32(index), seen: seen, to: &edges)
        }
        for (index, operation) in seen.history.operations.enumerated() where seen.counts[Int(seen.owner[index])] {
            switch operation.kind {
            case .readList: Self.addListRead(index, seen, unshown, to: &edges)
            case .read: Self.addRead(index, seen, successors, to: &edges)
            case .write, .append: break
            }
        }
        self.init(nodeCount: seen.history.transactions.count, unsorted: edges)
    }

    @inline(__always)
    private static func add(
        _ kind: Kind, _ from: Int32, to: Int32, seen: Observations, to edges: inout [Edge]
    ) {
        let (first, second) = (seen.owner[Int(from)], seen.owner[Int(to)])
        guard first != second, seen.counts[Int(first)], seen.counts[Int(second)] else { return }
        edges.append(Edge(from: first, to: second, fromOperation: from, toOperation: to, kind: kind))
    }

    // MARK: Lists

    /// By key: acknowledged appends that the longest read does not contain. If they took effect they came later, since
    /// every later list begins with that read.
    private static func unshownAppends(_ seen: Observations) -> [[Int32]] {
        var unshown: [[Int32]] = Array(repeating: [], count: seen.keyCount)
        for (index, operation) in seen.history.operations.enumerated()
        where operation.kind == .append && seen.position[index] < 0 && seen.counts[Int(seen.owner[index])] {
            unshown[Int(seen.key[index])].append(Int32(index))
        }
        // Those that ended first constrain real time most.
        for key in unshown.indices where unshown[key].count > mostUnshown {
            unshown[key].sort {
                seen.history.transactions[Int(seen.owner[Int($0)])].latest
                    < seen.history.transactions[Int(seen.owner[Int($1)])].latest
            }
            unshown[key].removeSubrange(mostUnshown...)
        }
        return unshown
    }

    /// The most unshown appends of a key that get edges. A key has more only if an engine loses many appends, which
    /// these prove as well.
    private static let mostUnshown = 16

    private static func addListOrders(_ seen: Observations, _ unshown: [[Int32]], to edges: inout [Edge]) {
        for key in 0..<seen.keyCount {
            let order = seen.order[key]
            for (first, second) in zip(order, order.dropFirst()) where first >= 0 && second >= 0 {
                add(.writeWrite, first, to: second, seen: seen, to: &edges)
            }
            guard let last = order.last, last >= 0 else { continue }
            for append in unshown[key] { add(.writeWrite, last, to: append, seen: seen, to: &edges) }
        }
    }

    private static func addListRead(
        _ index: Int, _ seen: Observations, _ unshown: [[Int32]], to edges: inout [Edge]
    ) {
        let count = Int(seen.version[index])
        guard count >= 0 else { return }
        let key = Int(seen.key[index])
        let order = seen.order[key]
        if count > 0, order[count - 1] >= 0 {
            add(.writeRead, order[count - 1], to: Int32(index), seen: seen, to: &edges)
        }
        if count < order.count {
            // An element without an append has no position in the order: the next one with an append came later.
            if let next = order[count...].first(where: { $0 >= 0 }) {
                add(.readWrite, Int32(index), to: next, seen: seen, to: &edges)
            }
        } else {
            for append in unshown[key] { add(.readWrite, Int32(index), to: append, seen: seen, to: &edges) }
        }
    }

    // MARK: Registers

    private static func addRead(
        _ index: Int, _ seen: Observations, _ successors: Successors, to edges: inout [Edge]
    ) {
        let version = seen.version[index]
        guard version != Observations.Version.none else { return }
        if version >= 0 {
            add(.writeRead, version, to: Int32(index), seen: seen, to: &edges)
            if !seen.isFinal[Int(version)] { return }
        }
        var next = successors.first(of: version, key: Int(seen.key[index]))
        var left = mostSuccessors
        while next >= 0, left > 0 {
            add(.readWrite, Int32(index), to: next, seen: seen, to: &edges)
            next = successors.next[Int(next)]
            left -= 1
        }
    }

    /// The most successors of a version that a read of it gets edges to. More than one write follows a version only if
    /// an update was lost, or if a writer had not read the key.
    private static let mostSuccessors = 64
}

/// By version of a register: the writes that followed it, as linked lists in flat arrays.
struct Successors {
    private var ofWrite: [Int32]
    private var ofInitial: [Int32]
    fileprivate(set) var next: [Int32]

    init(_ seen: Observations) {
        let count = seen.history.operations.count
        ofWrite = [Int32](repeating: -1, count: count)
        next = [Int32](repeating: -1, count: count)
        ofInitial = [Int32](repeating: -1, count: seen.keyCount)
        for index in (0..<count).reversed() {
            guard seen.history.operations[index].kind == .write, seen.isFinal[index],
                seen.counts[Int(seen.owner[index])]
            else { continue }
            if seen.base[index] >= 0 {
                next[index] = ofWrite[Int(seen.base[index])]
                ofWrite[Int(seen.base[index])] = Int32(index)
            } else {
                // For a write without a base, too: every version follows the initial value.
                next[index] = ofInitial[Int(seen.key[index])]
                ofInitial[Int(seen.key[index])] = Int32(index)
            }
        }
    }

    func first(of version: Int32, key: Int) -> Int32 {
        version >= 0 ? ofWrite[Int(version)] : ofInitial[key]
    }
}
