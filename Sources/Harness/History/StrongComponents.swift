/// The strongly connected components of a graph, by Tarjan's algorithm with an explicit stack: a history of a million
/// transactions may be one long chain.
///
/// Components are numbered in the order in which they are closed: an edge between two leads to the lower number.
/// Complexity: O(nodes + edges). Size: 16 bytes a node, and up to 8 for the stacks.
struct StrongComponents {
    /// By node.
    private(set) var component: [Int32]
    private(set) var count = 0

    /// `includes`: which edges count.
    init(_ graph: DependencyGraph, includes: (DependencyGraph.Kind) -> Bool = { _ in true }) {
        let nodes = graph.nodeCount
        component = [Int32](repeating: -1, count: nodes)
        var number = [Int32](repeating: -1, count: nodes)
        var low = [Int32](repeating: 0, count: nodes)
        var next = [Int32](repeating: 0, count: nodes)
        var open: [Int32] = []
        var path: [Int32] = []
        var numbered: Int32 = 0
        for root in 0..<nodes where number[root] < 0 {
            path.append(Int32(root))
            while let top = path.last {
                let node = Int(top)
                if number[node] < 0 {
                    number[node] = numbered
                    low[node] = numbered
                    numbered += 1
                    next[node] = graph.offsets[node]
                    open.append(top)
                }
                var descends = false
                while next[node] < graph.offsets[node + 1] {
                    let edge = graph.edges[Int(next[node])]
                    next[node] += 1
                    guard includes(edge.kind) else { continue }
                    let target = Int(edge.to)
                    if number[target] < 0 {
                        path.append(edge.to)
                        descends = true
                        break
                    }
                    if component[target] < 0 { low[node] = min(low[node], number[target]) }
                }
                if descends { continue }
                path.removeLast()
                if let parent = path.last { low[Int(parent)] = min(low[Int(parent)], low[node]) }
                guard low[node] == number[node] else { continue }
                while let member = open.popLast() {
                    component[Int(member)] = Int32(count)
                    if member == top { break }
                }
                count += 1
            }
        }
    }

    /// The components of several nodes, in which cycles are, the smallest first.
    var circles: [[Int32]] {
        var sizes = [Int32](repeating: 0, count: count)
        for own in component { sizes[Int(own)] += 1 }
        var members: [Int32: [Int32]] = [:]
        for (node, own) in component.enumerated() where sizes[Int(own)] > 1 {
            members[own, default: []].append(Int32(node))
        }
        return members.values.sorted { ($0.count, $0[0]) < ($1.count, $1[0]) }
    }
}
