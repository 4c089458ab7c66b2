#if Zoo
    import FaultModel
    import Foundation
    import Seeds

    /// Runs a history of threads under schedules drawn by seeds, in a process that it ends: for an exit test, whose
    /// planted mistake then stays in that process.
    enum DrawnSchedules {
        /// As many without a mistake as with one: more schedules find more.
        private static let count: UInt64 = 400
        /// The exit code if schedules found all that was expected.
        static let found: Int32 = 17
        private static let otherError: Int32 = 18

        /// Ends the process: with ``found`` when each of the expected parts was in the type and text of an error, with
        /// another code at an error without one of these parts, else with 0.
        /// - Parameter history: runs once per schedule; nil if the process was given the name of no history.
        static func explore(
            _ name: String, expecting expected: [String], _ history: ((SeededSchedule) throws -> Void)?
        ) -> Never {
            guard let history else { exit(otherError) }
            var missing = Set(expected)
            for seed in 1...count {
                do { try history(SeededSchedule(Seed(seed))) } catch {
                    let words = "\(type(of: error)): \(error)"
                    guard let part = expected.first(where: { words.contains($0) }) else {
                        FileHandle.standardError.write(Data("\(name), seed \(seed): \(words)\n".utf8))
                        exit(otherError)
                    }
                    missing.remove(part)
                    if missing.isEmpty { exit(found) }
                }
            }
            exit(0)
        }
    }
#endif
