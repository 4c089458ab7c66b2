import RunRecords

/// A state of the machine, or of the engine's files, during a case: a parameter of every scenario for which it makes
/// sense.
///
/// A case lists only conditions that differ from the default, so that a case without conditions keeps the id that it
/// had before conditions existed.
package enum Condition: String, Sendable, CaseIterable {
    /// Microseconds by which each call that waits for the disk (a sync) takes longer, at least.
    case syncDelay = "sync_delay_us"
    /// Microseconds by which each other write takes longer, at least.
    case writeDelay = "write_delay_us"
    /// Whether the pages of the database's files are in the page cache when the clock of a figure starts.
    case cache
    /// The limit of memory of the worker and the processes that it starts, page cache included.
    case memoryLimit = "memory_limit_megabytes"
    /// Whether the engine encrypts its files, if it can.
    case encrypted

    /// The parameter of a scenario for this condition. Its default value means that the condition does not apply.
    package var parameter: ScenarioParameter {
        switch self {
        case .syncDelay:
            ScenarioParameter(
                rawValue, .condition, default: 0, range: 0...10_000_000,
                summary: "microseconds that a sync takes longer")
        case .writeDelay:
            ScenarioParameter(
                rawValue, .condition, default: 0, range: 0...10_000_000,
                summary: "microseconds that a write takes longer")
        case .cache:
            ScenarioParameter(
                rawValue, default: "warm", allowed: ["warm", "cold"],
                summary: "whether the file is in the page cache before each read")
        case .memoryLimit:
            ScenarioParameter(
                rawValue, .condition, default: 0, range: 0...1_000_000,
                summary: "of the worker and its page cache, by a memory cgroup; 0: none")
        case .encrypted:
            ScenarioParameter(
                rawValue, default: "no", allowed: ["no", "yes"],
                summary: "whether the engine's files are encrypted; no nonce in them may serve twice")
        }
    }

    /// The conditions of a scenario that names no others. A cold cache is not among them: the scenario itself has to
    /// drop the cached pages.
    package static let ofTheMachine: Set<Condition> = [.syncDelay, .writeDelay, .memoryLimit]
}

extension Scenario {
    package var conditions: Set<Condition> {
        isOfFiles ? Condition.ofTheMachine.union([.encrypted]) : Condition.ofTheMachine
    }

    /// Whether the scenario is about the contents of an engine's files, and only the engine opens them. Another program
    /// would not have the key to encrypted files.
    private var isOfFiles: Bool {
        [.growth, .corruption, .crash].contains(family)
            && requires.isDisjoint(with: [.objects, .migrations])
    }

    /// The parameters of its conditions, in the order of `Condition`.
    package var conditionParameters: [ScenarioParameter] {
        Condition.allCases.filter(conditions.contains).map(\.parameter)
    }
}

extension Case {
    /// 0 if the case has no such condition.
    package func amount(_ condition: Condition) -> Int { integer(condition.rawValue) }

    package var isEncrypted: Bool { parameter(Condition.encrypted.rawValue) == "yes" }

    package var isCold: Bool { parameter(Condition.cache.rawValue) == "cold" }
}
