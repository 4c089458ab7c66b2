#if Zoo
    import Harness
    import Platform
    import RunRecords
    import Synchronization

    /// A store's state for the mistakes of its transactions.
    struct PlantedState: Sendable {
        /// Earlier states, the oldest first.
        var past: [ModelContent] = []
        /// Cells that an open transaction has written.
        var held: [Int: ObjectIdentifier] = [:]
    }

    /// The mistake of a transaction of the model.
    final class PlantedPlan {
        private let store: ModelStore
        private let mistake: IsolationMistake
        private let access: TransactionAccess
        /// Number of the session: sessions with even numbers see one half of the cells late, those with odd numbers the
        /// other.
        private let number: Int
        private var start = ModelContent()
        private var undo: [ModelTransaction.Change] = []

        /// How many commits late a session sees that half of the cells.
        private static let delay = 3

        init(_ store: ModelStore, _ mistake: IsolationMistake, _ access: TransactionAccess, number: Int) {
            self.store = store
            self.mistake = mistake
            self.access = access
            self.number = number
        }

        private var takesLock: Bool {
            access == .writing && [.abortedRead, .intermediateRead, .longFork].contains(mistake)
        }

        /// Whether changes enter the store before the commit.
        private var writesThrough: Bool {
            [.dirtyWrite, .abortedRead, .intermediateRead, .cyclicFlow].contains(mistake)
        }

        func begin() -> ModelContent {
            if takesLock { store.writer.lock() }
            start = store.content.withLock { $0 }
            guard mistake == .longFork, access == .reading else { return start }
            return forked()
        }

        /// The newest state, with one half of its cells as they were some commits ago.
        private func forked() -> ModelContent {
            let past = store.planted.withLock { $0.past }
            var content = start
            guard let old = past.first else { return content }
            do throws(EngineError) {
                let table = try old.table(TransactionCells.table)
                for cell in 0..<table.rowCount where cell % 2 != number % 2 {
                    for column in [TransactionCells.number, TransactionCells.text] {
                        let value = table.value(column: try table.column(column), row: cell)
                        try ModelTransaction.apply(ModelTransaction.Change(cell: cell, value: value), to: &content)
                    }
                }
            } catch {
                preconditionFailure("the cells are not what they were made as: \(error)")
            }
            return content
        }

        /// Before a read: a transaction without a version of its own takes the newer writes of others.
        func look(_ content: inout ModelContent) throws(EngineError) {
            if mistake == .dirtyWrite || mistake == .cyclicFlow { content = store.content.withLock { $0 } }
        }

        func note(_ change: ModelTransaction.Change) throws(EngineError) {
            guard writesThrough else { return }
            if mistake == .cyclicFlow { try hold(change.cell) }
            let before = try store.content.withLock { content throws(EngineError) in
                let table = try content.table(TransactionCells.table)
                let isText = if case .text = change.value { true } else { false }
                let column = try table.column(isText ? TransactionCells.text : TransactionCells.number)
                let before = table.value(column: column, row: try table.row(key: Int64(change.cell)))
                try ModelTransaction.apply(change, to: &content)
                return before
            }
            undo.append(ModelTransaction.Change(cell: change.cell, value: before))
            // Lets other transactions read meanwhile, even with few processors.
            if mistake == .intermediateRead { usleep(20) }
        }

        private func hold(_ cell: Int) throws(EngineError) {
            let isMine = store.planted.withLock { state in
                let holder = state.held[cell] ?? ObjectIdentifier(self)
                state.held[cell] = holder
                return holder == ObjectIdentifier(self)
            }
            if !isMine { throw EngineError(.refused, "another transaction has written cell \(cell)") }
        }

        private func letGo() {
            let own = ObjectIdentifier(self)
            store.planted.withLock { state in state.held = state.held.filter { $0.value != own } }
        }

        func commit(_ changes: [ModelTransaction.Change]) throws(EngineError) {
            defer { end() }
            if writesThrough || access == .reading { return }
            let start = start
            let mistake = mistake
            let before = try store.content.withLock { content throws(EngineError) in
                let before = content
                if mistake == .writeSkew { try Self.compare(changes, start, content) }
                for change in changes { try ModelTransaction.apply(change, to: &content) }
                return before
            }
            guard mistake == .longFork else { return }
            store.planted.withLock { state in
                state.past.append(before)
                if state.past.count > Self.delay { state.past.removeFirst() }
            }
        }

        private static func compare(
            _ changes: [ModelTransaction.Change], _ old: ModelContent, _ new: ModelContent
        ) throws(EngineError) {
            let (first, second) = (try old.table(TransactionCells.table), try new.table(TransactionCells.table))
            for change in changes {
                for column in [try first.column(TransactionCells.number), try first.column(TransactionCells.text)] {
                    let row = try first.row(key: Int64(change.cell))
                    if first.value(column: column, row: row) != second.value(column: column, row: row) {
                        throw EngineError(.refused, "another transaction has written cell \(change.cell)")
                    }
                }
            }
        }

        func rollback() {
            if writesThrough && mistake != .abortedRead {
                store.content.withLock { content in
                    for change in undo.reversed() {
                        do throws(EngineError) {
                            try ModelTransaction.apply(change, to: &content)
                        } catch {
                            preconditionFailure("a cell cannot be put back: \(error)")
                        }
                    }
                }
            }
            end()
        }

        private func end() {
            if mistake == .cyclicFlow { letGo() }
            if takesLock { store.writer.unlock() }
        }
    }
#endif
