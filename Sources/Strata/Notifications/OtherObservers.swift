import StrataStorage

/// Tells how a list of plain values changed, by comparing.
final class ValueListObserver<Element: RealmCollectionValue>: Observer {
    let isActive = ActiveFlag()
    private let list: List<Element>
    private var values: [_StoredValue]
    private let call: (CollectionObserver.Delta) -> Void

    init(_ list: List<Element>, _ call: @escaping (CollectionObserver.Delta) -> Void) {
        self.list = list
        values = list.storedValues()
        self.call = call
    }

    func update(_ batch: ChangeBatch) {
        let new = list.storedValues()
        guard new != values else { return }
        var numbers: [_StoredValue: Int64] = [:]
        func number(_ value: _StoredValue) -> Int64 {
            if let known = numbers[value] { return known }
            numbers[value] = Int64(numbers.count)
            return Int64(numbers.count - 1)
        }
        let difference = SequenceDifference(from: values.map(number), to: new.map(number))
        values = new
        if !batch.isSilenced {
            call(
                CollectionObserver.Delta(
                    deletions: difference.deletions.sorted(), insertions: difference.insertions.sorted()))
        }
    }
}

/// Tells what happened to one object.
final class ObjectObserver: Observer {
    enum Event {
        case change([PropertyChange])
        case deleted
    }

    let isActive = ActiveFlag()
    private let object: ObjectBase
    private let properties: Set<String>?
    private let call: (Event) -> Void

    init(_ object: ObjectBase, keyPaths: [String]?, _ call: @escaping (Event) -> Void) {
        self.object = object
        properties = keyPaths.map { Set($0.map { $0.split(separator: ".").first.map(String.init) ?? $0 }) }
        self.call = call
    }

    func update(_ batch: ChangeBatch) {
        if object.isInvalidated {
            isActive.store(false, ordering: .relaxed)
            if !batch.isSilenced { call(.deleted) }
            return
        }
        let access = object._access
        if let tables = batch.tables, tables[access.tableID]?.modified[object._key] == nil { return }
        do throws(StorageError) {
            let changes = try changes(access, batch)
            if !changes.isEmpty && !batch.isSilenced { call(.change(changes)) }
        } catch {
            access.instance.noteDamage(Realm.Error(error))
        }
    }

    private func changes(_ access: ClassAccess, _ batch: ChangeBatch) throws(StorageError) -> [PropertyChange] {
        guard let before = batch.old.view.schema.position(of: access.tableID),
            let old = try batch.old.view.locate(before, RowKey(object._key)),
            let after = batch.new.view.schema.position(of: access.tableID),
            let new = try batch.new.view.locate(after, RowKey(object._key))
        else { return [] }
        let touched = batch.tables?[access.tableID]?.modified[object._key]
        var changes: [PropertyChange] = []
        for (position, column) in batch.new.view.schema.tables[after].columns.enumerated() {
            guard properties?.contains(column.name) ?? true, touched?.contains(column.id.rawValue) ?? true,
                let tag = ColumnTag(rawValue: column.tag),
                let oldPosition = batch.old.view.schema.tables[before].position(of: column.id)
            else { continue }
            let oldValue = try batch.old.view.value(old, oldPosition, tag)
            let newValue = try batch.new.view.value(new, position, tag)
            guard oldValue != newValue else { continue }
            let current = object._dynamicValue(column.name)
            changes.append(
                PropertyChange(
                    name: column.name, oldValue: oldValue.any(as: tag.type),
                    newValue: tag.collection == .none && tag.type != .object ? newValue.any(as: tag.type) : current))
        }
        return changes
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

    func update(_ batch: ChangeBatch) { if !batch.isSilenced { call(.didChange, Realm(instance)) } }
}
