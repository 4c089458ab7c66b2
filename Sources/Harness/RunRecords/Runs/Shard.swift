import JSONText
import Seeds

/// A part of a plan that one of several machines runs: number `index` of `count`, counted from 1.
///
/// The shard of a case follows from the case alone, so that machines need not communicate. Cases that a report compares
/// are in one shard: those of one scenario, data set, parameters, durability class and seed, with all engines and
/// sizes. A ratio across two machines would say nothing about engines.
package struct Shard: Hashable, Sendable, CustomStringConvertible {
    package let index: Int
    package let count: Int

    package static let largestCount = 9_999

    /// Shard 1/1: the whole plan.
    static let whole = Shard()

    private init() { (index, count) = (1, 1) }

    /// nil unless 1 <= index <= count <= `largestCount`.
    package init?(_ index: Int, of count: Int) {
        guard (1...Self.largestCount).contains(count), (1...count).contains(index) else { return nil }
        self.index = index
        self.count = count
    }

    /// Reads `2/5`.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]) else { return nil }
        self.init(index, of: count)
    }

    /// Accepts digits only, and no sign.
    package static func number(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    package var description: String { "\(index)/\(count)" }

    package func holds(_ test: Case) -> Bool { Self.index(of: test, among: count) == index }

    /// The shard of a case, counted from 1.
    package static func index(of test: Case, among count: Int) -> Int {
        let subject = Subject(test).withoutExtent
        let group = Case(
            scenario: subject.scenario, family: subject.family, engine: "", dataset: subject.dataset, size: 0,
            parameters: subject.parameters, seed: subject.seed, durability: subject.durability)
        return Int(StableHash.of(group.canonicalText).multipliedFullWidth(by: UInt64(count)).high) + 1
    }
}

/// What the run of a shard stores about the whole plan.
package struct PlanPart: Hashable, Sendable {
    package var shard: Shard
    /// The ids of all cases of the plan, in order.
    package var planCases: [String]
    /// The command that runs the whole plan on one machine.
    package var command: String

    package init(shard: Shard, planCases: [String], command: String) {
        self.shard = shard
        self.planCases = planCases
        self.command = command
    }
}

/// Which shard of a merged run gave which results, and on which machine.
package struct MergedShard: Hashable, Sendable {
    package var shard: Shard
    /// The id of its run.
    package var id: String
    /// Seconds since 1970.
    package var startTime: Int
    package var machine: Machine
    package var cases: [String]
}

extension RunHeader {
    /// The shard of each case of a merged run, by the id of the case.
    package var shardsByCase: [String: MergedShard] {
        var shards: [String: MergedShard] = [:]
        for shard in merged {
            for id in shard.cases { shards[id] = shard }
        }
        return shards
    }

    /// The shards that a merged run lacks, ascending.
    package var missingShards: [Shard] {
        guard let count = merged.first?.shard.count else { return [] }
        let present = Set(merged.map(\.shard.index))
        return (1...count).filter { !present.contains($0) }.compactMap { Shard($0, of: count) }
    }
}
