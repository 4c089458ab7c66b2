#if Zoo
    import Foundation
    import Seeds
    import Testing

    @testable import StrataStorage

    /// Mistakes in steps without a lock. Each is planted in a process of its own, and schedules drawn by seeds must
    /// find it.
    @Suite(.serialized) struct ScheduleMistakeTests {
        private static let schedules: UInt64 = 200
        private static let found: Int32 = 17

        /// Two readers whose pins begin and end while versions are replaced.
        private static let readers: [[ScheduledOperation]] = [
            [.increment, .increment, .increment, .increment], [.pin, .pin, .unpin, .unpin, .pin, .unpin, .pin],
            [.pin, .unpin, .pin, .pin, .unpin],
        ]
        private static let close: [[ScheduledOperation]] = [[.pin, .pin], [.pin, .close]]

        /// Ends the process, with ``found`` if a schedule shows the mistake.
        private static func explore(_ mistake: ReaderPins.Mistake?, _ threads: [[ScheduledOperation]]) -> Never {
            ReaderPins.mistake = mistake
            for seed in 1...(mistake == nil ? 20 : schedules) {
                do { try ScheduledStore(SeededSchedule(Seed(seed))).run(threads) } catch {
                    FileHandle.standardError.write(Data("seed \(seed): \(error)\n".utf8))
                    exit(found)
                }
            }
            exit(0)
        }

        @Test func pinsThatAreNotCountedWhenTheirVersionIsReplacedAreFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.pinsUncounted, Self.readers) }
        }

        @Test func aSlotThatIsUsedBeforeItsLastPinEndsIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.slotUsedEarly, Self.readers) }
        }

        @Test func pinsThatAreForgottenWhenTheirVersionIsReplacedAreFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.pinsForgotten, Self.readers) }
        }

        @Test func aPinAfterACloseIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.sharedAfterClose, Self.close) }
        }

        @Test func withoutAMistakeNothingIsFound() async {
            await #expect(processExitsWith: .success) { Self.explore(nil, Self.readers) }
        }
    }
#endif
