/// The cost of a process by call stack: a tree with the outermost function at its root.
package struct FoldedStacks: Sendable, Equatable {
    package struct Node: Sendable, Equatable {
        package var name: String
        /// The cost of this function and of all functions that it calls.
        package var cost: Double
        package var children: [Node]

        package init(name: String, cost: Double = 0, children: [Node] = []) {
            (self.name, self.cost, self.children) = (name, cost, children)
        }
    }

    /// The unit of costs: `instructions`, `samples`.
    package let unit: String
    /// The whole process. Its name is in no line of `text`.
    package private(set) var root: Node

    /// The most frames of a stack. Deeper ones are left out: an endless recursion shows nothing more.
    package static let deepest = 160

    package init(unit: String, root: Node = Node(name: "all")) {
        self.unit = unit
        self.root = root
    }

    /// - Parameter frames: the outermost frame first.
    package mutating func add(_ frames: [String], cost: Double) {
        Self.add(frames.prefix(Self.deepest), cost, &root)
    }

    private static func add(_ frames: ArraySlice<String>, _ cost: Double, _ node: inout Node) {
        node.cost += cost
        guard let name = frames.first else { return }
        let place = node.children.firstIndex { $0.name == name } ?? node.children.count
        if place == node.children.count { node.children.append(Node(name: name)) }
        add(frames.dropFirst(), cost, &node.children[place])
    }

    /// A line per stack with its own cost, ascending: `main;work;step 17`. This is the folded format that other tools
    /// read.
    package var text: String {
        var lines: [String] = []
        func write(_ node: Node, _ path: [String]) {
            let own = (node.cost - node.children.reduce(0) { $0 + $1.cost }).rounded()
            if own >= 1, !path.isEmpty { lines.append("\(path.joined(separator: ";")) \(Int(min(own, 9e15)))") }
            for child in node.children { write(child, path + [Self.plain(child.name)]) }
        }
        write(root, [])
        return lines.sorted().map { $0 + "\n" }.joined()
    }

    /// Replaces the separator in a name, which would begin another frame.
    private static func plain(_ name: String) -> String { name.replacing(";", with: ":").replacing("\n", with: " ") }
}
