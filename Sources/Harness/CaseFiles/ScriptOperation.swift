/// One operation of a case's script: an action with numbers, under a label that stays its own when other operations are
/// removed. Faults refer to the label, so that a shorter script still has them.
package struct ScriptOperation: Hashable, Sendable, CustomStringConvertible {
    package var label: String
    package var action: String
    package var arguments: [Int]

    package init(label: String, action: String, arguments: [Int] = []) {
        self.label = label
        self.action = action
        self.arguments = arguments
    }

    /// `op-3:update:5:1700`, as in the parameter `history` of a case.
    package var description: String { ([label, action] + arguments.map(String.init)).joined(separator: ":") }

    /// Parses that form; nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 2, Self.isWord(parts[0]), Self.isWord(parts[1]) else { return nil }
        var arguments: [Int] = []
        for part in parts.dropFirst(2) {
            guard let number = Int(part), number >= 0, String(number) == part else { return nil }
            arguments.append(number)
        }
        self.init(label: String(parts[0]), action: String(parts[1]), arguments: arguments)
    }

    /// Letters, digits and dashes: no character that separates anything here, in a fault's identity or in a shell.
    package static func isWord(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// All operations as one text: the value of a case's parameter.
    package static func text(of operations: [ScriptOperation]) -> String {
        operations.map(\.description).joined(separator: "/")
    }

    /// Parses such a text; nil where a part of it is not an operation, or two have the same label.
    package static func list(_ text: String) -> [ScriptOperation]? {
        var operations: [ScriptOperation] = []
        var labels: Set<String> = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false) {
            guard let operation = ScriptOperation(part), labels.insert(operation.label).inserted else { return nil }
            operations.append(operation)
        }
        return operations
    }
}
