/// The parts of an AND or an OR, in their order.
///
/// A program that builds a condition of 100 000 parts in a loop adds one part at a time to a value that it still holds.
/// So no value can be changed in place: the parts are the leaves of a balanced tree, and a joined tree shares the
/// branches of its operands.
///
/// Invariant: the heights of the two branches of a node differ by at most one, so that iteration and release need the
/// stack of some tens of levels.
struct PredicateParts: Sequence, ExpressibleByArrayLiteral {
    private final class Node {
        let left: Node?
        let right: Node?
        let part: Predicate?
        let count: Int
        let height: Int
        /// The nesting depth of the deepest part.
        let depth: Int

        init(_ part: Predicate) {
            left = nil
            right = nil
            self.part = part
            count = 1
            height = 0
            depth = part.depth
        }

        init(_ left: Node, _ right: Node) {
            self.left = left
            self.right = right
            part = nil
            count = left.count + right.count
            height = Swift.max(left.height, right.height) + 1
            depth = Swift.max(left.depth, right.depth)
        }
    }

    private let root: Node?

    private init(root: Node?) { self.root = root }

    init(arrayLiteral parts: Predicate...) { self.init(parts) }

    /// - Complexity: O(parts).
    init(_ parts: [Predicate]) { root = Self.balanced(parts[...]) }

    private static func balanced(_ parts: ArraySlice<Predicate>) -> Node? {
        guard let first = parts.first else { return nil }
        if parts.count == 1 { return Node(first) }
        let middle = parts.startIndex + parts.count / 2
        guard let left = balanced(parts[..<middle]), let right = balanced(parts[middle...]) else { return nil }
        return Node(left, right)
    }

    var count: Int { root?.count ?? 0 }
    var underestimatedCount: Int { count }
    var depth: Int { root?.depth ?? 0 }

    // MARK: Joining

    /// - Complexity: O(log parts).
    func joined(with other: PredicateParts) -> PredicateParts {
        guard let root else { return other }
        guard let right = other.root else { return self }
        return PredicateParts(root: Self.join(root, right))
    }

    private static func join(_ left: Node, _ right: Node) -> Node {
        if left.height > right.height + 1, let low = left.left, let high = left.right {
            let end = join(high, right)
            if end.height <= low.height + 1 { return Node(low, end) }
            guard let first = end.left, let last = end.right else { return Node(low, end) }
            if first.height > last.height, let a = first.left, let b = first.right {
                return Node(Node(low, a), Node(b, last))
            }
            return Node(Node(low, first), last)
        }
        if right.height > left.height + 1, let low = right.left, let high = right.right {
            let start = join(left, low)
            if start.height <= high.height + 1 { return Node(start, high) }
            guard let first = start.left, let last = start.right else { return Node(start, high) }
            if last.height > first.height, let a = last.left, let b = last.right {
                return Node(Node(first, a), Node(b, high))
            }
            return Node(first, Node(last, high))
        }
        return Node(left, right)
    }

    // MARK: Walking

    struct Iterator: IteratorProtocol {
        private var waiting: [Node]

        fileprivate init(_ parts: PredicateParts) { waiting = parts.root.map { [$0] } ?? [] }

        mutating func next() -> Predicate? {
            while let node = waiting.popLast() {
                if let part = node.part { return part }
                if let right = node.right { waiting.append(right) }
                if let left = node.left { waiting.append(left) }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}
