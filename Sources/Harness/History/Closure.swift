/// All known dependencies between a few transactions: not only between neighbours in the version order of a key, as in
/// ``DependencyGraph``, but between any two. So a shortest cycle in it is the shortest explanation.
///
/// Complexity: for n transactions O(n^2) per key, so the caller bounds n.
struct Closure {
    /// An access to a version of one key.
    private struct Access {
        /// The index of the transaction in the graph.
        var node: Int32
        var operation: Int32
        var chain: Int64
        var place: Int32
        var isWrite: Bool
        /// A read of the initial value: before all writes of the key, also before those of other chains.
        var isInitial: Bool
    }

    let graph: DependencyGraph

    /// - Parameter transactions: by their indexes in the history; node i of the graph is the i-th of them.
    init(_ seen: Observations, _ transactions: [Int32], _ chains: VersionChains) {
        var byKey: [Int32: [Access]] = [:]
        for (node, transaction) in transactions.enumerated() {
            for index in seen.history.transactions[Int(transaction)].operations {
                guard let access = Self.access(index, node, seen: seen, chains: chains) else { continue }
                byKey[seen.key[index], default: []].append(access)
            }
        }
        var edges: [DependencyGraph.Edge] = []
        for accesses in byKey.values {
            for first in accesses {
                for second in accesses where first.node != second.node {
                    if let kind = Self.kind(first, second) {
                        edges.append(
                            DependencyGraph.Edge(
                                from: first.node, to: second.node, fromOperation: first.operation,
                                toOperation: second.operation, kind: kind))
                    }
                }
            }
        }
        // Sorted: the order of a dictionary differs between processes.
        edges.sort {
            ($0.from, $0.to, $0.kind.rawValue, $0.fromOperation, $0.toOperation)
                < ($1.from, $1.to, $1.kind.rawValue, $1.fromOperation, $1.toOperation)
        }
        graph = DependencyGraph(nodeCount: transactions.count, unsorted: edges)
    }

    private static func access(
        _ index: Int, _ node: Int, seen: Observations, chains: VersionChains
    ) -> Access? {
        let key = seen.key[index]
        func access(_ chain: Int64, _ place: Int32, isWrite: Bool, isInitial: Bool = false) -> Access {
            Access(
                node: Int32(node), operation: Int32(index), chain: chain, place: place, isWrite: isWrite,
                isInitial: isInitial)
        }
        switch seen.history.operations[index].kind {
        case .append:
            let shown = seen.position[index]
            let place = shown >= 0 ? shown + 1 : Int32(seen.order[Int(key)].count) + 1
            return access(VersionChains.initial(key), place, isWrite: true)
        case .readList:
            guard seen.version[index] >= 0 else { return nil }
            return access(VersionChains.initial(key), seen.version[index], isWrite: false)
        case .write:
            guard seen.isFinal[index] else { return nil }
            return access(chains.chain[index], chains.place[index], isWrite: true)
        case .read:
            let version = seen.version[index]
            if version == Observations.Version.none { return nil }
            if version == Observations.Version.initial {
                return access(VersionChains.initial(key), 0, isWrite: false, isInitial: true)
            }
            guard seen.isFinal[Int(version)] else { return nil }
            return access(chains.chain[Int(version)], chains.place[Int(version)], isWrite: false)
        }
    }

    private static func kind(_ first: Access, _ second: Access) -> DependencyGraph.Kind? {
        if first.isInitial && second.isWrite { return .readWrite }
        guard first.chain == second.chain else { return nil }
        switch (first.isWrite, second.isWrite) {
        case (true, true): return first.place < second.place ? .writeWrite : nil
        case (true, false): return first.place <= second.place ? .writeRead : nil
        case (false, true): return first.place < second.place ? .readWrite : nil
        case (false, false): return nil
        }
    }
}

/// Chains of the versions of each register: a version follows the one that its writer had read before. Two versions
/// whose order no read shows are in different chains.
struct VersionChains {
    /// By write: its chain, and its position in it from 1.
    private(set) var chain: [Int64]
    private(set) var place: [Int32]

    /// The chain that begins with the initial value; for a list the only one.
    static func initial(_ key: Int32) -> Int64 { -1 - Int64(key) }

    init(_ seen: Observations, _ successors: Successors) {
        let count = seen.history.operations.count
        chain = (0..<count).map { Int64($0) }
        place = [Int32](repeating: 1, count: count)
        var isFollowed = [Bool](repeating: false, count: seen.keyCount)
        for index in 0..<count where seen.history.operations[index].kind == .write && seen.isFinal[index] {
            guard seen.counts[Int(seen.owner[index])], seen.base[index] < 0 else { continue }
            let key = Int(seen.key[index])
            // The first writer that read the initial value continues its chain; other writers, and those that read
            // nothing, begin a chain of their own.
            if seen.base[index] == Observations.Version.initial, !isFollowed[key] {
                isFollowed[key] = true
                chain[index] = Self.initial(seen.key[index])
            }
            follow(index, seen, successors)
        }
    }

    private mutating func follow(_ first: Int, _ seen: Observations, _ successors: Successors) {
        var heads = [first]
        while let head = heads.popLast() {
            var current = head
            while true {
                let next = successors.first(of: Int32(current), key: Int(seen.key[current]))
                guard next >= 0 else { break }
                chain[Int(next)] = chain[current]
                place[Int(next)] = place[current] + 1
                // A second successor is a lost update: it begins a chain of its own.
                var other = successors.next[Int(next)]
                while other >= 0 {
                    heads.append(Int(other))
                    other = successors.next[Int(other)]
                }
                current = Int(next)
            }
        }
    }
}
