import FaultModel
import SimulatedDisk
import StrataFiles
import StrataStorage

/// The storage engine under simulation: tiny nodes and a small log, so that splits, merges, folds, overflow and
/// checkpoints happen all the time.
class StoreProgram: SimulatedProgram {
    /// How the store is opened, apart from the file system.
    class var durability: Durability { .full }

    class var keepsAcknowledged: Bool { durability == .full }

    private let store: Store
    private let scheduling: CooperativeScheduling

    required init(_ store: Store, _ scheduling: CooperativeScheduling) {
        self.store = store
        self.scheduling = scheduling
    }

    static func open(_ disk: SimulatedDisk) throws -> Self {
        let scheduling = CooperativeScheduling(Seed(disk.settings.seed.rawValue).derived("scheduling"))
        var options = StoreOptions(fileSystem: disk, scheduling: scheduling, durability: durability)
        options.limits = .tiny
        options.logSegmentBytes = 16 << 10
        options.mapReserve = 64 << 20
        options.periodicBytes = 4 << 10
        options.checkpointBytes = 64 << 10
        let store = try Store.open(path: "folder/database", options: options)
        return Self(store, scheduling)
    }

    func commit(_ changes: [ProgramChange]) throws {
        let transaction = try store.beginWrite()
        do {
            if transaction.view.schema.tables.isEmpty { try transaction.apply(schema: Self.schema) }
            for change in changes { try apply(change, to: transaction) }
        } catch {
            transaction.rollback()
            throw error
        }
        _ = try transaction.commit()
        scheduling.runSome()
    }

    private func apply(_ change: ProgramChange, to transaction: WriteTransaction) throws {
        let key = RowKey(change.key)
        let isThere = try transaction.view.locate(0, key) != nil
        guard let row = change.row else {
            if isThere { try transaction.delete(0, key) }
            return
        }
        try row.text.withUnsafeBytes { text in
            let cells: [Cell] = [.integer(row.number), .bytes(text)]
            if isThere {
                for (column, cell) in cells.enumerated() { try transaction.set(0, key, column, cell) }
            } else {
                try cells.withUnsafeBufferPointer { try transaction.insert(0, key: key, $0) }
            }
        }
    }

    func read() throws -> ProgramState {
        let snapshot = try store.snapshot()
        var state: ProgramState = [:]
        if snapshot.view.schema.tables.isEmpty { return state }
        for key in try snapshot.view.keys(0) {
            guard let row = try snapshot.view.locate(0, RowKey(key)), let number = try snapshot.view.integer(row, 0),
                let text = try snapshot.view.bytes(row, 1)
            else { throw Incomplete(key: key) }
            state[key] = ProgramRow(number: number, text: Array(text))
        }
        return state
    }

    func check() throws { try store.checkInvariants() }

    func close() throws {
        try store.close()
        while scheduling.runOne() {}
    }

    struct Incomplete: Error {
        var key: Int64
    }

    private static var schema: StoreSchema {
        let columns = [
            ColumnDefinition(id: ColumnID(1), name: "number", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes, index: .hash),
        ]
        return StoreSchema(tables: [TableDefinition(id: TableID(1), name: "rows", columns: columns)])
    }
}

final class PeriodicStoreProgram: StoreProgram {
    override class var durability: Durability { .periodic }
}

final class UnsyncedStoreProgram: StoreProgram {
    override class var durability: Durability { .none }
}
