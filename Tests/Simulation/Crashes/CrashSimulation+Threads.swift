import FaultModel
import Seeds
import SimulatedDisk
import Synchronization

extension CrashSimulation {
    /// Plays the history with two writers, a reader that pins versions, and background work: commits fall between the
    /// steps of checkpoints, and batches hold several records.
    func recordThreads(_ schedule: Seed) throws -> (SimulatedDisk, Timeline) {
        let scheduling = DeterministicScheduling(SeededSchedule(schedule))
        var settings = SimulatedDisk.Settings(seed: seed.derived(part: "disk"))
        settings.beforeOperation = { _ in scheduling.yield(at: "disk") }
        let disk = SimulatedDisk(settings)
        let history = history
        let play = ThreadedPlay(timeline: Timeline(before: history.states, opened: 0, history.states[0]))
        try scheduling.run {
            let program = try Program.open(disk, scheduling)
            let write: @Sendable () throws -> Void = {
                while play.hasMore(history) {
                    var number: Int?
                    try program.commit {
                        // The write lock is held here, so this is the order of the versions.
                        number = play.begin(history, at: disk.operations)
                        return number.map { history.transactions[$0] } ?? []
                    }
                    if let number, Program.keepsAcknowledged { play.keep(number + 1, at: disk.operations) }
                }
            }
            let read: @Sendable () throws -> Void = {
                while play.hasMore(history) {
                    let pinned = try program.pin()
                    let digest = try pinned()
                    guard let version = play.version(of: digest, in: history) else { throw PlayFailed(digest: digest) }
                    if Program.keepsAcknowledged { play.keep(version, at: disk.operations) }
                    for _ in 0..<8 { scheduling.yield(at: "reader") }
                    if try pinned() != digest { throw PlayFailed(digest: digest) }
                }
            }
            try scheduling.together([("writer 1", write), ("writer 2", write), ("reader", read)])
            try program.check()
            try program.close()
            play.keepAll(at: disk.operations)
        }
        return (disk, play.timeline)
    }
}

/// Thrown if a reader saw a state that was never written, or a pinned version changed.
struct PlayFailed: Error {
    var digest: UInt64
}

/// A history whose transactions several threads share.
private final class ThreadedPlay: Sendable {
    private let state: Mutex<Timeline>

    init(timeline: Timeline) { state = Mutex(timeline) }

    var timeline: Timeline { state.withLock { $0 } }

    func hasMore(_ history: ProgramHistory) -> Bool { state.withLock { $0.count < history.transactions.count } }

    /// The number of the next transaction to begin; nil when all have begun.
    func begin(_ history: ProgramHistory, at operation: Int) -> Int? {
        state.withLock { timeline in
            let number = timeline.count
            if number >= history.transactions.count { return nil }
            timeline.begin(history.states[number + 1], at: operation)
            return number
        }
    }

    func keep(_ version: Int, at operation: Int) { state.withLock { $0.keep(version, at: operation) } }

    func keepAll(at operation: Int) { state.withLock { $0.keepAll(at: operation) } }

    /// The earliest of the begun versions with these contents.
    func version(of digest: UInt64, in history: ProgramHistory) -> Int? {
        history.states[...state.withLock { $0.count }].firstIndex { $0.digest == digest }
    }
}
