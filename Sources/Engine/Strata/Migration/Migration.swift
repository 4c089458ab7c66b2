import StrataStorage

/// An object of a migration: accessed by name, because its class may be removed or different.
public typealias MigrationObject = DynamicObject

/// A migration from the file's schema to the program's.
///
///     migrationBlock: { migration, oldVersion in
///         if oldVersion < 1 {
///             try migration.enumerateObjects(ofType: "Person") { old, new in
///                 guard let old, let new else { return }
///                 let first = try old.value("firstName", as: String.self)
///                 new["fullName"] = try first + " " + old.value("lastName", as: String.self)
///             }
///         }
///     }
///
/// All changes are made in one transaction: if the block throws, or does something impossible, the file is unchanged.
/// Old objects show the file before the migration, whatever the block changes; new ones show its changes. Concurrency:
/// for the block's thread, while it runs.
public final class Migration {
    let source: RealmInstance
    let target: RealmInstance
    var transition: SchemaTransition
    /// By class: names that properties have had between the old and the new schema, with their names in the old one.
    var aliases: [String: [String: String]] = [:]
    /// Properties that a call of `fillNulls`, `convertProperty` or `convertElements` has filled.
    var ruled: Set<RuledProperty> = []
    private let wanted: Set<String>
    private let progress: (@Sendable (MigrationProgress) -> Void)?

    struct RuledProperty: Hashable {
        var className: String
        var name: String
    }

    /// - Parameter wanted: the classes of the new schema.
    init(_ source: RealmInstance, _ target: RealmInstance, _ transition: SchemaTransition, wanted: Set<String>) {
        self.source = source
        self.target = target
        self.transition = transition
        self.wanted = wanted
        progress = target.file.configuration.migrationProgress
    }

    /// The schema of the file before the migration.
    public var oldSchema: Schema { Schema(transition.old) }
    /// The schema of the program, with classes that only the file has.
    public var newSchema: Schema { Schema(transition.final) }

    func isWanted(_ typeName: String) -> Bool { wanted.contains(typeName) }

    func fail(_ error: RealmError) { target.fail(error) }

    // MARK: Enumeration

    /// Enumerates the objects of a class: `(old, new)` if it is in both schemas, `(old, nil)` if the program no longer
    /// has it, `(nil, new)` if it is new.
    ///
    /// The enumeration covers the objects that exist when it begins. Objects that the migration deletes are skipped,
    /// even if another object is created under their key; objects that it creates are not enumerated.
    ///
    /// Values set by the block are written column by column, in batches of some thousand rows, as long as the block
    /// does not read what it has just set. The two objects are reused for the next row unless the block has kept them.
    /// - Complexity: O(rows); memory does not depend on their number.
    public func enumerateObjects(
        ofType typeName: String, _ block: (_ old: MigrationObject?, _ new: MigrationObject?) throws -> Void
    ) rethrows {
        #if Zoo
            if PlantedMistake.migrationSkipsClass.isPlanted { return }
        #endif
        let new = isWanted(typeName) ? target.access(named: typeName, typed: false) : nil
        if let old = source.access(named: typeName, typed: false) {
            try walk(old, new, block)
        } else if let new {
            try walk(new, block)
        }
    }

    private func walk(
        _ old: ClassAccess, _ new: ClassAccess?, _ block: (MigrationObject?, MigrationObject?) throws -> Void
    ) rethrows {
        var steps = KeySteps(old)
        let total = steps.total
        var done = 0
        var pair = WalkedPair(source: source, old: old, target: target, new: new)
        while let keys = steps.next(orFail: fail) {
            for key in keys {
                #if Zoo
                    if PlantedMistake.migrationSkipsRow.isPlanted, key == keys.last { continue }
                    let isLast = key == keys.last && done + keys.count == total
                    if isLast, total % 1_024 == 0, PlantedMistake.fullStepShort.isPlanted { continue }
                    if PlantedMistake.migrationHoards.isPlanted { PlantedMistake.hoard(bytes: 1_024) }
                #endif
                if pair.move(to: key) { try block(pair.old, pair.new) }
            }
            done += keys.count
            report(old.name, done, total)
        }
        target.migration?.endWalk()
    }

    /// Enumerates the rows of a class that only the new schema has.
    private func walk(
        _ new: ClassAccess, _ block: (MigrationObject?, MigrationObject?) throws -> Void
    ) rethrows {
        var ranges: [ClosedRange<Int64>] = []
        var steps = KeySteps(new)
        let total = steps.total
        while let keys = steps.next(orFail: fail) {
            for key in keys {
                if let last = ranges.last, last.upperBound == key &- 1 {
                    ranges[ranges.count - 1] = last.lowerBound...key
                } else {
                    ranges.append(key...key)
                }
            }
        }
        var done = 0
        for range in ranges {
            for key in range {
                if let newObject = target.materialize(new, RowKey(key)) as? MigrationObject {
                    try block(nil, newObject)
                }
                done += 1
                if done & 4095 == 0 || done == total { report(new.name, done, total) }
            }
        }
    }

