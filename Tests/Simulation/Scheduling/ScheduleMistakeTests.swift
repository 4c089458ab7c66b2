#if Zoo
    import Testing

    @testable import StrataStorage

    /// Plants mistakes in the steps by which readers pin versions. Each test plants one in a process of its own, in
    /// which some drawn schedules must fail, with the errors that the mistake leads to.
    @Suite(.serialized)
    struct ScheduleMistakeTests {
        private enum History: String, CaseIterable {
            /// A writer replaces versions while two readers pin and unpin them.
            case readers
            /// A thread closes the store while another one reads.
            case close
            /// Two processes, each with a thread that reads and one that writes.
            case beside
            /// The same, and the process that does not own writing takes it over.
            case handOver

            func run(_ schedule: SeededSchedule) throws {
                switch self {
                case .readers:
                    try ScheduledStore(schedule).run([
                        [.increment, .increment, .increment, .increment],
                        [.pin, .pin, .unpin, .unpin, .pin, .unpinAny, .pin], [.pin, .unpinAny, .pin, .pin, .unpin],
                    ])
                case .close: try ScheduledStore(schedule).run([[.pin, .pin], [.pin, .close]])
                case .beside: try ScheduledProcesses(schedule).run(Self.processes([.increment, .increment]))
                case .handOver: try ScheduledProcesses(schedule).run(Self.processes([.incrementLarge, .increment]))
                }
            }

            /// - Parameter operations: those of the second process's writer.
            private static func processes(_ operations: [ScheduledOperation]) -> [ScheduledProcesses.Thread] {
                [
                    .init(0, [.pin, .pin, .unpin, .pin, .unpin, .pin, .unpin, .pin]), .init(1, operations),
                    .init(1, [.pin, .pin, .unpin, .pin, .unpin, .pin]), .init(0, [.increment, .increment]),
                ]
            }
        }

        /// A page that a pinned version needs was filled with the pattern.
        private static let overwritten = "Corruption.checksum"
        private static let older = "a snapshot has "
        private static let unpinned = "the store keeps a version without a pin"

        /// The histories that show a mistake, each with parts of the errors that it leads to.
        private static func errors(of mistake: PinMistake) -> [(history: History, errors: [String])] {
            switch mistake {
            case .pinsUncounted: [(.readers, [unpinned])]
            case .slotUsedEarly: [(.readers, [unpinned])]
            case .pinsForgotten: [(.readers, [overwritten])]
            case .neverRetired: [(.readers, [overwritten]), (.beside, [overwritten, older])]
            case .retiredLate: [(.beside, ["a reader pins version "])]
            case .askedEarly: [(.readers, [overwritten])]
            case .sharedEarly: [(.readers, [" increments were seen, a loss of power leaves "])]
            case .storedUnchecked: [(.beside, [overwritten, older])]
            case .releasedInSteps: [(.readers, [unpinned])]
            case .ownershipKept: [(.handOver, [overwritten])]
            case .sharedAfterClose: [(.close, ["a closed store returns a snapshot"])]
            }
        }

        private static func explore(_ history: History?, _ mistake: PinMistake?, expecting expected: [String]) -> Never
        {
            PinMistake.planted = mistake
            DrawnSchedules.explore(history?.rawValue ?? "no history", expecting: expected, history?.run)
        }

        @Test("each mistake is found by the errors that it leads to", arguments: PinMistake.allCases)
        func eachMistakeIsFoundByTheErrorsThatItLeadsTo(mistake: PinMistake) async {
            for (history, errors) in Self.errors(of: mistake) {
                await #expect(processExitsWith: .exitCode(DrawnSchedules.found), "\(mistake), \(history): \(errors)") {
                    [
                        mistake = mistake.rawValue as String, history = history.rawValue as String,
                        errors = errors as [String]
                    ]
                    in
                    Self.explore(History(rawValue: history), PinMistake(rawValue: mistake), expecting: errors)
                }
            }
        }

        @Test("without a mistake nothing is found", arguments: History.allCases.map(\.rawValue))
        func withoutAMistakeNothingIsFound(history: String) async {
            await #expect(processExitsWith: .success, "\(history)") { [history = history as String] in
                Self.explore(History(rawValue: history), nil, expecting: [])
            }
        }
    }
#endif
