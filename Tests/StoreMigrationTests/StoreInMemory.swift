import StoreMigration
import Synchronization

/// A store in memory that fails on request.
final class StoreInMemory: PrimaryStore, Sendable {
    enum Failure: Error, Equatable { case planted, afterCommit }

    let models: [RecordModel]
    private let state = Mutex(State())

    private struct State {
        var records: [RecordID: Record] = [:]
        var failures: [Failure?] = []
        var batches: [[RecordChange]] = []
        var isOpen = true
        var compactions = 0
        var reads = 0
    }

    init(_ models: [RecordModel]) { self.models = models }

    var all: [RecordID: Record] { state.withLock { $0.records } }
    var batches: [[RecordChange]] { state.withLock { $0.batches } }
    var compactions: Int { state.withLock { $0.compactions } }
    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// The number of records read by id.
    var reads: Int { state.withLock { $0.reads } }

    /// The failures of the next batches, `afterCommit` after the write; nil for success.
    func fail(_ failures: [Failure?]) { state.withLock { $0.failures = failures } }

    /// Changes a record as a program does that bypasses the `DoubleWriter`.
    func put(_ record: Record) { state.withLock { $0.records[record.id] = record } }
    func remove(_ id: RecordID) { _ = state.withLock { $0.records.removeValue(forKey: id) } }

    func apply(_ changes: [RecordChange]) throws {
        try state.withLock { state in
            let failure = state.failures.isEmpty ? Failure?.none : state.failures.removeFirst()
            if failure == .planted { throw Failure.planted }
            state.batches.append(changes)
            for change in changes {
                switch change {
                case .delete(let id): state.records[id] = nil
                case .upsert(let record):
                    var now = state.records[record.id] ?? empty(record.id)
                    now.values.merge(record.values) { $1 }
                    state.records[record.id] = now
                }
            }
            if let failure { throw failure }
        }
    }

    private func empty(_ id: RecordID) -> Record {
        let fields = models.first { $0.name == id.model }?.fields ?? []
        return Record(id, Dictionary(uniqueKeysWithValues: fields.map { ($0.name, .null) }))
    }

    func records(_ ids: [RecordID]) throws -> [RecordID: Record] {
        state.withLock { state in
            state.reads += ids.count
            return state.records.filter { ids.contains($0.key) }
        }
    }

    func changes(since token: ChangeToken?) throws -> StoreChanges {
        StoreChanges(changed: Array(all.keys), deleted: [], knowsDeletions: false, token: ChangeToken(0))
    }

    func scan(_ model: RecordModel, _ body: (RecordKey, [FieldValue]) throws -> Void) throws {
        for record in all.values where record.id.model == model.name {
            try body(record.id.key, model.fields.map { record[$0.name] })
        }
    }

    func close() throws { state.withLock { $0.isOpen = false } }
    func reopen() throws { state.withLock { $0.isOpen = true } }
    func compact() throws { state.withLock { $0.compactions += 1 } }
}
