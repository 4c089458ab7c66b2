import StrataStorage

/// Reports the changes of one object, and finally its deletion.
final class ObjectObserver: Observer {
    enum Event {
        /// `before` is the object in the old version, for computed values; nil if that version is gone.
        case change([PropertyChange], before: ObjectBase?)
        case deleted
        case error(any Error)
    }

    let isActive = ActiveFlag()
    private let object: ObjectBase
    private let keyPaths: [String]?
    private var filter: KeyPathFilter
    private let call: (Event) -> Void

    /// - Throws: `invalidInput` for an invalid key path.
    init(_ object: ObjectBase, keyPaths: [String]?, _ call: @escaping (Event) -> Void) throws(RealmError) {
        self.object = object
        self.keyPaths = keyPaths
        self.call = call
        filter = try KeyPathFilter(keyPaths, object._access, links: 0)
    }

    func update(_ batch: ChangeBatch, isSilenced: Bool) {
        do {
            if object.isInvalidated {
                isActive.clear()
                #if Zoo
                    if PlantedMistake.deletionUntold.isPlanted { return }
                    if PlantedMistake.observerTwice.isPlanted, !isSilenced { call(.deleted) }
                #endif
                if !isSilenced { call(.deleted) }
                return
            }
            if batch.schemaDiffers { filter = try KeyPathFilter(keyPaths, object._access, links: 0) }
            let (changes, before) = try changes(batch)
            if !changes.isEmpty && !isSilenced { call(.change(changes, before: before)) }
        } catch {
            isActive.clear()
            if !isSilenced { call(.error((error as? RealmError) ?? RealmError(.fail, "\(error)"))) }
        }
    }

    private func changes(_ batch: ChangeBatch) throws -> ([PropertyChange], before: ObjectBase?) {
        let names: [String]
        do throws(StorageError) { names = try filter.names(for: object._key, batch) } catch { throw RealmError(error) }
        if names.isEmpty { return ([], nil) }
        // Values of the old version are read from that version.
        let before = batch.oldInstance()?.twin(of: object)
        let changes = names.map { name in
            let property = object._access.property(name)
            let isCollection = property.map { $0.isCollection || $0.isLinkingObjects } ?? false
            return PropertyChange(
                name: name, oldValue: isCollection ? nil : _flatten(before?._dynamicValue(name)),
                newValue: isCollection ? nil : _flatten(object._dynamicValue(name)))
        }
        return (changes, before)
    }
}

/// Reports changes of a list, set or map in a column of an object.
///
/// Complexity: that of ``ColumnVersions``; the observer keeps no elements.
final class ColumnObserver: Observer {
    let isActive = ActiveFlag()
    private let column: _CollectionColumn
    /// Steps to a nested collection in the last reported version.
    private var told: NestedSteps?
    private let filter: KeyPathFilter?
    private let call: (_ versions: ColumnVersions, _ touched: Set<Int64>) throws(StorageError) -> Void
    /// What is called once a part of the collection is unreadable, instead of `call`.
    private let pastDamage: PastDamage
    /// The readable elements at the last report, once a part is unreadable.
    private var readable: StoredCollection?

    struct PastDamage {
        /// Called once, for the first part that cannot be read.
        let failed: (RealmError) -> Void
        /// Called for each change of the readable elements.
        let changed: (_ old: StoredCollection, _ new: StoredCollection) -> Void
    }

    /// - Parameters:
    ///   - filter: selects changes of objects in the collection; nil for plain values.
    ///   - pastDamage: called instead of `call` once a part of the collection is unreadable.
    ///   - call: called with the versions, and the rows of changed objects.
    init(
        _ column: _CollectionColumn, _ filter: KeyPathFilter?, pastDamage: PastDamage,
        _ call: @escaping (_ versions: ColumnVersions, _ touched: Set<Int64>) throws(StorageError) -> Void
    ) {
        self.column = column
        told = column.nested?.pinned
        self.filter = filter
        self.pastDamage = pastDamage
        self.call = call
    }

    func damageIsKnown() {
        guard readable == nil, let instance = column.owner._instance, column.isDegraded(instance) else { return }
        goOnWithReadable(
            RealmError(
                .invalidDatabase,
                "elements of '\(column.property.name)' of \(column.owner._access.name) \(column.owner._key) cannot be "
                    + "read; Realm.damage lists what is lost. The collection goes on without them"))
    }

    private func goOnWithReadable(_ error: RealmError) {
        readable = column.contents
        pastDamage.failed(error)
    }

    func update(_ batch: ChangeBatch, isSilenced: Bool) {
        do throws(StorageError) {
            let earlier = told
            told = try standing(batch)
            if column.owner.isInvalidated || column.nested != nil && told == nil { isActive.clear() }
            if let old = readable {
                let new = column.contents
                readable = new
                if !isSilenced, old.values != new.values || old.keys != new.keys { pastDamage.changed(old, new) }
                return
            }
            if isSilenced { return }
            let versions = try ColumnVersions(column, batch, earlier: earlier, later: told)
            try call(versions, try filter?.touched(batch) ?? [])
        } catch {
            let owner = column.owner
            owner._access.instance.reportDamage(owner, error, column: column.property.column)
            if readable == nil { goOnWithReadable(RealmError(error)) }
        }
    }

    /// Steps to the collection in the reported version.
    private func standing(_ batch: ChangeBatch) throws(StorageError) -> NestedSteps? {
        guard let nested = column.nested else { return nil }
        if column.owner._instance?.snapshot?.version == batch.new.version { return nested.pinned }
        guard let told, let holder = column.holder else { return nil }
        return try NestedFollowing(old: batch.old.view, new: batch.new.view).followed(holder, told)
    }
}

/// Reports that a Realm shows another version.
final class RealmObserver: Observer {
    let isActive = ActiveFlag()
    private let instance: RealmInstance
    private let call: (Realm.Notification, Realm) -> Void

    init(_ instance: RealmInstance, _ call: @escaping (Realm.Notification, Realm) -> Void) {
        self.instance = instance
        self.call = call
    }

    func update(_ batch: ChangeBatch, isSilenced: Bool) { if !isSilenced { call(.didChange, Realm(instance)) } }
    func refreshIsRequired() { call(.refreshRequired, Realm(instance)) }
}
