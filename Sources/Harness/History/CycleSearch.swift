/// Searches for a shortest cycle of a certain kind, breadth first: a short cycle is easy to follow.
///
/// Every cycle has an edge to a transaction that did not start later: the search for a path back begins only at such
/// edges, of which a correct engine has few. Lengths are tried in increasing order, from 2, so that a short cycle is
/// found before long paths are walked. Steps are counted: at the budget of a call the search stops, and may have missed
/// a cycle; `isExhausted` tells.
struct CycleSearch {
    enum Rule: CaseIterable {
        /// Only write dependencies.
        case writes
        /// Write and read dependencies.
        case flow
        /// Exactly one antidependency (a read whose version was overwritten).
        case oneAntidependency
        /// Two or more antidependencies, never two in a row: what snapshots forbid.
        case nonadjacent
        case any
    }

    private let graph: DependencyGraph
    private let starts: [UInt64]
    private let budgetOfCall: Int
    private var budget = 0
    private var visited: [Int32]
    private var parent: [Int32]
    /// The state from which the edge to a node was taken.
    private var stateBefore: [UInt8]
    private var queue: [Int32] = []
    private var round: Int32 = 0
    private(set) var isExhausted = false

    /// State of a node: the number of antidependencies (2 for more), and whether the last edge was one.
    private static let states = 6

    /// - Parameter starts: by node, the start of its transaction.
    init(_ graph: DependencyGraph, starts: [UInt64], budget: Int = 50_000_000) {
        self.graph = graph
        self.starts = starts
        budgetOfCall = budget
        visited = [Int32](repeating: 0, count: graph.nodeCount * Self.states)
        parent = [Int32](repeating: -1, count: graph.nodeCount * Self.states)
        stateBefore = [UInt8](repeating: 0, count: graph.nodeCount * Self.states)
    }

    /// The edges of a shortest cycle through some of these nodes; nil if it found none. When the budget is used up, it
    /// sets `isExhausted` and returns the shortest cycle so far.
    ///
    /// - Parameter isInside: by node, whether the cycle may go through it.
    mutating func shortest(among nodes: [Int32], _ rule: Rule, isInside: (Int) -> Bool) -> [Int]? {
        budget = budgetOfCall
        var backward: [Int] = []
        for node in nodes {
            for edge in graph.outgoing(Int(node)) {
                let target = Int(graph.edges[edge].to)
                if isInside(target), starts[target] <= starts[Int(node)] { backward.append(edge) }
            }
        }
        for limit in [2, 3, 4, 6, 12, 100, Int.max] {
            var best: [Int]?
            for edge in backward {
                let most = min(limit, (best?.count ?? .max) - 1)
                if let found = wayBack(edge, rule, limit: most, isInside: isInside) { best = found }
                if best?.count == 2 { return best }
                if budget <= 0 {
                    isExhausted = true
                    return best
                }
            }
            if best != nil || limit > nodes.count { return best }
        }
        return nil
    }

    /// A shortest cycle that begins with the edge, of at most `limit` edges.
    private mutating func wayBack(_ first: Int, _ rule: Rule, limit: Int, isInside: (Int) -> Bool) -> [Int]? {
        let (end, start) = (Int(graph.edges[first].from), Int(graph.edges[first].to))
        guard limit > 1, let state = Self.state(after: 0, graph.edges[first].kind, rule) else { return nil }
        let beginsWithAntidependency = graph.edges[first].kind == .readWrite
        round += 1
        queue.removeAll(keepingCapacity: true)
        note(start * Self.states + state, nil, 0)
        var (head, depth, levelEnd) = (0, 1, 1)
        while head < queue.count, budget > 0 {
            if head == levelEnd {
                depth += 1
                levelEnd = queue.count
            }
            if depth >= limit { return nil }
            let place = Int(queue[head])
            head += 1
            let (node, state) = (place / Self.states, place % Self.states)
            for edge in graph.outgoing(node) {
                budget -= 1
                let target = Int(graph.edges[edge].to)
                guard isInside(target), let next = Self.state(after: state, graph.edges[edge].kind, rule) else {
                    continue
                }
                if target == end {
                    guard Self.closes(next, rule, beginsWithAntidependency) else { continue }
                    let found = [first] + path(to: place, edge)
                    if isSimple(found) { return found }
                    continue
                }
                if visited[target * Self.states + next] != round { note(target * Self.states + next, edge, state) }
            }
        }
        return nil
    }

    private mutating func note(_ place: Int, _ edge: Int?, _ state: Int) {
        visited[place] = round
        parent[place] = edge.map { Int32($0) } ?? -1
        stateBefore[place] = UInt8(state)
        queue.append(Int32(place))
    }

    /// nil where the rule forbids the edge.
    private static func state(after state: Int, _ kind: DependencyGraph.Kind, _ rule: Rule) -> Int? {
        let isAntidependency = kind == .readWrite
        let (count, last) = (state / 2, state % 2)
        switch rule {
        case .writes: return kind == .writeWrite ? 0 : nil
        case .flow: return isAntidependency ? nil : 0
        case .oneAntidependency:
            if isAntidependency { return count == 0 ? 2 : nil }
            return count * 2
        case .nonadjacent:
            if isAntidependency { return last == 1 ? nil : min(2, count + 1) * 2 + 1 }
            return count * 2
        case .any: return 0
        }
    }

    /// Whether a cycle that ends in that state is of the wanted kind.
    private static func closes(_ state: Int, _ rule: Rule, _ beginsWithAntidependency: Bool) -> Bool {
        switch rule {
        case .writes, .flow, .any: true
        case .oneAntidependency: state / 2 == 1
        case .nonadjacent: state / 2 == 2 && !(state % 2 == 1 && beginsWithAntidependency)
        }
    }

    private func path(to place: Int, _ last: Int) -> [Int] {
        var edges = [last]
        var place = place
        while parent[place] >= 0 {
            let edge = Int(parent[place])
            edges.append(edge)
            place = Int(graph.edges[edge].from) * Self.states + Int(stateBefore[place])
        }
        return edges.reversed()
    }

    /// A cycle that visits a transaction twice contains a shorter one, possibly of another kind.
    private func isSimple(_ edges: [Int]) -> Bool {
        Set(edges.map { graph.edges[$0].from }).count == edges.count
    }
}
