import RunRecords

/// What the machine is like under a case, or the engine's files: a parameter of every scenario that it makes sense for.
///
/// It stands in a case only where it differs from the ordinary: a case without conditions is the same case, with the
/// same id, as before there were any.
package enum Condition: String, Sendable, CaseIterable {
    /// Whatever waits for the disk takes so much longer at least.
    case syncDelay = "sync_delay_us"
    /// The same for writes that do not wait.
    case writeDelay = "write_delay_us"
    /// Whether the pages of the database's files are in memory when a figure's clock starts.
    case cache
    /// What worker, page cache included, and the processes that it starts may have of memory.
    case memoryLimit = "memory_limit_megabytes"
    /// Whether the engine encrypts its files, where it can.
    case encrypted

    /// Its default is the ordinary.
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

    /// What a scenario has unless it says otherwise. A cold cache is the scenario's own work.
    package static let ofTheMachine: Set<Condition> = [.syncDelay, .writeDelay, .memoryLimit]
}

extension Scenario {
    package var conditions: Set<Condition> {
        isOfFiles ? Condition.ofTheMachine.union([.encrypted]) : Condition.ofTheMachine
    }

    /// Whether it is about what an engine's files hold, and opens them by the engine alone: with its key.
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
    /// 0 where the case has no such condition.
    package func amount(_ condition: Condition) -> Int { integer(condition.rawValue) }

    package var isEncrypted: Bool { parameter(Condition.encrypted.rawValue) == "yes" }

    package var isCold: Bool { parameter(Condition.cache.rawValue) == "cold" }
}
