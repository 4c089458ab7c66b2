#if Zoo
    import Harness
    import History
    import ModelEngine
    import RunRecords
    import Scenarios
    import Seeds
    import Testing

    /// Runs the sessions of several actors on one thread, one operation at a time in a seeded order, so that a mistake
    /// of isolation shows reliably.
    private struct Interleaving {
        let mistake: IsolationMistake
        /// With a write lock only one actor may write at a time; a second one would wait for ever.
        private var isLocking: Bool { [.abortedRead, .intermediateRead, .longFork].contains(mistake) }

        private struct Actor {
            let session: any TransactionSession
            var plans: [PlannedTransaction]
            var log = HistoryLog()
            var step = -1
            var isWriting: Bool { step >= 0 && plans[0].access == .writing }
        }

        func run(_ seed: UInt64, in place: String) throws -> History {
            let engine = ModelEngine(mistake: mistake)
            let settings = engine.settings(for: .none)
            let location = DatabaseLocation(directory: "/\(place)/\(mistake.rawValue)/\(seed)")
            let mix = TransactionMix(seed: Seed(seed), transactions: 25)
            let loader = try #require(try engine.open(location, settings: settings) as? any TableSession)
            try loader.load(TransactionCells.tables(count: mix.cellCount))
            var actors: [Actor] = try (0..<4).map { number in
                let session = try #require(try engine.open(location, settings: settings) as? any TransactionSession)
                return Actor(session: session, plans: mix.plans(of: number))
            }
            var random = RandomStream(Seed(seed).derived("order"))
            var time: UInt64 = 1
            while actors.contains(where: { !$0.plans.isEmpty }) {
                let index = random.below(actors.count)
                if actors[index].plans.isEmpty { continue }
                let waits =
                    isLocking && actors[index].step < 0 && actors[index].plans[0].access == .writing
                    && actors.contains { $0.isWriting }
                if waits { continue }
                time += 1
                advance(&actors[index], index, time)
            }
            var history = History()
            for actor in actors { try HistoryLog.add(actor.log.words, to: &history) }
            return history
        }

        /// Begins, or does one operation, or ends.
        private func advance(_ actor: inout Actor, _ number: Int, _ time: UInt64) {
            let plan = actor.plans[0]
            var end: History.End?
            do {
                if actor.step < 0 {
                    actor.log.begin(actor: number, at: time, plan.steps)
                    try actor.session.begin(plan.access)
                } else if actor.step < plan.steps.count {
                    let step = plan.steps[actor.step]
                    switch step.kind {
                    case .read: actor.log.read(try actor.session.read(step.key))
                    case .readList: actor.log.read(try actor.session.readList(step.key))
                    case .write: try actor.session.write(step.key, step.value)
                    case .append: try actor.session.append(step.key, step.value)
                    }
                } else if plan.isRolledBack {
                    try actor.session.rollback()
                    end = .aborted
                } else {
                    end = .unknown
                    try actor.session.commit()
                    end = .committed
                }
                actor.step += 1
            } catch {
                end = end ?? .aborted
                do throws(EngineError) { try actor.session.rollback() } catch { Issue.record("\(error)") }
            }
            guard let end else { return }
            actor.log.end(end, at: time, done: min(max(actor.step, 0), plan.steps.count))
            actor.plans.removeFirst()
            actor.step = -1
        }
    }

    @Suite struct PlantedModelTests {
        private static let expected: [IsolationMistake: Anomaly] = [
            .dirtyWrite: .dirtyWrite, .abortedRead: .abortedRead, .intermediateRead: .intermediateRead,
            .cyclicFlow: .cyclicFlow, .lostUpdate: .lostUpdate, .writeSkew: .writeSkew, .longFork: .longFork,
        ]

        @Test("each is found, by at most four transactions", arguments: IsolationMistake.allCases)
        func found(mistake: IsolationMistake) throws {
            let wanted = try #require(Self.expected[mistake])
            var found = 0
            var smallest = Int.max
            for seed in 0..<40 {
                let history = try Interleaving(mistake: mistake).run(UInt64(seed), in: "found")
                let verdict = try HistoryChecker(history).check()
                guard let finding = verdict.finding(wanted) else { continue }
                found += 1
                smallest = min(smallest, finding.witness.transactions.count)
                #expect(
                    finding.witness.transactions.count <= 4, "seed \(seed): \(WitnessText(finding.witness).sentences)")
            }
            #expect(found > 0, "\(wanted.rawValue) in none of 40 histories")
            #expect(smallest <= 4)
        }

        @Test("a snapshot engine shows only anomalies that snapshots allow")
        func writeSkewAlone() throws {
            for seed in 0..<40 {
                let history = try Interleaving(mistake: .writeSkew).run(UInt64(seed), in: "snapshot")
                let verdict = try HistoryChecker(history, level: .snapshot).check()
                let text = verdict.forbidden.map { WitnessText($0.witness).sentences }
                #expect(verdict.forbidden.isEmpty, "seed \(seed): \(text)")
            }
        }
    }
#endif
