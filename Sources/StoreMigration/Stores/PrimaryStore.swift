/// What a store can do that an application moves away from, or to. The application keeps its own way to the store; this
/// is what writing twice and comparing need.
///
/// Concurrency: ``DoubleWriter`` calls all but ``scan(_:_:)`` from one thread at a time; a scan may run beside them.
public protocol PrimaryStore: AnyObject, Sendable {
    var models: [RecordModel] { get }

    /// Makes all changes durable in one transaction, or none. What was done already is done again without harm.
    ///
    /// A new record has zeros and empty values where a value is required and its change names none. Links to a record
    /// that is deleted become null, or leave the list; no other record goes with it: a batch names all that go.
    func apply(_ changes: [RecordChange]) throws

    /// The change with the values that this store would give back: a column may keep fewer digits of a number, or no
    /// sign of a zero. What both stores give back is what both get.
    /// - Throws: `invalidChange` for what this store could never hold. It is asked before anything is written: such a
    ///   change would be in the other store and wait for this one for ever.
    func asKept(_ change: RecordChange) throws -> RecordChange

    /// The records of these ids, each with all its fields; those that are not there are left out.
    func records(_ ids: [RecordID]) throws -> [RecordID: Record]

    /// What others changed since a moment: records that came, changed or went.
    func changes(since token: ChangeToken?) throws -> StoreChanges

    /// All records of a model, each with its values in the order of the model's fields. A record that is changed
    /// meanwhile may come as it was or as it is, one that is made or deleted may come or not.
    func scan(_ model: RecordModel, _ body: (RecordKey, [FieldValue]) throws -> Void) throws

    /// Lets go of the file. A second call does nothing.
    func close() throws
    func reopen() throws
    /// Makes the file of a closed store small.
    func compact() throws
}

/// A moment of a store; of what its kind of store counts.
public struct ChangeToken: Hashable, Sendable, Codable {
    public var value: Int64
    public init(_ value: Int64) { self.value = value }
}

/// What changed since a moment.
public struct StoreChanges: Sendable {
    public var changed: [RecordID]
    public var deleted: [RecordID]
    /// Whether ``deleted`` has all that went. Else only comparing the keys finds those.
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
    /// All of it.
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
