import Dispatch
import StrataFiles
import StrataStorage
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A database, as one thread, queue or actor sees it.
///
///     let realm = try Realm()
///     try realm.write { realm.add(Dog(value: ["name": "Taro", "age": 3])) }
///     let dogs = realm.objects(Dog.self).where { $0.age >= 3 }
///
/// Concurrency: belongs to the thread, queue or actor that opened it; use elsewhere ends the program with a message.
/// Opening the same file again there returns the same Realm. Many threads and processes may have a file open; one at a
/// time writes.
public struct Realm: Equatable {
    public typealias Error = RealmError
    public typealias Configuration = RealmConfiguration

    let instance: RealmInstance

    init(_ instance: RealmInstance) { self.instance = instance }

    /// Opens the default configuration's file.
    public init(queue: DispatchQueue? = nil) throws {
        try self.init(configuration: .defaultConfiguration, queue: queue)
    }

    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    /// Opens a file, and creates and migrates it as the configuration says.
    /// - Parameter queue: a serial queue that the Realm will belong to; the caller must run on it.
    /// - Throws: ``Realm/Error``, with `incorrectThread` if the caller does not run on `queue`; the error of the
    ///   migration block.
    public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
        if let queue, !Confinement.queue(queue).isHere {
            throw RealmError(
                .incorrectThread,
                "a Realm for the queue '\(queue.label)' is opened on that queue: call this inside its async or sync")
        }
        instance = try InstanceCache.instance(configuration, queue: queue)
    }

    /// Opens a file through another file system and scheduler than the operating system's, for tests and for a harness.
    package init(
        configuration: Configuration, fileSystem: any FileSystem, scheduling: any Scheduling = SystemScheduling()
    ) throws {
        var configuration = configuration
        configuration.files = fileSystem
        configuration.scheduling = scheduling
        try self.init(configuration: configuration)
    }

    public static func == (a: Realm, b: Realm) -> Bool { a.instance === b.instance }

    public var configuration: Configuration { instance.file.configuration }
    /// The classes of the file.
    public var schema: Schema { instance.shownSchema }
    public var isInWriteTransaction: Bool { instance.isInWrite }
    public var isFrozen: Bool { instance.isFrozen }
    public var isEmpty: Bool {
        if instance.currentView == nil { instance.showAgain() }
        guard let view = instance.currentView else { return true }
        return view.schema.tables.indices.allSatisfy { (try? view.rowCount($0)) == 0 }
    }

    /// Whether a Realm of the main thread, of a queue or of an actor shows the commits of other threads and processes
    /// automatically. No effect on a Realm of another thread, which shows them at ``refresh()``.
    public var autorefresh: Bool {
        get { instance.observation.autorefresh }
        nonmutating set { instance.observation.autorefresh = newValue }
    }

    /// The open file, for tests and for a harness.
    package var store: Store { instance.file.store }

    // MARK: Finding

    /// All objects of a class, by key.
    public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
        instance.checkConfinement()
        return Results(ObjectSource(requireAccess(type), .table))
    }

    /// As ``objects(_:)``, for generic code over objects and projections.
    public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        instance.checkConfinement()
        return Results(ObjectSource(requireAccess(type._rowClass), .table))
    }

    /// The object of a primary key; nil if there is none.
    /// - Complexity: O(log rows); O(rows) for the key nil, and if the index of primary keys is damaged.
    @inlinable
    public func object<Element: Object, Key>(ofType type: Element.Type, forPrimaryKey key: Key) -> Element? {
        // Compiled into the program, which knows the type of the key: one of unknown type is copied by its metadata.
        if Key.self != Int.self { return _found(type, any: key) }
        let number = withUnsafePointer(to: key) { UnsafeRawPointer($0).loadUnaligned(as: Int.self) }
        return _found(type, number).map { unsafeDowncast($0, to: type) }
    }

    @usableFromInline
    func _found(_ type: ObjectBase.Type, _ key: Int) -> ObjectBase? {
        instance.checkConfinement()
        let access = requireAccess(type)
        return access.hasRowKey ? instance.materialize(access, RowKey(Int64(key))) : find(access, key)
    }

    @usableFromInline
    func _found<Element: Object>(_ type: Element.Type, any key: Any?) -> Element? {
        instance.checkConfinement()
        return find(requireAccess(type), key).map { unsafeDowncast($0, to: type) }
    }

    /// - Parameter key: nil, or a value of any type.
    private func find(_ access: ClassAccess, _ key: Any?) -> ObjectBase? {
        guard let primary = access.primary else {
            fatalError("'\(access.name)' has no primary key; use where")
        }
        guard let value = Self.stored(key, as: primary.tag.type) else { return nil }
        if primary.column == Int(ColumnSlot.key), case .integer(let key) = value {
            return instance.materialize(access, RowKey(key))
        }
        do throws(StorageError) {
            return try PrimaryKeyLookup(access).row(of: value).flatMap { instance.materialize(access, $0) }
        } catch {
            // The index of primary keys may be damaged: the readable rows are compared one by one.
            let isTold = instance.failures.note(error, in: access)
            instance.report(access.name, nil, RealmError(error).description, isTold: isTold)
            return PrimaryKeyLookup(access).readableRow(of: value).flatMap { instance.materialize(access, $0) }
        }
    }

    /// A primary key as its column stores it; nil if it is of another type.
    private static func stored(_ key: Any?, as type: PropertyType) -> _StoredValue? {
        guard let known = _flatten(key) else { return .null }
        return _StoredValue(any: known, as: type)
    }

    func requireAccess(_ type: ObjectBase.Type) -> ClassAccess {
        if instance.currentView == nil { instance.showAgain() }
        guard let access = instance.access(for: type) else {
            fatalError(ClassPlan.refusal(of: type).description)
        }
        return access
    }

    // MARK: Versions

    /// Shows the newest version, and notifies observers of the changes. No effect inside a write.
    ///
    /// If this process pins 991 versions already, and the newest is not among them, the Realm keeps showing the
    /// previous version and reports that as `Configuration.invalidAccess` says: release frozen Realms and objects.
    /// - Returns: whether a newer version is shown than before.
    @discardableResult
    public func refresh() -> Bool {
        instance.checkConfinement()
        return instance.refresh()
    }

    /// Releases the version that is shown, after rolling back a running write. Objects and results are invalidated
    /// until the Realm is refreshed, or asked for objects again.
    public func invalidate() {
        instance.checkConfinement()
        if instance.isInWrite { cancelWrite() }
        instance.invalidate()
    }

    /// An immutable Realm of the version that is shown, for any thread; inside a write, of the last committed version.
    /// If the version cannot be pinned, because the file is damaged or too many are pinned, that is reported, and the
    /// frozen Realm is empty.
    public func freeze() -> Realm {
        if let frozen = instance.twins.frozen() { return Realm(frozen) }
        instance.reportShowingNothing("no version of it can be pinned now")
        return Realm(instance.twins.showingNothing(.frozen, .none))
    }

    /// A live Realm of the same file on this thread. If the file cannot be read now, that is reported, and the Realm is
    /// empty until it can.
    public func thaw() -> Realm {
        instance.checkConfinement()
        guard instance.isFrozen else { return self }
        if let live = InstanceCache.live(instance) { return Realm(live) }
        instance.reportShowingNothing("its file cannot be read now")
        return Realm(instance.twins.showingNothing(.live, .here))
    }
}
