#if Zoo
    import FaultModel
    import Foundation
    import Seeds
    import Testing

    @testable import StrataStorage

    /// Plants mistakes in the steps by which readers pin versions. Each test plants one in a process of its own, in
    /// which one of ``schedules`` schedules, drawn by seeds, must fail.
    @Suite(.serialized) struct ScheduleMistakeTests {
        private static let schedules: UInt64 = 400
        private static let found: Int32 = 17

        /// A writer replaces versions while two readers pin and unpin them.
        private static let readers: [[ScheduledOperation]] = [
            [.increment, .increment, .increment, .increment], [.pin, .pin, .unpin, .unpin, .pin, .unpinAny, .pin],
            [.pin, .unpinAny, .pin, .pin, .unpin],
        ]
        private static let close: [[ScheduledOperation]] = [[.pin, .pin], [.pin, .close]]

        /// Runs histories under drawn schedules, and ends the process: with ``found`` at the first error, else with 0.
        private static func explore(_ mistake: PinMistake?, _ history: (SeededSchedule) throws -> Void) -> Never {
            PinMistake.planted = mistake
            for seed in 1...(mistake == nil ? 20 : schedules) {
                do { try history(SeededSchedule(Seed(seed))) } catch {
                    FileHandle.standardError.write(Data("seed \(seed): \(error)\n".utf8))
                    exit(found)
                }
            }
            exit(0)
        }

        private static func explore(_ mistake: PinMistake?, _ threads: [[ScheduledOperation]]) -> Never {
            explore(mistake) { try ScheduledStore($0).run(threads) }
        }

        private static func explore(_ mistake: PinMistake?, _ threads: [ScheduledProcesses.Thread]) -> Never {
            explore(mistake) { try ScheduledProcesses($0).run(threads) }
        }

        /// Two processes, each with a thread that reads and one that writes. The second writer runs `operations`.
        private static func beside(_ operations: [ScheduledOperation]) -> [ScheduledProcesses.Thread] {
            [
                .init(0, [.pin, .pin, .unpin, .pin, .unpin, .pin, .unpin, .pin]), .init(1, operations),
                .init(1, [.pin, .pin, .unpin, .pin, .unpin, .pin]), .init(0, [.increment, .increment]),
            ]
        }

        // MARK: In one process

        @Test func pinsThatAreNotCountedWhenTheirVersionIsReplacedAreFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.pinsUncounted, Self.readers) }
        }

        @Test func aSlotThatIsUsedBeforeItsLastPinEndsIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.slotUsedEarly, Self.readers) }
        }

        @Test func pinsThatAreForgottenWhenTheirVersionIsReplacedAreFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.pinsForgotten, Self.readers) }
        }

        @Test func aVersionThatReadersGoOnPinningIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.neverRetired, Self.readers) }
        }

        @Test func aPinThatComesBetweenTheCheckAndThePublicationIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.askedEarly, Self.readers) }
        }

        @Test func aVersionThatReadersPinBeforeItIsDurableIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.sharedEarly, Self.readers) }
        }

        @Test func oneOfTwoReleasesThatIsLostIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.releasedInSteps, Self.readers) }
        }

        @Test func aPinAfterACloseIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) { Self.explore(.sharedAfterClose, Self.close) }
        }

        @Test func withoutAMistakeNothingIsFound() async {
            await #expect(processExitsWith: .success) { Self.explore(nil, Self.readers) }
        }

        // MARK: In several processes

        @Test func aGuestsCommitThatTheOwnersReadersDoNotSeeIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) {
                Self.explore(.neverRetired, Self.beside([.increment, .increment]))
            }
        }

        @Test func aGuestThatReturnsBeforeTheOwnersReadersSeeItsCommitIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) {
                Self.explore(.retiredLate, Self.beside([.increment, .increment]))
            }
        }

        @Test func aPinBesideTheOwnerThatIsNotCheckedIsFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) {
                Self.explore(.storedUnchecked, Self.beside([.increment, .increment]))
            }
        }

        @Test func readersOfAnOwnerThatHasHandedOverWritingAreFound() async {
            await #expect(processExitsWith: .exitCode(Self.found)) {
                Self.explore(.ownershipKept, Self.beside([.incrementLarge, .increment]))
            }
        }

        @Test func betweenProcessesNothingIsFoundWithoutAMistake() async {
            await #expect(processExitsWith: .success) {
                Self.explore(nil, Self.beside([.incrementLarge, .increment]))
            }
        }
    }
#endif
