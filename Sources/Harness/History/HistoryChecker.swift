import RunRecords

/// Judges a history against an isolation level.
///
/// 1. Reads are matched with the writes that they observed; errors of single reads are found at this step.
/// 2. Dependencies form a graph; a cycle in it is an anomaly, classified by its edges.
/// 3. Without a cycle, the remaining order is compared with real time.
///
/// Sound: every reported anomaly happened, whatever the unknown fates were. Not complete: the order of writes to
/// registers without a prior read by their transaction is unknown, and a search beyond its budget is reported as such.
/// Complexity: O(n log n) for a history without an anomaly, in the number of operations and elements read.
package struct HistoryChecker {
    package let history: History
    package let level: IsolationLevel
    /// The most steps of one search for a cycle, and of one for a path against real time.
    var mostCircleSteps = 50_000_000
    var mostWaySteps = 100_000_000

    package init(_ history: History, level: IsolationLevel = .strictSerializable) {
        self.history = history
        self.level = level
    }

    /// The most components that are examined, smallest first: an engine without isolation has one for every few
    /// transactions.
    private static let mostCircles = 64
    /// Components of up to this many transactions are examined with all known dependencies.
    private static let mostInClosure = 200

    /// Throws: `HistoryError` for a history that breaks the rules of recording.
    package func check() throws(HistoryError) -> HistoryVerdict {
        let seen = try Observations(history)
        let graph = DependencyGraph(seen)
        let components = StrongComponents(graph)
        var verdict = HistoryVerdict(level: level, history: history, foreignReads: seen.foreignReads)
        verdict.edgeCount = graph.edges.count
        for (anomaly, found) in seen.findings.found {
            verdict.add(Finding(anomaly, count: found.count, Witness(anomaly, found, history)))
        }
        if components.count < graph.nodeCount {
            findCircles(seen, graph, components: components, verdict: &verdict)
        } else {
            compareWithClock(seen, graph, components: components, verdict: &verdict)
        }
        return verdict
    }

    // MARK: Circles

    private func findCircles(
        _ seen: Observations, _ graph: DependencyGraph, components: StrongComponents, verdict: inout HistoryVerdict
    ) {
        let circles = components.circles
        verdict.componentCount = circles.count
        let chains = VersionChains(seen, Successors(seen))
        var wide: CycleSearch?
        if circles.count > Self.mostCircles { verdict.isCut = true }
        for members in circles.prefix(Self.mostCircles) {
            // A kind counts once per component, by its shortest cycle.
            var shortest: [Anomaly: [DependencyGraph.Edge]] = [:]
            for rule in CycleSearch.Rule.allCases {
                let found =
                    members.count <= Self.mostInClosure
                    ? circle(among: members, rule, seen, chains: chains, verdict: &verdict)
                    : circle(
                        amongMany: members, rule, seen, chains: chains, graph: graph, components: components,
                        kept: &wide, verdict: &verdict)
                guard let found else { continue }
                let anomaly = Self.anomaly(of: found, seen)
                if found.count < shortest[anomaly]?.count ?? .max { shortest[anomaly] = found }
            }
            for (anomaly, edges) in shortest {
                verdict.add(Finding(anomaly, count: 1, Witness(anomaly, edges, seen)))
            }
        }
    }

    /// In a component that is too large for a closure of all dependencies.
    private func circle(
        amongMany members: [Int32], _ rule: CycleSearch.Rule, _ seen: Observations, chains: VersionChains,
        graph: DependencyGraph, components: StrongComponents, kept: inout CycleSearch?,
        verdict: inout HistoryVerdict
    ) -> [DependencyGraph.Edge]? {
        let starts = seen.history.transactions.map(\.start)
        var search = kept ?? CycleSearch(graph, starts: starts, budget: mostCircleSteps)
        kept = nil
        let own = components.component[Int(members[0])]
        let found = search.shortest(among: members, rule) { components.component[$0] == own }
        verdict.isCut = verdict.isCut || search.isExhausted
        kept = search
        guard let found else { return nil }
        // Dependencies between distant transactions may shorten it.
        let edges = Self.contracted(found.map { graph.edges[$0] }, seen)
        if edges.count > Self.mostInClosure { return edges }
        return circle(among: edges.map(\.from), rule, seen, chains: chains, verdict: &verdict) ?? edges
    }

    /// Leaves out writers in between: a transaction before a version of a key is before all later versions of it.
    static func contracted(_ circle: [DependencyGraph.Edge], _ seen: Observations) -> [DependencyGraph.Edge] {
        func isRide(_ first: DependencyGraph.Edge, _ second: DependencyGraph.Edge) -> Bool {
            let isLater = second.kind == .writeWrite || second.kind == .writeRead && first.kind == .writeWrite
            return first.kind != .writeRead && isLater
                && seen.key[Int(first.toOperation)] == seen.key[Int(second.fromOperation)]
        }
        // Begin at an edge that cannot be contracted with the one before it.
        let count = circle.count
        guard let begin = circle.indices.first(where: { !isRide(circle[($0 + count - 1) % count], circle[$0]) }) else {
            return circle
        }
        var edges = [circle[begin]]
        for step in 1..<count {
            let next = circle[(begin + step) % count]
            let last = edges[edges.count - 1]
            guard isRide(last, next) else {
                edges.append(next)
                continue
            }
            edges[edges.count - 1].to = next.to
            edges[edges.count - 1].toOperation = next.toOperation
            if next.kind == .writeRead { edges[edges.count - 1].kind = .writeRead }
        }
        return edges.count > 1 ? edges : circle
    }

    /// In a small component, with all known dependencies.
    private func circle(
        among members: [Int32], _ rule: CycleSearch.Rule, _ seen: Observations, chains: VersionChains,
        verdict: inout HistoryVerdict
    ) -> [DependencyGraph.Edge]? {
        let closure = Closure(seen, members, chains)
        let starts = members.map { seen.history.transactions[Int($0)].start }
        var search = CycleSearch(closure.graph, starts: starts, budget: mostCircleSteps)
        let nodes = members.indices.map { Int32($0) }
        let found = search.shortest(among: nodes, rule, isInside: { _ in true })
        verdict.isCut = verdict.isCut || search.isExhausted
        return found?.map { Self.renamed(closure.graph.edges[$0], members) }
    }

    private static func renamed(_ edge: DependencyGraph.Edge, _ members: [Int32]) -> DependencyGraph.Edge {
        var edge = edge
        edge.from = members[Int(edge.from)]
        edge.to = members[Int(edge.to)]
        return edge
    }

    /// The name of the anomaly of a cycle.
    static func anomaly(of edges: [DependencyGraph.Edge], _ seen: Observations) -> Anomaly {
        let antidependencies = edges.filter { $0.kind == .readWrite }
        if antidependencies.isEmpty {
            return edges.contains { $0.kind == .writeRead } ? .cyclicFlow : .dirtyWrite
        }
        if edges.count == 2, antidependencies.contains(where: { bothChanged($0, seen) }) { return .lostUpdate }
        if antidependencies.count == 1 { return .readSkew }
        let isAdjacent = edges.indices.contains { index in
            edges[index].kind == .readWrite && edges[(index + 1) % edges.count].kind == .readWrite
        }
        return isAdjacent ? .writeSkew : .longFork
    }

    /// Whether both ends of an antidependency read the same version of its key, and both wrote the key.
    private static func bothChanged(_ edge: DependencyGraph.Edge, _ seen: Observations) -> Bool {
        let key = seen.key[Int(edge.fromOperation)]
        func isChanging(_ transaction: Int32) -> Bool {
            let operations = seen.history.transactions[Int(transaction)].operations
            let hasRead = operations.contains {
                seen.key[$0] == key && seen.history.operations[$0].kind.isRead
                    && seen.version[$0] == seen.version[Int(edge.fromOperation)]
            }
            return hasRead && operations.contains { seen.key[$0] == key && !seen.history.operations[$0].kind.isRead }
        }
        return isChanging(edge.from) && isChanging(edge.to)
    }

    // MARK: Clock

    private func compareWithClock(
        _ seen: Observations, _ graph: DependencyGraph, components: StrongComponents, verdict: inout HistoryVerdict
    ) {
        let order = RealTimeOrder(graph, history, components)
        let violators = order.violators()
        guard !violators.isEmpty else { return }
        let found = order.shortest(from: violators, budget: mostWaySteps)
        guard !found.isEmpty else {
            verdict.isCut = true
            return
        }
        var edges = found.map { graph.edges[$0] }
        let members = [edges[0].from] + edges.map(\.to)
        edges = Self.shortened(edges, members, seen)
        guard let first = edges.first, let last = edges.last else { return }
        edges.append(
            DependencyGraph.Edge(from: last.to, to: first.from, fromOperation: -1, toOperation: -1, kind: .realTime))
        verdict.add(Finding(.realTime, count: violators.count, Witness(.realTime, edges, seen)))
    }

    /// A shorter path between the ends, where the transactions between them allow one.
    private static func shortened(
        _ edges: [DependencyGraph.Edge], _ members: [Int32], _ seen: Observations
    ) -> [DependencyGraph.Edge] {
        guard edges.count > 1, members.count <= mostInClosure else { return edges }
        let closure = Closure(seen, members, VersionChains(seen, Successors(seen)))
        var parent = [Int](repeating: -1, count: members.count)
        var queue = [0]
        var head = 0
        while head < queue.count, parent[members.count - 1] < 0 {
            for edge in closure.graph.outgoing(queue[head]) {
                let target = Int(closure.graph.edges[edge].to)
                guard target != 0, parent[target] < 0 else { continue }
                parent[target] = edge
                queue.append(target)
            }
            head += 1
        }
        var way: [DependencyGraph.Edge] = []
        var node = members.count - 1
        while node != 0 {
            guard parent[node] >= 0 else { return edges }
            let edge = closure.graph.edges[parent[node]]
            way.append(renamed(edge, members))
            node = Int(edge.from)
        }
        return way.reversed()
    }
}

