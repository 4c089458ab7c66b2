import Files
import Harness
import Platform
import RunRecords
import Synchronization

/// Checks whether threads that all want the next turn of writing get their turns in the order in which they asked.
///
/// The thread that holds the turn lists the threads that have asked for a turn and sleep: these wait. It asks again at
/// the end of its turn, behind them. If it gets its next turn before a listed thread, it has overtaken that thread. The
/// check measures no time: a thread that the machine does not run has not asked, or is not asleep.
struct WriterTurns {
    private static let turnsOfEach = 60
    /// How long a turn takes: long enough that the other threads have asked by its end.
    private static let microseconds: UInt32 = 1_000
    /// Overtakings allowed per hundred turns. A thread may sleep before it has reached the queue, on a lock that the
    /// engine holds briefly: it counts as waiting, and is overtaken without being in the queue.
    private static let allowed = 5

    let turns: Int
    /// Turns of a thread that began before those of another thread that had asked earlier and was asleep.
    let overtakings: Int

    private final class Board: Sendable {
        private struct State {
            var turns: [Int]
            var asks: [Bool]
            /// By thread, the others that waited at its last turn, with the turns that each had had by then.
            var waiters: [[Int: Int]]
            var overtakings = 0
            /// By thread, its directory in procfs.
            var places: [Int: String] = [:]
        }

        private let state: Mutex<State>
        private let most: Int

        init(_ count: Int) {
            most = count * WriterTurns.turnsOfEach
            state = Mutex(
                State(
                    turns: Array(repeating: 0, count: count), asks: Array(repeating: false, count: count),
                    waiters: Array(repeating: [:], count: count)))
        }

        /// Notes the directory of the calling thread in procfs.
        func enter(_ index: Int) {
            let place = FileTree.absolute("/proc/thread-self")
            state.withLock { $0.places[index] = place }
        }

        var places: [Int: String] { state.withLock { $0.places } }

        /// Returns: false when all threads together have had enough turns.
        func ask(_ index: Int) -> Bool {
            state.withLock { state in
                state.asks[index] = true
                return state.turns.reduce(0, +) < most
            }
        }

        func begin(_ index: Int) {
            state.withLock { state in
                state.asks[index] = false
                state.turns[index] += 1
                if state.waiters[index].contains(where: { state.turns[$0.key] == $0.value }) { state.overtakings += 1 }
            }
        }

        /// - Parameter sleeping: threads that sleep.
        func end(_ index: Int, sleeping: Set<Int>) {
            state.withLock { state in
                let waiting = sleeping.filter { $0 != index && state.asks[$0] }
                state.waiters[index] = Dictionary(uniqueKeysWithValues: waiting.map { ($0, state.turns[$0]) })
            }
        }

        var result: WriterTurns {
            state.withLock { WriterTurns(turns: $0.turns.reduce(0, +), overtakings: $0.overtakings) }
        }
    }

    init(turns: Int, overtakings: Int) { (self.turns, self.overtakings) = (turns, overtakings) }

    /// Changes nothing: each thread rolls its turns back. nil if the kernel does not report which threads sleep.
    static func run(_ context: CaseContext, at location: DatabaseLocation, threads: Int) throws -> WriterTurns? {
        let (board, line) = (Board(threads), StartLine(count: threads))
        guard FileTree.absolute("/proc/thread-self") != nil else { return nil }
        let (engine, settings) = (context.engine, context.settings)
        _ = try ThreadGroup.run(threads) { index in
            board.enter(index)
            let opened = Result {
                try CaseContext.session(engine, location, settings, as: (any TransactionSession).self)
            }
            line.arriveAndWait()
            let session = try opened.get()
            let places = board.places
            while board.ask(index) {
                try session.begin(.writing)
                board.begin(index)
                usleep(microseconds)
                board.end(index, sleeping: Set(places.filter { isAsleep($0.value) }.keys))
                try session.rollback()
            }
            try session.close()
        }
        return board.result
    }

    /// - Parameter place: the directory of the thread in procfs.
    private static func isAsleep(_ place: String) -> Bool {
        do {
            // The line has the thread's number, its name in parentheses, and its state.
            let text = try FileTree.readText(place + "/stat")
            return text.utf8.lastIndex(of: UInt8(ascii: ")")).map { text[$0...].hasPrefix(") S") } ?? false
        } catch { return false }
    }

    var trial: Trial {
        let isInOrder = overtakings * 100 <= turns * Self.allowed
        return Trial(
            address: FaultAddress(text: "turns"), outcome: isInOrder ? .correct : .hung,
            detail: isInOrder ? "" : "\(overtakings) of \(turns) turns of writing were had before a thread that waited")
    }
}
