#if Zoo
    import FaultModel
    import Foundation
    import Seeds
    import Testing

    @testable import StrataStorage

    /// Leaves out the waking of threads after one transition, in a process of its own, in which some of ``schedules``
    /// schedules, drawn by seeds, must end in a deadlock.
    @Suite(.serialized)
    struct WakingTests {
        /// As many without a mistake as with one: more schedules find more.
        private static let schedules: UInt64 = 400
        private static let deadlock: Int32 = 17
        private static let otherError: Int32 = 18

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

            func run(seed: UInt64) throws {
                let schedule = SeededSchedule(Seed(seed))
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

        /// Runs a history under drawn schedules, and ends the process: with ``deadlock`` at one, with
        /// ``otherError`` at another error, else with 0.
        private static func explore(_ history: History?, silent: WakingTransition?) -> Never {
            WakingTransition.silent = silent
            guard let history else { exit(otherError) }
            for seed in 1...schedules {
                do { try history.run(seed: seed) } catch {
                    FileHandle.standardError.write(Data("\(history), seed \(seed): \(error)\n".utf8))
                    exit(error is DeterministicScheduling.Deadlock ? deadlock : otherError)
                }
            }
            exit(0)
        }

        @Test("threads that are not woken wait for ever")
        func threadsThatAreNotWokenWaitForEver() async {
            for (transition, histories) in Self.found {
                for history in histories {
                    await #expect(processExitsWith: .exitCode(Self.deadlock), "\(transition), \(history)") {
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
