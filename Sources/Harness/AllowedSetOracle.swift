import RunRecords

/// What may be read after a crash: the state after v operations, for any v that the durability class allows.
///
/// One actor per stretch of keys that no other actor writes: each actor's operations were issued one after the other,
/// so that its keys must show a prefix of them. The logs are kept, not the states: memory is that of the operations.
///
/// - `full`: acknowledged <= v <= attempted. An operation that was attempted and not acknowledged is both done and
///   not done until it is read.
/// - `periodic` and `none`: any prefix, 0 <= v <= attempted.
package struct AllowedSetOracle {
    package struct Assignment: Sendable {
        package var key: Int64
        package var value: Int64

        package init(key: Int64, value: Int64) {
            self.key = key
            self.value = value
        }
    }

    private struct Log {
        var operations: [[Assignment]] = []
        var acknowledged = 0
    }

    package let durability: DurabilityClass
    private let initial: [Int64: Int64]
    private var logs: [Log]

    /// `initial`: what stood there before the first operation. Keys that are absent were absent.
    package init(durability: DurabilityClass, actors: Int = 1, initial: [Int64: Int64] = [:]) {
        self.durability = durability
        self.initial = initial
        self.logs = Array(repeating: Log(), count: actors)
    }

    /// A transaction is about to be committed. It is whole or absent: its assignments count as one operation.
    package mutating func attempt(_ assignments: [Assignment], actor: Int = 0) {
        logs[actor].operations.append(assignments)
    }

    /// The engine said that the actor's oldest unacknowledged transaction is committed.
    package mutating func acknowledge(actor: Int = 0) {
        precondition(logs[actor].acknowledged < logs[actor].operations.count, "acknowledged what was never attempted")
        logs[actor].acknowledged += 1
    }

    package var attempted: Int { logs.reduce(0) { $0 + $1.operations.count } }
    package var acknowledged: Int { logs.reduce(0) { $0 + $1.acknowledged } }

    /// Judges what was read back. `observed` gives the value at a key; nil when the key is absent.
    ///
    /// Complexity: O(operations) reads at most.
    package func judge(_ observed: (Int64) -> Int64?) -> (outcome: Outcome, detail: String) {
        var written: Set<Int64> = []
        for (actor, log) in logs.enumerated() {
            let prefixes = prefixes(log, observed)
            let allowedFrom = durability == .full ? log.acknowledged : 0
            if let prefix = prefixes.last, prefix >= allowedFrom { continue }
            if let prefix = prefixes.last {
                let lost = log.acknowledged - prefix
                return (.lostCommit, "actor \(actor): \(lost) acknowledged commits are missing")
            }
            return (.silentlyWrong, "actor \(actor): what is there is no prefix of its \(log.operations.count) commits")
        }
        for log in logs {
            for operation in log.operations { for assignment in operation { written.insert(assignment.key) } }
        }
        for (key, value) in initial where !written.contains(key) && observed(key) != value {
            return (.silentlyWrong, "key \(key) was never written, expected \(value), got \(text(observed(key)))")
        }
        return (.correct, "")
    }

    private func text(_ value: Int64?) -> String {
        value.map(String.init) ?? "nothing"
    }

    /// All v, ascending, for which the state after v operations equals what was read, on the log's keys.
    private func prefixes(_ log: Log, _ observed: (Int64) -> Int64?) -> [Int] {
        var current: [Int64: Int64] = [:]
        var seen: [Int64: Int64?] = [:]
        var mismatches = 0
        for operation in log.operations {
            for assignment in operation where seen[assignment.key] == nil {
                let value = observed(assignment.key)
                seen[assignment.key] = .some(value)
                current[assignment.key] = initial[assignment.key]
                if value != initial[assignment.key] { mismatches += 1 }
            }
        }
        var matching = mismatches == 0 ? [0] : []
        for (index, operation) in log.operations.enumerated() {
            for assignment in operation {
                let wanted = seen[assignment.key] ?? nil
                if current[assignment.key] != wanted { mismatches -= 1 }
                current[assignment.key] = assignment.value
                if wanted != assignment.value { mismatches += 1 }
            }
            if mismatches == 0 { matching.append(index + 1) }
        }
        return matching
    }
}
