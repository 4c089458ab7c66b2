import CaseFiles
import Harness
import RunRecords
import Seeds

/// Draws the operations of a script from the seed.
enum ScriptDraw {
    /// The parameters of a scenario that plays ``everyAction(of:)``.
    static func parameters(operations: Int = 12, upTo most: Int = 200, keys: Int = 12) -> [ScenarioParameter] {
        [
            ScenarioParameter(
                "operations", .size, default: operations, range: 1...most,
                summary: "operations that the seed draws, a reopen and a compaction beside them"),
            ScenarioParameter(
                "keys", .size, default: keys, range: 1...10_000, summary: "keys that they are drawn from"),
        ]
    }

    /// As many as the parameter `operations` says, on keys below the parameter `keys`.
    static func operations(of test: Case) -> [ScriptOperation] {
        var random = RandomStream(test.seed.derived("history"))
        let keys = test.integer("keys")
        return (0..<test.integer("operations")).map { number in
            let key = random.below(keys)
            let value = random.below(100) << (random.below(5) * 8)
            let label = "op-\(number)"
            switch random.below(100) {
            case ..<45:
                let count = random.chance(1, in: 5) ? 1 + random.below(12) : 1
                let length = random.chance(1, in: 6) ? random.below(6_000) : random.below(60)
                return ScriptOperation(label: label, action: "insert", arguments: [key, count, value, length])
            case ..<70: return ScriptOperation(label: label, action: "update", arguments: [key, value])
            case ..<86: return ScriptOperation(label: label, action: "delete", arguments: [key])
            case ..<94: return ScriptOperation(label: label, action: "reopen")
            default: return ScriptOperation(label: label, action: "compact")
            }
        }
    }

    /// The same operations, with a reopen in the middle and a compaction after three quarters.
    static func everyAction(of test: Case) -> [ScriptOperation] {
        var operations = self.operations(of: test)
        let count = operations.count
        operations.insert(ScriptOperation(label: "compact", action: "compact"), at: count * 3 / 4)
        operations.insert(ScriptOperation(label: "reopen", action: "reopen"), at: count / 2)
        return operations
    }
}