/// An anomaly that was found, with the smallest witness found.
package struct Finding: Sendable {
    package var anomaly: Anomaly
    /// The number of occurrences, at least: the search looks for one cycle per component.
    package var count: Int
    package var witness: Witness

    init(_ anomaly: Anomaly, count: Int, _ witness: Witness) {
        self.anomaly = anomaly
        self.count = count
        self.witness = witness
    }
}

/// The findings of the checker in a history.
package struct HistoryVerdict: Sendable {
    package let level: IsolationLevel
    /// One per anomaly, those that the weakest level forbids first.
    package private(set) var findings: [Finding] = []
    package let transactionCount: Int
    package let operationCount: Int
    package let committedCount: Int
    package let unknownCount: Int
    /// Transactions that ran concurrently with one of another actor.
    package let overlapCount: Int
    /// Reads that observed another transaction's write.
    package let foreignReads: Int
    package internal(set) var edgeCount = 0
    /// Strongly connected components: transactions that have no serial order.
    package internal(set) var componentCount = 0
    /// The search ended early: there may be more anomalies.
    package internal(set) var isCut = false

    init(level: IsolationLevel, history: History, foreignReads: Int) {
        self.level = level
        transactionCount = history.transactions.count
        operationCount = history.operations.count
        committedCount = history.count(of: .committed)
        unknownCount = history.count(of: .unknown)
        overlapCount = history.overlapCount
        self.foreignReads = foreignReads
    }

    /// Of several findings of one kind the smallest witness is kept.
    mutating func add(_ finding: Finding) {
        let order = Anomaly.allCases
        guard let index = findings.firstIndex(where: { $0.anomaly == finding.anomaly }) else {
            findings.append(finding)
            findings.sort {
                order.firstIndex(of: $0.anomaly) ?? 0 < order.firstIndex(of: $1.anomaly) ?? 0
            }
            return
        }
        findings[index].count += finding.count
        if finding.witness.transactions.count < findings[index].witness.transactions.count {
            findings[index].witness = finding.witness
        }
    }

    /// Findings that the level forbids.
    package var forbidden: [Finding] { findings.filter { $0.anomaly.isForbidden(at: level) } }

    package func finding(_ anomaly: Anomaly) -> Finding? { findings.first { $0.anomaly == anomaly } }
}
