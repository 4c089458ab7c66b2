import FaultModel
import SimulatedDisk
import StrataFiles
import StrataStorage
import Synchronization

/// The storage engine under simulation: tiny nodes and a small log, so that splits, merges, folds, overflow and
/// checkpoints happen all the time.
///
/// Concurrency: as the store; its members are constant.
class StoreProgram: SimulatedProgram, @unchecked Sendable {
    /// The durability class, compaction and cipher are options of the store; subclasses override them.
    class var durability: Durability { .full }

    class var compaction: CompactionPolicy { .never }
    /// How often background work may run after a commit.
    class var turns: Int { 1 }

    class var keepsAcknowledged: Bool { durability == .full }

    class var cipher: (any Cipher)? { nil }

    /// The layer between the store and the disk.
    class func fileSystem(_ disk: SimulatedDisk) -> any FileSystem { disk }

    private static let path = "folder/database"

    let store: Store
    private let scheduling: any Scheduling

    required init(_ store: Store, _ scheduling: any Scheduling) {
        self.store = store
        self.scheduling = scheduling
    }

    deinit {
        // Queued work would keep the store alive.
        (scheduling as? CooperativeScheduling)?.dropWork()
    }

    static func options(_ disk: SimulatedDisk, _ scheduling: any Scheduling) -> StoreOptions {
        var options = StoreOptions(
            fileSystem: fileSystem(disk), scheduling: scheduling, durability: durability)
        options.cipher = cipher
        options.limits = .tiny
        options.logHalfBytes = 16 << 10
        options.mapReserve = 16 << 20
        options.periodicBytes = 4 << 10
        options.checkpointBytes = 64 << 10
        options.compaction = compaction
        return options
    }

    static func open(_ disk: SimulatedDisk, _ scheduling: any Scheduling) throws -> Self {
        Self(try Store.open(path: path, options: options(disk, scheduling)), scheduling)
    }

    func commit(_ changes: () -> [ProgramChange]) throws {
        let transaction = try store.beginWrite()
        do {
            if transaction.view.schema.tables.isEmpty { try transaction.apply(schema: Self.schema) }
            for change in changes() { try apply(change, to: transaction) }
        } catch {
            transaction.rollback()
            throw error
        }
        _ = try transaction.commit()
        for _ in 0..<Self.turns { (scheduling as? CooperativeScheduling)?.runSome() }
    }

    func apply(_ change: ProgramChange, to transaction: WriteTransaction) throws {
        let key = RowKey(change.key)
        let isThere = try transaction.view.locate(0, key) != nil
        guard let row = change.row else {
            if isThere { try transaction.delete(0, key) }
            return
        }
        try row.text.withUnsafeBytes { text in
            let cells: [Cell] = [.integer(row.number), .bytes(text)]
            if isThere {
                for (column, cell) in cells.enumerated() { try transaction.set(0, key, column: column, to: cell) }
            } else {
                try cells.withUnsafeBufferPointer { try transaction.insert(0, key: key, $0) }
            }
        }
    }

    func pin() throws -> () throws -> UInt64 {
        let snapshot = try store.snapshot()
        return { try Self.digest(snapshot.view) }
    }

    /// Reads everything, by a scan.
    class func digest(_ view: ReadView) throws -> UInt64 {
        var digest: UInt64 = 0
        if view.schema.tables.isEmpty { return digest }
        try view.scan(0, columns: [0, 1]) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                digest &+= ProgramRow.digest(
                    batch.key(row).rawValue, batch.integers(0)[row], UnsafeRawBufferPointer(batch.bytes(1, row)))
            }
            return true
        }
        return digest
    }

    func check() throws { try store.checkInvariants() }

    func close() throws {
        try store.close()
        if let scheduling = scheduling as? CooperativeScheduling { while scheduling.runOne() {} }
    }

    class var twins: [(path: String, page: Int)] { [(path, 0), (path, 1)] }

    class func isDetection(_ error: any Error) -> Bool { (error as? StorageError)?.isDamage ?? false }

    class func leftovers(_ disk: SimulatedDisk) throws -> String? {
        try disk.status(path + ".log") == nil ? nil : "the log of a store that was closed is there"
    }

    class var schema: StoreSchema {
        let columns = [
            ColumnDefinition(id: ColumnID(1), name: "number", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes, index: .hash),
        ]
        return StoreSchema(tables: [TableDefinition(id: TableID(1), name: "rows", columns: columns)])
    }
}

// Concurrency: as its superclass.
final class PeriodicStoreProgram: StoreProgram, @unchecked Sendable {
    override class var durability: Durability { .periodic }
}

// Concurrency: as its superclass.
final class CompactingStoreProgram: StoreProgram, @unchecked Sendable {
    override class var compaction: CompactionPolicy { .online(freeShare: 0.05) }
    override class var turns: Int { 8 }
}

// Concurrency: as its superclass.
final class UnsyncedStoreProgram: StoreProgram, @unchecked Sendable {
    override class var durability: Durability { .none }
}

// Concurrency: as its superclass.
final class EncryptedStoreProgram: StoreProgram, @unchecked Sendable {
    override class var cipher: (any Cipher)? { SimulatedCipher() }
}

/// With a mistake between the store and the disk. One test at a time sets which.
///
/// Concurrency: as its superclass.
final class MistakenStoreProgram: StoreProgram, @unchecked Sendable {
    static let mistake = Mutex<PlantedMistake?>(nil)

    override class func fileSystem(_ disk: SimulatedDisk) -> any FileSystem {
        guard let mistake = mistake.withLock({ $0 }) else { return disk }
        return MistakenDisk(disk, mistake)
    }
}
