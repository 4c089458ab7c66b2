import Harness
import History
import Measuring
import Platform
import RunRecords

/// The operations of a transaction, decided in advance.
package struct PlannedTransaction: Sendable {
    package var steps: [HistoryLog.Step]
    /// Whether it rolls back at its end.
    package var isRolledBack: Bool

    package var access: TransactionAccess { steps.allSatisfy(\.kind.isRead) ? .reading : .writing }
}

/// Errors of transactions on a database that was never damaged. The first report of damage is kept, however many
/// refusals came before it.
package struct TransactionFailures: Sendable, Equatable {
    /// Refusals in the engine's words, up to a limit.
    private(set) var refusals: [String] = []
    /// The engine's first report of damage.
    private(set) var damage: String?
    /// A text that no transaction wrote, returned without an error.
    private(set) var unwritten: String?

    private static let mostRefusals = 3

    init() {}

    var isEmpty: Bool { self == TransactionFailures() }

    mutating func note(_ error: EngineError) {
        if error.kind == .damaged {
            damage = damage ?? Self.line(error)
        } else if refusals.count < Self.mostRefusals {
            refusals.append(Self.line(error))
        }
    }

    /// Throws: the error, when it says nothing about the engine.
    mutating func note(_ error: any Error) throws {
        switch error {
        case let error as EngineError: note(error)
        case let error as UnwrittenTextError: unwritten = unwritten ?? Self.line(error)
        default: throw error
        }
    }

    mutating func add(_ other: TransactionFailures) {
        refusals += other.refusals
        damage = damage ?? other.damage
        unwritten = unwritten ?? other.unwritten
    }

    private static func line(_ error: any Error) -> String {
        "\(error)".split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    // MARK: Files

    /// A line each, with a letter in front for its kind.
    var text: String {
        (refusals.map { "r\($0)\n" } + [damage.map { "d\($0)\n" } ?? "", unwritten.map { "u\($0)\n" } ?? ""]).joined()
    }

    init(text: String) {
        for line in text.split(separator: "\n") {
            let words = String(line.dropFirst())
            switch line.first {
            case "d": damage = words
            case "u": unwritten = words
            default: refusals.append(words)
            }
        }
    }
}

/// A thread that runs transactions and records their operations and results.
///
/// The intent is recorded before the first call, so that the record of a killed process has transactions of unknown
/// fate, but lacks none.
package struct TransactionActor: Sendable {
    let number: Int
    package private(set) var log = HistoryLog()
    private(set) var failures = TransactionFailures()
    private(set) var latency = Histogram()
    private(set) var committed = 0

    package init(number: Int) {
        self.number = number
    }

    /// - Parameter keep: receives the record of each transaction, before its first call and after its last.
    package mutating func run(
        _ transaction: PlannedTransaction, on session: any TransactionSession, keep: (([Int64]) throws -> Void)? = nil
    ) throws {
        let start = MonotonicClock.now()
        log.begin(actor: number, at: start, transaction.steps)
        if let keep { try keep(log.takeWords()) }
        var done = 0
        var hasBegun = false
        var end = History.End.unknown
        do {
            try session.begin(transaction.access)
            hasBegun = true
            for step in transaction.steps {
                // Let other threads interleave, as they do where a transaction takes longer than these few operations.
                sched_yield()
                try Self.run(step, on: session, &log)
                done += 1
            }
            end = transaction.isRolledBack ? try Self.giveUp(session) : try Self.finish(session)
        } catch {
            try failures.note(error)
            // A failed commit may have taken effect; an earlier failure has no effect.
            if hasBegun {
                let undone = rolledBack(session)
                if done < transaction.steps.count { end = undone }
            } else {
                end = .aborted
            }
        }
        let finish = MonotonicClock.now()
        log.end(end, at: finish, done: done)
        if end == .committed {
            committed += 1
            latency.record(finish - start)
        }
        if let keep { try keep(log.takeWords()) }
    }

    private static func run(
        _ step: HistoryLog.Step, on session: any TransactionSession, _ log: inout HistoryLog
    ) throws {
        switch step.kind {
        case .read: log.read(try session.read(step.key))
        case .readList: log.read(try session.readList(step.key))
        case .write: try session.write(step.key, step.value)
        case .append: try session.append(step.key, step.value)
        }
    }

    private static func finish(_ session: any TransactionSession) throws(EngineError) -> History.End {
        try session.commit()
        return .committed
    }

    private static func giveUp(_ session: any TransactionSession) throws(EngineError) -> History.End {
        try session.rollback()
        return .aborted
    }

    /// Rolls back a transaction that failed before its commit.
    private mutating func rolledBack(_ session: any TransactionSession) -> History.End {
        do throws(EngineError) {
            try session.rollback()
            return .aborted
        } catch {
            failures.note(error)
            return .unknown
        }
    }
}
