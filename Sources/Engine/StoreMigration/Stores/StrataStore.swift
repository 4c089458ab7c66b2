import Dispatch
import Strata
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A database of Strata: the store that an application moves to.
///
/// Each model is a class with a primary key. Observers of the application's own Realms are notified of these writes, as
/// of any other Realm's.
///
/// Unchecked: `realm` is read and set on `queue` alone.
public final class StrataStore: PrimaryStore, @unchecked Sendable {
    public let models: [RecordModel]
    public let configuration: Realm.Configuration
    private let queue = DispatchQueue(label: "migration.strata")
    /// Held while the store is open, since releasing the last Realm closes the file.
    private var realm: Realm?
    /// Properties that store a 32-bit number, by class.
    private var floats: [String: Set<String>] = [:]

    /// - Throws: `invalidModel` if a class lacks a property of its model; ``Realm/Error`` of the open.
    public init(_ configuration: Realm.Configuration, models: [RecordModel]) throws {
        self.configuration = configuration
        self.models = models
        try reopen()
    }

    public func reopen() throws {
        try queue.sync {
            if realm != nil { return }
            let opened = try Realm(configuration: configuration, queue: queue)
            for model in models {
                try Self.check(model, opened.schema)
                let properties = opened.schema[model.name]?.properties ?? []
                floats[model.name] = Set(properties.filter { $0.type == .float }.map(\.name))
            }
            realm = opened
        }
    }

    public func close() throws { queue.sync { realm = nil } }

    /// - Throws: `wrongPhase` while the store is open.
    public func compact() throws {
        try queue.sync {
            guard realm == nil else {
                throw MigrationError(.wrongPhase, "the database is open; call close() before compact()")
            }
            var configuration = configuration
            configuration.shouldCompactOnLaunch = { _, _ in true }
            _ = try Realm(configuration: configuration, queue: queue)
        }
    }

    /// - Throws: `closed`.
    func onQueue<Output>(_ body: (Realm) throws -> Output) throws -> Output {
        try queue.sync {
            guard let realm else { throw MigrationError(.closed, "the database is closed; call reopen() first") }
            return try body(realm)
        }
    }

    private static func check(_ model: RecordModel, _ schema: Schema) throws {
        func refuse(_ words: String) -> MigrationError { MigrationError(.invalidModel, "\(model.name): \(words)") }
        guard let found = schema[model.name] else {
            throw refuse("the database has no such class; name it in Configuration.objectTypes")
        }
        let key = found.primaryKeyProperty
        guard let key, key.name == model.key, key.type == (model.hasIntegerKey ? .int : .string) else {
            throw refuse(
                "its primary key has to be \"\(model.key)\", \(model.hasIntegerKey ? "an Int" : "a String"); "
                    + "a class whose key is several properties gets an id that is made of them")
        }
        for field in model.fields {
            guard let property = found[field.name] else { throw refuse("no property \"\(field.name)\"") }
            let (types, target): ([PropertyType], String?) =
                switch field.kind {
                case .boolean: ([.bool], nil)
                case .integer: ([.int], nil)
                case .real: ([.double, .float], nil)
                case .text: ([.string], nil)
                case .data: ([.data], nil)
                case .date: ([.date], nil)
                case .uuid: ([.UUID], nil)
                case .link(let target), .links(let target, _): ([.object], target)
                }
            var isMany = false
            if case .links = field.kind { isMany = true }
            guard types.contains(property.type), property.isArray == isMany, !property.isSet, !property.isMap,
                property.objectClassName == target, isMany || !field.isOptional || property.isOptional
            else { throw refuse("\"\(field.name)\" is \(property), and not \(field.kind)") }
        }
    }

    // MARK: Writing

    public func asKept(_ change: RecordChange) throws -> RecordChange {
        guard case .upsert(var record) = change, let floats = queue.sync(execute: { floats[record.id.model] }) else {
            return change
        }
        for name in floats {
            if case .real(let value)? = record.values[name] { record.values[name] = .real(Double(Float(value))) }
        }
        return .upsert(record)
    }

