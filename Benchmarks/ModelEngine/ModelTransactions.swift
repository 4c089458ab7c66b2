import Harness
import Platform
import RunRecords

/// The store has one writer at a time: it holds the store's lock from `begin` until its commit or rollback, and other
/// writers wait in `begin`. Each transaction, of a reader or of a writer, works on a copy of all tables as they were at
/// its begin.
///
/// A writer's changes enter the store at its commit. The lock belongs to transactions: they are not isolated from
/// calls of other roles, which no scenario uses concurrently with them.
///
/// One thread uses a session, so the thread that takes the lock also releases it. It begins a transaction only when the
/// session has none: a second writing `begin` would wait for its own lock. `ModelSession.close` rolls back an open
/// transaction. A build with the trait Zoo, which only tests and the self-test use, can plant a mistake:
/// ``PlantedPlan`` then decides about locks, copies and changes.
extension ModelSession: TransactionSession {
    func begin(_ access: TransactionAccess) throws(EngineError) {
        #if Zoo
            if let planted {
                running = ModelTransaction(store, planted, access, number: number)
                return
            }
        #endif
        if access == .writing { store.writer.lock() }
        running = ModelTransaction(content: store.content.withLock { $0 }, access: access)
    }

    func read(_ cell: Int) throws(EngineError) -> Int64 {
        pauseIfPlanted()
        return try open().read(cell)
    }

    func readText(_ cell: Int) throws(EngineError) -> String {
        pauseIfPlanted()
        return try open().readText(cell)
    }

    func write(_ cell: Int, _ value: Int64) throws(EngineError) {
        pauseIfPlanted()
        try open().write(cell, .integer(value))
    }

    func writeText(_ cell: Int, _ text: String) throws(EngineError) {
        pauseIfPlanted()
        try open().write(cell, .text(text))
    }

    /// Applies a writer's changes to the store in their order. The transaction ends and the lock is free again even if
    /// that throws; the changes before the refused one then stay in the store.
    func commit() throws(EngineError) {
        pauseIfPlanted()
        let transaction = try open()
        running = nil
        #if Zoo
            if planted != nil { return try transaction.commitPlanted() }
        #endif
        guard transaction.access == .writing else { return }
        defer { store.writer.unlock() }
        try store.content.withLock { content throws(EngineError) in
            for change in transaction.changes { try ModelTransaction.apply(change, to: &content) }
        }
    }

    /// Drops the changes; has no effect if no transaction is open.
    func rollback() throws(EngineError) {
        guard let transaction = running else { return }
        running = nil
        #if Zoo
            if planted != nil { return transaction.rollbackPlanted() }
        #endif
        if transaction.access == .writing { store.writer.unlock() }
    }

    /// The open transaction, which all calls but `begin` and `rollback` need.
    /// - Throws: `refused` if there is none.
    private func open() throws(EngineError) -> ModelTransaction {
        guard let running else { throw EngineError(.refused, "no transaction is open") }
        return running
    }

    /// Before each operation of a session with a planted mistake, its thread waits: the mistake shows only when
    /// transactions interleave, for which an operation in memory is too short.
    private func pauseIfPlanted() {
        #if Zoo
            if planted != nil && pauses { usleep(50) }
        #endif
    }
}

/// An open transaction of the model.
final class ModelTransaction {
    struct Change {
        var cell: Int
        var value: Value
    }

    let access: TransactionAccess
    /// The view of the transaction: the state at its begin, with its own changes. Some planted mistakes replace it by
    /// the newest state of the store before each read.
    var content: ModelContent
    /// The writes of the transaction in their order, for the commit.
    private(set) var changes: [Change] = []
    #if Zoo
        /// State for the mistake; nil without one.
        let plan: PlantedPlan?
    #endif

    init(content: ModelContent, access: TransactionAccess) {
        self.content = content
        self.access = access
        #if Zoo
            plan = nil
        #endif
    }

    #if Zoo
        init(_ store: ModelStore, _ mistake: IsolationMistake, _ access: TransactionAccess, number: Int) {
            self.access = access
            let plan = PlantedPlan(store, mistake, access, number: number)
            content = plan.begin()
            self.plan = plan
        }

        func commitPlanted() throws(EngineError) { try plan?.commit(changes) }
        func rollbackPlanted() { plan?.rollback() }
    #endif

    func read(_ cell: Int) throws(EngineError) -> Int64 {
        guard case .integer(let value) = try value(cell, TransactionCells.number) else {
            throw EngineError(.refused, "cell \(cell) has no number")
        }
        return value
    }

    func readText(_ cell: Int) throws(EngineError) -> String {
        guard case .text(let text) = try value(cell, TransactionCells.text) else {
            throw EngineError(.refused, "cell \(cell) has no text")
        }
        return text
    }

    private func value(_ cell: Int, _ column: String) throws(EngineError) -> Value {
        #if Zoo
            if let plan { try plan.look(&content) }
        #endif
        let table = try content.table(TransactionCells.table)
        return table.value(column: try table.column(column), row: try table.row(key: Int64(cell)))
    }

    /// Notes the change, and applies it to the transaction's own view. If the view refuses it, it stays noted, and the
    /// caller rolls back.
    func write(_ cell: Int, _ value: Value) throws(EngineError) {
        guard access == .writing else { throw EngineError(.refused, "the transaction only reads") }
        let change = Change(cell: cell, value: value)
        changes.append(change)
        try Self.apply(change, to: &content)
        #if Zoo
            try plan?.note(change)
        #endif
    }

    static func apply(_ change: Change, to content: inout ModelContent) throws(EngineError) {
        let position = try content.position(TransactionCells.table)
        let row = try content.tables[position].row(key: Int64(change.cell))
        switch change.value {
        case .text(let text):
            let column = try content.tables[position].column(TransactionCells.text)
            try content.set(table: position, column: column, row: row, text: text)
        case .integer(let integer):
            let column = try content.tables[position].column(TransactionCells.number)
            try content.set(table: position, column: column, row: row, integer: integer)
        default: throw EngineError(.refused, "a cell holds a number and a text")
        }
    }
}

/// A lock that one call takes and another call of the same thread releases: a pthread mutex belongs to the thread that
/// locked it, and a second `lock` of that thread waits for ever.
///
/// `@unchecked Sendable`: between init and deinit only the pthread functions touch the memory of the mutex.
final class WriterLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
}
