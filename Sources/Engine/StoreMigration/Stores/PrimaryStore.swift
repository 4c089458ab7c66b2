/// A store that an application moves away from or to. The protocol has what double writing and comparing need; the
/// application keeps its own access to the store.
///
/// Concurrency: ``DoubleWriter`` calls all but ``scan(_:_:)`` from one thread at a time; a scan may run beside them.
public protocol PrimaryStore: AnyObject, Sendable {
    var models: [RecordModel] { get }

    /// Makes all changes durable in one transaction, or none. Repeating a batch changes nothing.
    ///
    /// Required values that a new record's change does not name become zero or empty. Links to a deleted record become
    /// null, or are removed from lists. Deletion does not cascade: a batch names every deleted record.
    func apply(_ changes: [RecordChange]) throws

    /// The change with the values that this store would return: a column may keep fewer digits of a number, or drop the
    /// sign of a zero. Both stores are given the values that both can return.
    /// - Throws: `invalidChange` for a value that this store can never hold. Checked before anything is written, since
    ///   such a change would otherwise reach the other store and wait for this one for ever.
    func asKept(_ change: RecordChange) throws -> RecordChange

    /// The records of these ids, each with all its fields; missing records are left out.
    func records(_ ids: [RecordID]) throws -> [RecordID: Record]

    /// Records that others inserted, changed or deleted since a moment.
    func changes(since token: ChangeToken?) throws -> StoreChanges

    /// All records of a model, each with its values in the order of the model's fields. A record that is changed during
    /// the scan may have its old or new values; one that is inserted or deleted may be missing.
    func scan(_ model: RecordModel, _ body: (RecordKey, [FieldValue]) throws -> Void) throws

    /// Closes the file. A second call does nothing.
    func close() throws
    func reopen() throws
    /// Compacts the file of a closed store.
    func compact() throws
}

/// A moment of a store, in the unit that the kind of store counts.
public struct ChangeToken: Hashable, Sendable, Codable {
    public var value: Int64
    public init(_ value: Int64) { self.value = value }
}

/// The changes since a moment.
public struct StoreChanges: Sendable {
    public var changed: [RecordID]
    public var deleted: [RecordID]
    /// Whether ``deleted`` is complete. If not, only a comparison of keys finds deletions.
    public var knowsDeletions: Bool
    public var token: ChangeToken

    public init(changed: [RecordID], deleted: [RecordID], knowsDeletions: Bool, token: ChangeToken) {
        self.changed = changed
        self.deleted = deleted
        self.knowsDeletions = knowsDeletions
        self.token = token
    }
}

extension PrimaryStore {
    /// Returns the change as it is: for a store that keeps every value exactly.
    public func asKept(_ change: RecordChange) throws -> RecordChange { change }

    func model(named name: String) throws -> RecordModel {
        if let model = models.first(where: { $0.name == name }) { return model }
        throw MigrationError(
            .invalidModel, "no model \"\(name)\"; there are \(models.map(\.name).joined(separator: ", "))")
    }
}

/// One of the two stores.
public enum StoreSide: String, Sendable, Codable, CaseIterable {
    case old, new
    var other: StoreSide { self == .old ? .new : .old }
}