    func report(_ className: String, _ done: Int, _ total: Int) {
        progress?(
            MigrationProgress(
                schemaVersion: transition.final.userVersion, className: className, objectsDone: done,
                objectsTotal: max(total, done)))
    }

    // MARK: Queries

    /// The objects of a class in the new schema, for queries inside a migration.
    ///
    ///     let adults = migration.objects(ofType: "Person").where { $0["age"] >= 18 }
    ///     let named = migration.objects(ofType: "Person").filter("name BEGINSWITH %@", "A")
    /// An unknown class fails the migration.
    public func objects(ofType typeName: String) -> Results<MigrationObject> {
        results(target, typeName, "new")
    }

    /// The objects of a class in the file before the migration.
    public func oldObjects(ofType typeName: String) -> Results<MigrationObject> {
        results(source, typeName, "old")
    }

    private func results(_ instance: RealmInstance, _ typeName: String, _ side: String) -> Results<MigrationObject> {
        if let access = instance.access(named: typeName, typed: false) {
            return Results(ObjectSource(access, .table))
        }
        fail(RealmError(.invalidInput, "the \(side) schema has no class '\(typeName)'"))
        return Results(nowhere(instance))
    }

    /// An empty source, for a migration that has failed.
    private func nowhere(_ instance: RealmInstance) -> ObjectSource {
        for name in (instance.currentView?.schema.tables ?? []).map(\.name) {
            if let access = instance.access(named: name, typed: false) { return ObjectSource(access, .keys([])) }
        }
        fatalError("a migration without any class")
    }

    // MARK: Changing

    /// Creates an object in the new schema, from a dictionary, an array or an object of the migration.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        guard isWanted(typeName), let access = target.access(named: typeName, typed: false) else {
            fail(RealmError(.invalidInput, "the new schema has no class '\(typeName)'"))
            return MigrationObject()
        }
        var value = value
        if let object = value as? MigrationObject, object._frame != nil {
            let names = object._access.properties.filter { !$0.isLinkingObjects }.map(\.name)
            let shared = names.filter { access.property($0).map { !$0.isLinkingObjects } ?? false }
            value = Dictionary(uniqueKeysWithValues: shared.map { ($0, object[$0] as Any) })
        }
        return target.create(access, value, .error) as? MigrationObject ?? MigrationObject()
    }

    /// Deletes an object of the new schema. Its old counterpart stays readable.
    public func delete(_ object: MigrationObject) {
        if object._instance === source {
            return fail(RealmError(.invalidInput, "an object of the old schema cannot be deleted; delete the new one"))
        }
        target.delete([object])
    }

    /// Deletes all objects of a class, and the class itself if the program does not have it.
    /// - Returns: whether the class existed.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        guard let access = target.access(named: typeName, typed: false), let write = target.write else { return false }
        if !isWanted(typeName) {
            transition.removed.insert(access.tableID)
            return true
        }
        write.deleteAll([access.table])
        return true
    }
}

/// The keys of a class's rows, in batches of some thousand.
struct KeySteps {
    private let access: ClassAccess
    private var following: Int64? = .min
    private var keys: [Int64] = []
    let total: Int

    init(_ access: ClassAccess) {
        self.access = access
        var rows = 0
        do throws(StorageError) { rows = try access.instance.currentView?.rowCount(access.table) ?? 0 } catch {
            // Enumerating the rows meets the same damage, and reports it.
        }
        total = rows
    }

    /// Nil at the end, and after a storage error.
    mutating func next(orFail report: (RealmError) -> Void) -> [Int64]? {
        do throws(StorageError) { return try next() } catch {
            following = nil
            report(RealmError(error))
            return nil
        }
    }

    mutating func next() throws(StorageError) -> [Int64]? {
        guard let from = following, let view = access.instance.currentView else { return nil }
        keys.removeAll(keepingCapacity: true)
        var found = keys
        try view.scan(access.table, columns: [], from: RowKey(from)) { (batch) throws(StorageError) in
            found.append(contentsOf: UnsafeBufferPointer(start: batch.keys, count: batch.count))
            return found.isEmpty
        }
        keys = found
        guard let last = keys.last else {
            following = nil
            return nil
        }
        following = last == .max ? nil : last + 1
        return keys
    }
}
