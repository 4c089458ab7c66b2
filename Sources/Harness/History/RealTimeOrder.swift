/// Checks that the order of reads and writes agrees with real time.
///
/// A transaction that ended before another began came before it. There are up to n^2 such pairs, so they are not
/// stored. A shortest cycle with such pairs has only one: where A ended before B began and C before D, A ended before D
/// began or C before B. So a cycle is a path of dependencies from a transaction to one that had ended before it began.
/// For each transaction the earliest end among all reachable ones is needed, which follows from its successors in the
/// order in which Tarjan's algorithm closes components.
///
/// Complexity of ``violators()``: O(nodes + edges). Size: at most 16 bytes a node.
struct RealTimeOrder {
    private let graph: DependencyGraph
    private let history: History
    private let components: StrongComponents

    init(_ graph: DependencyGraph, _ history: History, _ components: StrongComponents) {
        self.graph = graph
        self.history = history
        self.components = components
    }

    /// Transactions with a path to one that ended before they began.
    func violators() -> [Int32] {
        var order = [Int32](repeating: 0, count: graph.nodeCount)
        var starts = [Int32](repeating: 0, count: components.count + 1)
        for own in components.component { starts[Int(own) + 1] += 1 }
        for index in 0..<components.count { starts[index + 1] += starts[index] }
        for (node, own) in components.component.enumerated() {
            order[Int(starts[Int(own)])] = Int32(node)
            starts[Int(own)] += 1
        }
        // By component: its members reach the same transactions.
        var earliest = [UInt64](repeating: .max, count: components.count)
        for node in order {
            let own = Int(components.component[Int(node)])
            var end = min(earliest[own], history.transactions[Int(node)].latest)
            for edge in graph.outgoing(Int(node)) {
                end = min(end, earliest[Int(components.component[Int(graph.edges[edge].to)])])
            }
            earliest[own] = end
        }
        return order.filter { node in
            earliest[Int(components.component[Int(node)])] < history.transactions[Int(node)].start
        }
    }

    /// The edges of a shortest path from one of these to a transaction that ended before it began; beyond the budget,
    /// of any such path, which a single walk in O(nodes + edges) finds.
    ///
    /// - Parameter violators: at least one.
    func shortest(from violators: [Int32], budget: Int) -> [Int] {
        var visited = [Int32](repeating: -1, count: graph.nodeCount)
        var parent = [Int32](repeating: -1, count: graph.nodeCount)
        var left = budget
        var round: Int32 = 0
        for limit in [1, 2, 3, 4, 6, 12, 100, Int.max] {
            var best: [Int]?
            for start in violators where left > 0 {
                round += 1
                let most = min(limit, (best?.count ?? limit) - (best == nil ? 0 : 1))
                if let found = walk(from: Int(start), most, round, visited: &visited, parent: &parent, left: &left) {
                    best = found
                }
                if let best, best.count == 1 { return best }
            }
            if let best { return best }
        }
        for start in violators {
            round += 1
            var unbounded = Int.max
            if let found = walk(from: Int(start), .max, round, visited: &visited, parent: &parent, left: &unbounded) {
                return found
            }
        }
        return []
    }

    private func walk(
        from start: Int, _ limit: Int, _ round: Int32, visited: inout [Int32], parent: inout [Int32],
        left: inout Int
    ) -> [Int]? {
        let began = history.transactions[start].start
        var queue = [Int32(start)]
        visited[start] = round
        var (head, depth, levelEnd) = (0, 0, 1)
        while head < queue.count, left > 0 {
            if head == levelEnd {
                depth += 1
                levelEnd = queue.count
            }
            if depth >= limit { return nil }
            let node = Int(queue[head])
            head += 1
            for edge in graph.outgoing(node) {
                left -= 1
                let target = Int(graph.edges[edge].to)
                guard visited[target] != round else { continue }
                visited[target] = round
                parent[target] = Int32(edge)
                if history.transactions[target].latest < began { return path(from: start, to: target, parent) }
                queue.append(Int32(target))
            }
        }
        return nil
    }

    private func path(from start: Int, to end: Int, _ parent: [Int32]) -> [Int] {
        var edges: [Int] = []
        var node = end
        while node != start {
            let edge = Int(parent[node])
            edges.append(edge)
            node = Int(graph.edges[edge].from)
        }
        return edges.reversed()
    }
}
