import StrataStorage

/// Tells what happened to one object, the last time when it is deleted.
final class ObjectObserver: Observer {
    enum Event {
        /// `before` is the object as it was, for values that follow from others; nil when that version is gone.
        case change([PropertyChange], before: ObjectBase?)
        case deleted
        case error(any Error)
    }

    let isActive = ActiveFlag()
    private let object: ObjectBase
    private let keyPaths: [String]?
    private var filter: KeyPathFilter
    private let call: (Event) -> Void

    /// - Throws: `invalidInput` for a key path that leads nowhere.
    init(_ object: ObjectBase, keyPaths: [String]?, _ call: @escaping (Event) -> Void) throws(Realm.Error) {
        self.object = object
        self.keyPaths = keyPaths
        self.call = call
        filter = try KeyPathFilter(keyPaths, object._access)
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
            if batch.schemaDiffers { filter = try KeyPathFilter(keyPaths, object._access) }
            let (changes, before) = try changes(batch)
            if !changes.isEmpty && !isSilenced { call(.change(changes, before: before)) }
        } catch {
            isActive.clear()
            if !isSilenced { call(.error((error as? Realm.Error) ?? Realm.Error(.fail, "\(error)"))) }
        }
    }

    private func changes(_ batch: ChangeBatch) throws -> ([PropertyChange], before: ObjectBase?) {
        let names: [String]
        do throws(StorageError) { names = try filter.names(for: object._key, batch) } catch { throw Realm.Error(error) }
        if names.isEmpty { return ([], nil) }
        // Values of the old version are read where they were.
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

/// Tells how a list, set or map changed that a column of an object holds, by comparing.
///
/// Complexity: nothing while the column, and the objects in it, stay as they are; else O(contents).
final class ColumnObserver: Observer {
    let isActive = ActiveFlag()
    private let column: _CollectionColumn
    private let filter: KeyPathFilter?
    private let call: (_ old: StoredCollection, _ new: StoredCollection, _ touched: Set<Int64>) -> Void
    private var contents: StoredCollection

    /// - Parameters:
    ///   - filter: which changes of objects in the collection count; nil for plain values.
    ///   - call: told of what was, what is, and of objects that changed, when any of it may differ.
    init(
        _ column: _CollectionColumn, _ filter: KeyPathFilter?,
        _ call: @escaping (_ old: StoredCollection, _ new: StoredCollection, _ touched: Set<Int64>) -> Void
    ) {
        self.column = column
        self.filter = filter
        self.call = call
        contents = column.contents
    }

    convenience init(
        _ column: _CollectionColumn, _ call: @escaping (_ old: StoredCollection, _ new: StoredCollection) -> Void
    ) {
        self.init(column, nil) { old, new, _ in call(old, new) }
    }

    func update(_ batch: ChangeBatch, isSilenced: Bool) {
        let isGone = column.owner.isInvalidated
        do throws(StorageError) {
            let touched = try filter?.touched(batch) ?? []
            let differs = isGone ? true : try mayDiffer(batch)
            if !differs && touched.isEmpty { return }
            let old = contents
            if differs { contents = column.contents }
            if isGone { isActive.clear() }
            if !isSilenced { call(old, contents, touched) }
        } catch {
            column.owner._access.instance.noteDamage(Realm.Error(error))
        }
    }

    private func mayDiffer(_ batch: ChangeBatch) throws(StorageError) -> Bool {
        let access = column.owner._access
        let place = column.property.column
        guard place >= 0, !batch.schemaDiffers else { return true }
        let id = batch.new.view.schema.tables[access.table].columns[place].id.rawValue
        return try batch.difference(of: access.tableID).modified[column.owner._key]?.contains(id) ?? false
    }
}

/// Tells that a Realm shows another version.
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
