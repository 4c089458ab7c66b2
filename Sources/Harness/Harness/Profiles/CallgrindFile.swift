import RunRecords

/// An output file of valgrind's callgrind: the cost of each function, and of each call between two functions.
///
/// It has calls but no stacks. The cost of a function with several callers is divided among these in proportion to the
/// cost of their calls, and so is the cost of the functions that it calls: exact if each function has one caller,
/// otherwise an estimate.
struct CallgrindFile {
    private struct Function {
        var own = 0.0
        /// The inclusive cost of its calls, by the called function.
        var calls: [String: Double] = [:]

        var total: Double { own + calls.values.reduce(0, +) }
    }

    /// By the file's number for the function, or its name if it has no number: two functions may have the same name.
    private var functions: [String: Function] = [:]
    private var names: [String: String] = [:]

    init(_ text: String) {
        var current = ""
        var called = ""
        var isCall = false
        // In a line of costs, the cost comes after as many columns of positions as the file declares.
        var positionCount = 1
        for line in text.split(separator: "\n") {
            if let rest = Self.rest(line, "positions: ") {
                positionCount = rest.split(separator: " ").count
            } else if let rest = Self.rest(line, "fn=") {
                current = key(rest)
            } else if let rest = Self.rest(line, "cfn=") {
                called = key(rest)
            } else if line.hasPrefix("calls=") {
                isCall = true
            } else if let first = line.utf8.first, "0123456789+-*".utf8.contains(first) {
                let words = line.split(separator: " ")
                guard words.count > positionCount, let cost = Double(words[positionCount]) else { continue }
                if !isCall {
                    functions[current, default: Function()].own += cost
                } else if called != current {
                    functions[current, default: Function()].calls[called, default: 0] += cost
                }
                isCall = false
            }
        }
    }

    private static func rest(_ line: Substring, _ prefix: String) -> Substring? {
        line.hasPrefix(prefix) ? line.dropFirst(prefix.count) : nil
    }

    /// The file writes a name once, after its number: `(12) main`; later only `(12)`.
    private mutating func key(_ text: Substring) -> String {
        guard text.hasPrefix("("), let end = text.firstIndex(of: ")") else { return String(text) }
        let number = String(text[...end])
        let name = text[text.index(after: end)...].drop { $0 == " " }
        if !name.isEmpty { names[number] = String(name) }
        return number
    }

    /// Stacks from the roots. A call that costs less than a thousandth of the total is counted as its caller's own
    /// cost.
    var stacks: FoldedStacks {
        let called = Set(functions.values.flatMap(\.calls.keys))
        let roots = functions.keys.filter { !called.contains($0) }.sorted()
        let all = roots.reduce(0) { $0 + (functions[$1]?.total ?? 0) }
        var root = FoldedStacks.Node(name: "all")
        for key in roots {
            let node = node(key, functions[key]?.total ?? 0, smallest: all / 1_000, path: [])
            root.cost += node.cost
            root.children.append(node)
        }
        return FoldedStacks(unit: "instructions", root: root)
    }

    private func node(_ key: String, _ cost: Double, smallest: Double, path: [String]) -> FoldedStacks.Node {
        var node = FoldedStacks.Node(name: names[key] ?? key, cost: cost)
        guard let function = functions[key], function.total > 0, path.count < FoldedStacks.deepest else { return node }
        let share = cost / function.total
        for (callee, whole) in function.calls.sorted(by: { $0.key < $1.key })
        where whole * share >= max(smallest, 1) && callee != key && !path.contains(callee) {
            node.children.append(self.node(callee, whole * share, smallest: smallest, path: path + [key]))
        }
        return node
    }
}
