import Harness
import RunRecords
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How turns of writing go round among threads, each of which wants the next one.
///
/// An engine that serves writers in the order in which they asked gives each of n threads every n-th turn. A thread that
/// the machine does not run asks late, and misses turns. So a thread counts as overtaken only where it still lacks turns
/// when all together have had many times as many.
struct WriterTurns {
    /// Of each thread.
    static let wanted = 20
    private static let patience = 50
    /// How long a turn takes, so that the others have asked by its end.
    private static let microseconds: UInt32 = 100

    let turns: [Int]

    private final class Board: Sendable {
        private struct State {
            var turns: [Int]
            var isOver = false
        }

        private let state: Mutex<State>

        init(_ count: Int) { state = Mutex(State(turns: [Int](repeating: 0, count: count))) }

        /// Counts a turn. Returns whether there is another one.
        func take(_ index: Int) -> Bool {
            state.withLock { state in
                if state.isOver { return false }
                state.turns[index] += 1
                let hasAll = state.turns.allSatisfy { $0 >= WriterTurns.wanted }
                let most = state.turns.count * WriterTurns.wanted * WriterTurns.patience
                state.isOver = hasAll || state.turns.reduce(0, +) >= most
                return !state.isOver
            }
        }

        var turns: [Int] { state.withLock { $0.turns } }
    }

    /// Nothing is changed: each turn is rolled back.
    static func run(_ context: CaseContext, at location: DatabaseLocation, threads: Int) throws -> WriterTurns {
        let (board, line) = (Board(threads), StartLine(count: threads))
        let (engine, settings) = (context.engine, context.settings)
        _ = try ThreadGroup.run(threads) { index in
            let opened = Result {
                try CaseContext.session(engine, location, settings, as: (any TransactionSession).self)
            }
            line.arriveAndWait()
            let session = try opened.get()
            var goesOn = true
            while goesOn {
                try session.begin(.writing)
                goesOn = board.take(index)
                usleep(microseconds)
                try session.rollback()
            }
            try session.close()
        }
        return WriterTurns(turns: board.turns)
    }

    var trial: Trial {
        let least = turns.min() ?? 0
        let isFair = least >= Self.wanted
        return Trial(
            address: FaultAddress(text: "turns"), outcome: isFair ? .correct : .hung,
            detail: isFair
                ? ""
                : "of \(turns.reduce(0, +)) turns of writing a thread that waited for each had \(least): others overtook it"
        )
    }
}
