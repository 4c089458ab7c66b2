import Foundation
import Strata
import Testing

/// The meaning of ambiguous conditions: ranges of collections, nulls, missing links, counts.
@Suite struct QueryMeaningTests {
    final class Node: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name: String?
        @Persisted var isOdd = false
        @Persisted var rank: Int?
        @Persisted var next: Node?
        @Persisted var nodes: List<Node>
        @Persisted var marks: List<Int>
        @Persisted var notes: List<Int?>
        @Persisted var scores: Map<String, Int>
        @Persisted var weights: Map<String, Double?>
    }

    private func nodes() throws -> Results<Node> {
        let realm = try makeRealm([Node.self])
        try realm.write {
            let marks = [[], [1, 2], [2, 3], [2]]
            for id in 0..<4 {
                let node = realm.create(Node.self, value: ["id": id, "marks": marks[id]])
                node.notes.append(objectsIn: [nil] + marks[id].map { $0 })
                for mark in marks[id] {
                    node.scores["\(mark)"] = mark
                    node.weights["\(mark)"] = .some(Double(mark) / 2)
                }
                node.name = id == 0 ? nil : "n\(id)"
                node.rank = id == 1 ? nil : id
                node.isOdd = id % 2 == 1
                node.next = realm.object(ofType: Node.self, forPrimaryKey: id - 1)
            }
            let last = realm.objects(Node.self)[3]
            last.nodes.append(objectsIn: realm.objects(Node.self))
            realm.objects(Node.self)[2].nodes.append(last)
        }
        return realm.objects(Node.self)
    }

    private func ids(_ results: Results<Node>) -> [Int] { results.map(\.id) }

    @Test("a range condition on a collection holds if any single element satisfies it")
    func anySingleElement() throws {
        let nodes = try nodes()
        #expect(ids(nodes.where { $0.marks.contains(1..<3) }) == [1, 3])
        #expect(ids(nodes.where { $0.marks.contains(2...3) }) == [2, 3])
        #expect(ids(nodes.where { !$0.marks.contains(2...3) }) == [0, 1])
        #expect(ids(nodes.where { $0.notes.contains(1...2) }) == [1, 3])
        #expect(ids(nodes.where { $0.scores.contains(1..<3) }) == [1, 3])
        #expect(ids(nodes.where { $0.weights.contains(0.5...1) }) == [1, 3])
        #expect(ids(nodes.where { $0.next.marks.contains(2...3) }) == [3])
    }

    @Test("maps are queried for values, and for aggregates")
    func valuesAndAggregates() throws {
        let nodes = try nodes()
        #expect(ids(nodes.where { $0.scores.contains(3) }) == [2])
        #expect(ids(nodes.where { $0.scores.containsAny(in: [1, 3]) }) == [1, 2])
        #expect(ids(nodes.where { $0.scores.min == 2 }) == [2, 3])
        #expect(ids(nodes.where { $0.scores.max > 2 }) == [2])
        #expect(ids(nodes.where { $0.scores.sum == 5 }) == [2])
        #expect(ids(nodes.where { $0.scores.avg == 2.5 }) == [2])
        #expect(ids(nodes.where { $0.scores.avg == 2 }) == [3])
        #expect(ids(nodes.where { $0.weights.avg == 0.75 }) == [1])
        #expect(ids(nodes.where { $0.weights.values < 1 }) == [1])
        #expect(ids(nodes.where { $0.scores.count == 2 }) == [1, 2])
        #expect(ids(nodes.where { $0.scores["2"] == 2 && $0.weights["2"] >= 1 }) == [1, 2, 3])
    }

    @Test("two nulls are equal, and every text orders after nil")
    func nullsAndTexts() throws {
        let nodes = try nodes()
        #expect(ids(nodes.where { $0.next.rank >= $0.next.rank }) == [0, 1, 2, 3])
        #expect(ids(nodes.where { $0.next.rank > $0.next.rank }) == [])
        #expect(ids(nodes.where { $0.rank <= nil }) == [1])
        #expect(ids(nodes.where { $0.rank > nil || $0.rank < nil }) == [])
        #expect(ids(nodes.where { $0.name > nil }) == [1, 2, 3])
        #expect(ids(nodes.where { $0.name >= nil }) == [0, 1, 2, 3])
        #expect(ids(nodes.where { $0.name <= nil }) == [0])
        #expect(ids(nodes.where { $0.name < "n2" }) == [1])
        #expect(ids(nodes.filter("name >= nil AND name != nil")) == [1, 2, 3])
    }

    @Test("sorts and distinct values take several and untyped key paths")
    func severalKeyPaths() throws {
        let nodes = try nodes()
        let paths: [PartialKeyPath<Node>] = [\.rank, \.name]
        let orders = paths.map { SortDescriptor(keyPath: $0, ascending: false) }
        #expect(ids(nodes.sorted(by: orders)) == [3, 2, 0, 1])
        try nodes.realm?.write { for node in nodes { node.rank = node.id / 3 } }
        #expect(ids(nodes.sorted(by: orders)) == [3, 2, 1, 0])
        #expect(ids(nodes.distinct(by: [\.rank])) == [0, 3])
        #expect(ids(nodes.distinct(by: paths)) == [0, 1, 2, 3])
    }

    @Test("a boolean property by itself is true, negated it is false, and a missing object is neither")
    func booleanByItself() throws {
        let nodes = try nodes()
        #expect(ids(nodes.where { $0.isOdd }) == [1, 3])
        #expect(ids(nodes.where { !$0.isOdd && $0.id < 9 }) == [0, 2])
        #expect(ids(nodes.where { $0.next.isOdd }) == [2])
        #expect(ids(nodes.where { !$0.next.isOdd }) == [1, 3])
        #expect(ids(nodes.where { !($0.next.isOdd || $0.isOdd) }) == [0])
        #expect(ids(nodes.where { !$0.nodes.isOdd }) == [0, 1])
    }

    @Test("distinct values behind a link skip missing targets")
    func missingTargets() throws {
        let nodes = try nodes()
        #expect(ids(nodes.distinct(by: ["next.rank"])) == [1, 2, 3])
        #expect(ids(nodes.distinct(by: [\.name])) == [0, 1, 2, 3])
    }

    @Test("in a counted condition every property belongs to the element")
    func countedCondition() throws {
        let nodes = try nodes()
        #expect(ids(nodes.where { ($0.nodes.rank == $0.rank).count == 4 }) == [3])
        #expect(ids(nodes.where { ($0.nodes.marks.count >= 2).count == 2 }) == [3])
        #expect(ids(nodes.where { ($0.nodes.marks.count >= 1 && ($0.nodes.id > 2).count > 0).count == 2 }) == [3])
        #expect(ids(nodes.where { ($0.nodes.marks.count >= 1 && ($0.nodes.id > 2).count > 0).count == 1 }) == [2])
        #expect(ids(nodes.filter("SUBQUERY(nodes, $n, $n.rank == rank).@count == 1")) == [3])
    }
}
