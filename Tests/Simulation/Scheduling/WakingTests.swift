#if Zoo
    import Testing

    @testable import StrataStorage

    /// Leaves out the waking of threads after one transition, in a process of its own, in which some drawn schedules
    /// must end in a deadlock.
    @Suite(.serialized)
    struct WakingTests {
        private static let deadlock = "Deadlock: "

        private enum History: String, CaseIterable {
            /// Three threads commit, and share syncs.
            case writers
            /// A thread commits so much that a checkpoint makes it durable, beside threads that wait for that.
            case checkpoint
            /// Commits are acknowledged once they are in the log, and synced later.
            case periodic
            /// A thread closes the store while others commit.
            case close
            /// A process that does not own writing takes it over, beside threads of both that commit.
            case handOver

            func run(_ schedule: SeededSchedule) throws {
                switch self {
                case .writers:
                    try ScheduledStore(schedule).run([
                        [.increment, .increment], [.increment, .increment], [.increment],
                    ])
                case .checkpoint:
                    try ScheduledStore(schedule).run([
                        [.incrementLarge, .increment], [.rollBack, .increment, .rollBack], [.rollBack, .increment],
                    ])
                case .periodic:
                    try ScheduledStore(schedule, durability: .periodic).run([
                        [.increment, .increment, .increment], [.increment, .rollBack], [.pin, .close],
                    ])
                case .close:
                    try ScheduledStore(schedule).run([[.increment, .increment], [.pin, .close], [.increment]])
                case .handOver:
                    try ScheduledProcesses(schedule).run([
                        .init(0, [.increment, .increment]), .init(1, [.incrementLarge, .increment]),
                        .init(0, [.increment, .rollBack]), .init(1, [.increment]),
                    ])
                }
            }
        }

        /// The histories that end in a deadlock without the waking after a transition.
        private static let found: [(transition: WakingTransition, histories: [History])] = [
            // In the history of periodic syncs, the next of those wakes the threads.
            (.lead, [.writers, .checkpoint, .close, .handOver]),
            // No schedule of these histories shows the other transitions: whenever a thread waits, another one leads,
            // and wakes it.
            (.promisedSync, [.periodic]),
        ]

        private static func explore(_ history: History?, silent: WakingTransition?) -> Never {
            WakingTransition.silent = silent
            let expected = silent == nil ? [] : [deadlock]
            DrawnSchedules.explore(history?.rawValue ?? "no history", expecting: expected, history?.run)
        }

        @Test("threads that are not woken wait for ever")
        func threadsThatAreNotWokenWaitForEver() async {
            for (transition, histories) in Self.found {
                for history in histories {
                    await #expect(processExitsWith: .exitCode(DrawnSchedules.found), "\(transition), \(history)") {
                        [transition = transition.rawValue as String, history = history.rawValue as String] in
                        Self.explore(History(rawValue: history), silent: WakingTransition(rawValue: transition))
                    }
                }
            }
        }

        @Test("all threads end if each transition wakes them", arguments: History.allCases.map(\.rawValue))
        func allThreadsEndIfEachTransitionWakesThem(history: String) async {
            await #expect(processExitsWith: .success, "\(history)") { [history = history as String] in
                Self.explore(History(rawValue: history), silent: nil)
            }
        }
    }
#endif