    public func apply(_ changes: [RecordChange]) throws {
        try onQueue { realm in
            try realm.write {
                // Inserts rows first: a link may refer to a later record.
                for change in changes {
                    let model = try model(named: change.id.model)
                    switch change {
                    case .upsert(let record):
                        let isNew = Self.object(realm, record.id) == nil
                        let named = isNew ? model.filled(record) : record
                        realm.dynamicCreate(model.name, value: Self.plain(named, model), update: .modified)
                    case .delete(let id):
                        if let object = Self.object(realm, id) { realm.delete(object) }
                    }
                }
                for case .upsert(let record) in changes { try setLinks(realm, record) }
            }
        }
    }

    private static func object(_ realm: Realm, _ id: RecordID) -> DynamicObject? {
        switch id.key {
        case .integer(let key): realm.dynamicObject(ofType: id.model, forPrimaryKey: Int(key))
        case .text(let key): realm.dynamicObject(ofType: id.model, forPrimaryKey: key)
        }
    }

    private static func plain(_ record: Record, _ model: RecordModel) -> [String: Any] {
        var values: [String: Any] = [:]
        switch record.id.key {
        case .integer(let key): values[model.key] = Int(key)
        case .text(let key): values[model.key] = key
        }
        for (name, value) in record.values {
            guard let field = model[name], !field.kind.isLink else { continue }
            values[name] = plain(value, field.kind)
        }
        return values
    }

    private static func plain(_ value: FieldValue, _ kind: FieldKind) -> Any {
        switch value {
        case .integer(let value): return kind == .boolean ? value != 0 : Int(value)
        case .real(let value): return value
        case .text(let value): return value
        case .data(let value):
            guard kind == .uuid, value.count == 16 else { return value }
            let b = [UInt8](value)
            return UUID(
                uuid: (
                    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
                ))
        case .date(let value): return Date(timeIntervalSinceReferenceDate: value)
        case .null, .link, .links: return Any?.none as Any
        }
    }

    /// - Throws: `invalidChange` for a dangling link, which would be null here and a key in the other store.
    private func setLinks(_ realm: Realm, _ record: Record) throws {
        let model = try model(named: record.id.model)
        // A later change of the batch may have deleted it.
        guard let object = Self.object(realm, record.id) else { return }
        func target(_ className: String, _ key: RecordKey, _ field: String) throws -> DynamicObject {
            if let found = Self.object(realm, RecordID(className, key)) { return found }
            throw MigrationError(
                .invalidChange,
                "\(record.id): \"\(field)\" leads to \(className) \(key), which is not there; write that one first")
        }
        for (name, value) in record.values {
            switch (model[name]?.kind, value) {
            case (.link(let to), .link(let key)): object[name] = try target(to, key, name)
            case (.link, _): object[name] = nil
            case (.links(let to, _), .links(let keys)):
                let list = object.dynamicList(name)
                list.removeAll()
                for key in keys { list.append(try target(to, key, name)) }
            case (.links, _): object.dynamicList(name).removeAll()
            default: break
            }
        }
    }

    // MARK: Reading

    public func records(_ ids: [RecordID]) throws -> [RecordID: Record] {
        try onQueue { realm in
            let view = try realm.store.snapshot().view
            var found: [RecordID: Record] = [:]
            for (name, ids) in Dictionary(grouping: ids, by: \.model) {
                let reading = try StrataReading(view, model(named: name), realm.schema)
                for id in ids {
                    if let record = try reading.record(id) { found[id] = record }
                }
            }
            return found
        }
    }

    /// Strata notifies of changes but keeps no list of them, so all records count as changed.
    public func changes(since token: ChangeToken?) throws -> StoreChanges {
        var changed: [RecordID] = []
        for model in models { try scan(model) { key, _ in changed.append(RecordID(model.name, key)) } }
        return StoreChanges(changed: changed, deleted: [], knowsDeletions: false, token: ChangeToken(0))
    }

    /// Reads one version, whatever is written meanwhile.
    public func scan(_ model: RecordModel, _ body: (RecordKey, [FieldValue]) throws -> Void) throws {
        let (snapshot, schema) = try onQueue { realm in
            (try realm.store.snapshot(), realm.schema)
        }
        try StrataReading(snapshot.view, model, schema).scan(body)
    }
}
