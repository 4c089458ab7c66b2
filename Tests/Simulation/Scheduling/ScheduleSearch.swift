import FaultModel
import Foundation
import Seeds
import Testing

/// Runs a history of threads under many schedules: all with up to two preemptions, or as many as fit the time.
///
/// For longer runs: `SIMULATION_SECONDS=600`; `SIMULATION_SCHEDULES=all` goes on until the exhaustive part is complete.
/// One schedule alone: `SIMULATION_SCHEDULE='12.1,30.2,7'`, or `SIMULATION_SEED=77` for drawn ones.
struct ScheduleSearch {
    private static let environment = ProcessInfo.processInfo.environment
    static let seconds = environment["SIMULATION_SECONDS"].flatMap(Double.init) ?? 1
    /// Whether to visit all schedules, however long that takes.
    private static let isFull = environment["SIMULATION_SCHEDULES"] == "all"
    static let firstSeed = environment["SIMULATION_SEED"].flatMap(UInt64.init) ?? 1

    /// The test, as `SUITE/FUNCTION`. The filter in a message begins with the target, since the name of one suite ends
    /// like that of another one.
    let name: String
    /// Tells of a failing schedule.
    var report: (Comment) -> Void = { Issue.record($0) }

    /// Visits schedules in the order of their preemptions, and records an issue for the first that fails.
    func exploreAll(_ history: (any ScheduleChoosing) throws -> Void) throws {
        if let text = Self.environment["SIMULATION_SCHEDULE"] {
            return try history(try #require(ScheduleReplay(text)))
        }
        let deadline = ContinuousClock.now + .seconds(Self.isFull ? 24 * 3600 : Self.seconds)
        for limit in 0...2 {
            let exploration = ScheduleExploration(preemptions: limit)
            var isComplete = false
            repeat {
                do { try history(exploration) } catch {
                    report(
                        """
                        \(name): \(error)
                        repeat with: SIMULATION_SCHEDULE='\(exploration.description)' \
                        swift test --filter Simulation.\(name)
                        """)
                    return
                }
                isComplete = !exploration.next()
            } while !isComplete && ContinuousClock.now < deadline
            print(
                "\(name): \(exploration.schedules) schedules with up to \(limit) interruptions",
                isComplete ? "(all)" : "(cut by the deadline)")
            if !isComplete { return }
        }
    }

    /// Draws schedules by seeds, and records an issue for the first that fails.
    func draw(_ history: (Seed) throws -> Void) {
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        var seed = Self.firstSeed
        repeat {
            do { try history(Seed(seed)) } catch {
                report(
                    """
                    \(name): \(error)
                    repeat with: SIMULATION_SEED=\(seed) swift test --filter Simulation.\(name)
                    """)
                return
            }
            seed += 1
        } while ContinuousClock.now < deadline
        print("\(name): seeds \(Self.firstSeed)..<\(seed)")
    }
}
