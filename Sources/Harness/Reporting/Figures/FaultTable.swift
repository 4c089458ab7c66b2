import RunRecords

/// The outcomes of one engine under one fault in one durability class, over all cases of the scenario that injects it.
struct FaultRow {
    var engine: String
    /// The scenario that injects the fault.
    var fault: String
    var durability: DurabilityClass
    var cases: [OutcomeRow]

    func count(_ group: OutcomeRow.Group) -> Int { cases.reduce(0) { $0 + $1.count(group) } }

    var trialCount: Int { cases.reduce(0) { $0 + $1.trialCount } }

    /// nil if there are no trials.
    func share(_ group: OutcomeRow.Group) -> Double? {
        trialCount == 0 ? nil : Double(count(group)) / Double(trialCount)
    }

    /// The gravest verdict of its cases, so that a case that passed hides none that failed.
    var standing: Standing { cases.map(\.standing).min { $0.rank < $1.rank } ?? .notRun }

    var isCut: Bool { cases.contains { $0.result.isCut } }

    var engineVersion: String { cases.first?.result.engineVersion ?? "" }

    /// The promises and their state: `durability kept, atomicity broken`.
    var promise: String {
        let order: [JudgedPromise.State] = [.broken, .known, .kept, .notMade]
        let promises = cases.flatMap(\.result.promises).filter { $0.state != .open }
        let gravest = RunDigest.unique(promises.map(\.kind)).compactMap { kind in
            promises.filter { $0.kind == kind }
                .min { (order.firstIndex(of: $0.state) ?? 0) < (order.firstIndex(of: $1.state) ?? 0) }
        }
        if gravest.isEmpty { return Figure.none }
        return gravest.map { $0.kind.isEmpty ? $0.words : "\($0.kind) \($0.words)" }.joined(separator: ", ")
    }
}

extension RunDigest {
    /// Families whose scenarios inject faults into files, calls, processes or power.
    private static let faultFamilies: Set<Family> = [.corruption, .crash]

    /// A row per fault, durability class and engine: faults in plan order, damage first. Empty for a run that tried no
    /// faults. An engine that cannot run the scenario has no row.
    var faultRows: [FaultRow] {
        once {
            struct Key: Hashable {
                var fault: String
                var durability: DurabilityClass
            }
            let cases = outcomeRows(.safe).filter { row in
                Self.faultFamilies.contains(row.subject.family)
                    && ![.notApplicable, .notBuilt].contains(row.result.verdict)
            }
            let byKey = Dictionary(grouping: cases) {
                Key(fault: $0.subject.scenario, durability: $0.subject.durability)
            }
            let keys = Self.unique(cases.map { Key(fault: $0.subject.scenario, durability: $0.subject.durability) })
            return keys.flatMap { key in
                engines.compactMap { engine in
                    let own = (byKey[key] ?? []).filter { $0.engine == engine }
                    guard !own.isEmpty else { return nil }
                    return FaultRow(engine: engine, fault: key.fault, durability: key.durability, cases: own)
                }
            }
        }
    }
}
