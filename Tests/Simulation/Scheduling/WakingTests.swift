#if Zoo
    import FaultModel
    import Foundation
    import Seeds
    import Testing

    @testable import StrataStorage

    /// Leaves out the waking of threads after one transition. Each test does so in a process of its own, in which some
    /// of ``schedules`` schedules, drawn by seeds, must end in a deadlock.
    @Suite(.serialized)
    struct WakingTests {
        /// As many without a mistake as with one: more schedules find more.
        private static let schedules: UInt64 = 400
        private static let found: Int32 = 17
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
            /// An operation of the disk fails while threads commit.
            case failure

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
                case .failure:
                    do {
                        try ScheduledStore(schedule, failingOperation: Int(seed % 32)).run([
                            [.incrementLarge, .increment], [.rollBack, .increment, .rollBack], [.rollBack, .increment],
                        ])
                    } catch is StorageError {}
                }
            }
        }

        private static func histories(of transition: WakingTransition) -> [History] { History.allCases }

        /// Runs a history under drawn schedules, and ends the process: with ``found`` at a deadlock, with
        /// ``otherError`` at another error, else with 0.
        private static func explore(_ history: History?, silent: WakingTransition?) -> Never {
            WakingTransition.silent = silent
            guard let history else { exit(otherError) }
            for seed in 1...schedules {
                do { try history.run(seed: seed) } catch {
                    FileHandle.standardError.write(Data("\(history), seed \(seed): \(error)\n".utf8))
                    exit(error is DeterministicScheduling.Deadlock ? found : otherError)
                }
            }
            exit(0)
        }

        @Test("threads that are not woken wait for ever", arguments: WakingTransition.allCases)
        func threadsThatAreNotWokenWaitForEver(transition: WakingTransition) async {
            for history in Self.histories(of: transition) {
                await #expect(processExitsWith: .exitCode(Self.found), "\(transition), \(history)") {
                    [transition = transition.rawValue as String, history = history.rawValue as String] in
                    Self.explore(History(rawValue: history), silent: WakingTransition(rawValue: transition))
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
