import Seeds

/// Runs cannot be merged; the message has the remedy.
package struct MergeError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// A run to merge, with the facts that decide whether it belongs to the others.
package struct ShardRun: Sendable {
    package var path: String
    package var header: RunHeader
    package var part: PlanPart
    /// The options of the run, without that of the shard.
    package var options: [String: [String]]
    /// Other settings that affect its cases, by name.
    package var bounds: [String: String]
    /// Its cases, in the order of the header.
    package var tests: [Case]

    /// Throws: `MergeError` if the run is not a shard.
    package init(
        path: String, header: RunHeader, options: [String: [String]], bounds: [String: String] = [:], tests: [Case]
    ) throws(MergeError) {
        guard header.merged.isEmpty else {
            throw MergeError("\(path) was merged already: name the runs of the shards, not what came of them")
        }
        guard let part = header.part else {
            throw MergeError(
                "\(path) is a whole run of plan \(header.plan), and no shard of one: only runs that were begun with "
                    + "--shard I/N are merged")
        }
        (self.path, self.header, self.part, self.options) = (path, header, part, options)
        (self.bounds, self.tests) = (bounds, tests)
    }

    fileprivate var words: String { "\(path) (shard \(part.shard))" }
}

/// Shards that belong to one run of a plan, and the header of the merged run.
///
/// Invariants:
/// 1. The result, or the error, does not depend on the order in which the shards were named.
/// 2. Only runs are merged that one machine could have made as one run: of the same plan, seed, build and options.
/// 3. Every case is in the shard that its hash selects, and in no other.
package struct ShardUnion: Sendable {
    /// By shard, ascending.
    package let shards: [ShardRun]
    private let missing: [Shard]

    /// - Parameter allowsMissing: whether shards may be missing. Their cases then count as not run.
    package init(_ runs: [ShardRun], allowsMissing: Bool) throws(MergeError) {
        shards = runs.sorted { ($0.part.shard.index, $0.path) < ($1.part.shard.index, $1.path) }
        guard let first = shards.first else { throw MergeError("there is nothing to merge") }
        for shard in shards.dropFirst() { try Self.agree(first, shard) }
        for (one, next) in zip(shards, shards.dropFirst()) where one.part.shard == next.part.shard {
            throw MergeError("shard \(one.part.shard) is there twice: \(one.path) and \(next.path). Name one of them")
        }
        let count = first.part.shard.count
        let present = Set(shards.map(\.part.shard.index))
        missing = (1...count).filter { !present.contains($0) }.compactMap { Shard($0, of: count) }
        try Self.checkCases(shards)
        if !missing.isEmpty && !allowsMissing {
            throw MergeError(
                "\(Self.list(missing)) missing. Run \(missing.count == 1 ? "it" : "them"), or merge what is there with "
                    + "--partial, which says so in the report")
        }
        let held = Set(shards.flatMap(\.header.cases))
        let lost = first.part.planCases.filter { !held.contains($0) }
        if missing.isEmpty, !lost.isEmpty {
            throw MergeError(
                "the plan's cases \(lost.prefix(3).joined(separator: ", ")) are in no shard: run the shards again")
        }
    }

    private static func list(_ shards: [Shard]) -> String {
        let names = shards.prefix(8).map(\.description).joined(separator: ", ") + (shards.count > 8 ? ", .." : "")
        return shards.count == 1 ? "shard \(names) is" : "shards \(names) are"
    }

    // MARK: Refusals

    private static func agree(_ a: ShardRun, _ b: ShardRun) throws(MergeError) {
        guard a.part.shard.count == b.part.shard.count else {
            throw MergeError(
                "\(a.words) and \(b.words) are of plans that were cut into \(a.part.shard.count) and "
                    + "\(b.part.shard.count) shards: run all of them with one number")
        }
        let facts: [(String, String, String)] = [
            ("plan", a.header.plan, b.header.plan), ("seed", "\(a.header.seed)", "\(b.header.seed)"),
            ("assay", a.header.assayVersion, b.header.assayVersion),
            ("build", build(a.header), build(b.header)), ("commit", a.header.commit, b.header.commit),
        ]
        for (name, first, second) in facts where first != second {
            throw MergeError(
                "\(a.words) is of \(name) \(quoted(first)), \(b.words) of \(quoted(second)): figures of two are not "
                    + "merged. Run the shards again with one \(name)")
        }
        for name in Set(a.options.keys).union(b.options.keys).sorted() where a.options[name] != b.options[name] {
            let (first, second) = (a.options[name], b.options[name])
            throw MergeError(
                "\(a.words) was begun \(option(name, first)), \(b.words) \(option(name, second)): run the shards "
                    + "again with the same options")
        }
        var bounds = (a: a.bounds, b: b.bounds)
        for (header, isFirst) in [(a.header, true), (b.header, false)] {
            let more = [
                "budget": header.budgetSeconds.map { "\($0) s" } ?? "none", "measures": "\(header.measures)",
                "engines": header.engines.map { "\($0.name) \($0.version)" }.joined(separator: ", "),
            ]
            if isFirst { bounds.a.merge(more) { $1 } } else { bounds.b.merge(more) { $1 } }
        }
        for name in Set(bounds.a.keys).union(bounds.b.keys).sorted() where bounds.a[name] != bounds.b[name] {
            throw MergeError(
                "\(a.words) has \(name) \(bounds.a[name] ?? "none"), \(b.words) \(bounds.b[name] ?? "none"): run the "
                    + "shards again from one file of plan \(a.header.plan), with the same settings")
        }
        guard a.part.planCases == b.part.planCases else {
            throw MergeError(
                "\(a.words) and \(b.words) are of plans named \(a.header.plan) with other cases "
                    + "(\(a.part.planCases.count) and \(b.part.planCases.count)): run the shards again from one file "
                    + "of the plan")
        }
    }

    private static func build(_ header: RunHeader) -> String {
        "\(header.buildDigest)\(header.isReleaseBuild ? "" : " (debug)")"
    }

    private static func quoted(_ text: String) -> String { text.isEmpty ? "(unknown)" : text }

    private static func option(_ name: String, _ values: [String]?) -> String {
        values.map { "with \(name) \($0.joined(separator: ","))" } ?? "without \(name)"
    }

    private static func checkCases(_ shards: [ShardRun]) throws(MergeError) {
        var holders: [String: String] = [:]
        for shard in shards {
            let planned = Set(shard.part.planCases)
            guard shard.header.cases == shard.tests.map(\.id) else {
                throw MergeError("run.json and cases.json of \(shard.words) list other cases: run that shard again")
            }
            for test in shard.tests {
                if let other = holders.updateValue(shard.words, forKey: test.id) {
                    throw MergeError(
                        "case \(test.id) is in \(other) and in \(shard.words): cases of shards never overlap, so that "
                            + "one of them is no shard of this plan. Run both again")
                }
                guard planned.contains(test.id), shard.part.shard.holds(test) else {
                    let right = Shard.index(of: test, among: shard.part.shard.count)
                    throw MergeError(
                        "case \(test.id) is in \(shard.words), and belongs to shard \(right): run that shard again")
                }
            }
        }
    }

    // MARK: Merged

    /// The header of the merged run.
    package var header: RunHeader {
        let first = shards[0]
        let working = shards.filter { !$0.header.cases.isEmpty }
        let sources = working.isEmpty ? shards : working
        let ids = shards.map { "\($0.part.shard) \($0.header.id)" }.joined(separator: "\n")
        var header = first.header
        header.id = "merged-\(header.plan)-\(header.seed)-\(StableHash.identifier(of: ids))"
        header.part = nil
        header.command = first.part.command
        header.startTime = shards.map(\.header.startTime).min() ?? 0
        header.machine = Machine.joined(sources.map(\.header.machine))
        header.cases = first.part.planCases
        header.merged = shards.map {
            MergedShard(
                shard: $0.part.shard, id: $0.header.id, startTime: $0.header.startTime, machine: $0.header.machine,
                cases: $0.header.cases)
        }
        for shard in shards.dropFirst() {
            header.families.merge(shard.header.families) { $1 }
            header.scenarioQuestions.merge(shard.header.scenarioQuestions) { $1 }
            header.rounds.merge(shard.header.rounds) { $1 }
            header.endedRounds.merge(shard.header.endedRounds) { $1 }
            header.controls.formUnion(shard.header.controls)
            header.doubtfulFigures += shard.header.doubtfulFigures
            header.notBuilt += shard.header.notBuilt.filter { !header.notBuilt.contains($0) }
        }
        header.warnings = warnings(sources)
        return header
    }

    private func warnings(_ sources: [ShardRun]) -> [String] {
        var warnings: [String] = []
        if !missing.isEmpty {
            let held = Set(shards.flatMap(\.header.cases))
            let count = shards[0].part.planCases.count { !held.contains($0) }
            warnings.append("PARTIAL: \(Self.list(missing)) missing, and \(count == 1 ? "1 case" : "\(count) cases")")
        }
        for source in sources {
            for warning in source.header.warnings {
                let isCommon = sources.allSatisfy { $0.header.warnings.contains(warning) }
                let text = isCommon ? warning : "\(warning) (shard \(source.part.shard))"
                if !warnings.contains(text) { warnings.append(text) }
            }
        }
        return warnings
    }
}

extension Machine {
    /// The machine of a merged run. A text in which the machines differ lists all its values, in their order; a number
    /// is the smallest. Of syncs it has the least honest state and the longest time.
    static func joined(_ machines: [Machine]) -> Machine {
        func all(_ fact: (Machine) -> String) -> String {
            var seen: [String] = []
            for text in machines.map(fact) where !seen.contains(text) { seen.append(text) }
            return seen.joined(separator: ", ")
        }
        let honesty: [FsyncHonesty] = [.no, .suspicious, .yes]
        return Machine(
            host: all(\.host), system: all(\.system), processor: all(\.processor),
            coreCount: machines.map(\.coreCount).min() ?? 0, memoryBytes: machines.map(\.memoryBytes).min() ?? 0,
            fileSystem: all(\.fileSystem),
            fsync: honesty.first { machines.map(\.fsync).contains($0) } ?? .yes,
            fsyncNanoseconds: machines.map(\.fsyncNanoseconds).max() ?? 0)
    }
}
