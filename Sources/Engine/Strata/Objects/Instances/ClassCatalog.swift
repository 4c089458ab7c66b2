import StrataStorage
import Synchronization

/// The classes of an instance: for each a ``ClassAccess``, which is made on first use.
///
/// Concurrency: confined with the instance. A frozen instance is read by many threads: accesses of all classes of the
/// program are made before it is returned, and those by name are made one at a time.
final class ClassCatalog {
    private var plans: [ObjectIdentifier: ClassPlan] = [:]
    private var plansByName: [String: ClassPlan] = [:]
    private(set) var accesses: [ClassAccess] = []
    /// The frames of `accesses`, in an array of their own: a loop over it retains and releases nothing.
    @exclusivity(unchecked) private var frames: [UnsafeMutablePointer<_ClassFrame>] = []
    private var accessByType: [ObjectIdentifier: ClassAccess] = [:]
    private var accessByName: [String: ClassAccess] = [:]
    /// An access for each table, by the table's position. A change of the schema moves tables, so an entry is compared
    /// with its access before it is used.
    private var accessByTable: [Int: ClassAccess] = [:]
    /// The schema in the form shown to the program.
    let shown = ShownSchemas()
    private let nameLock = Mutex<Void>(())
    @exclusivity(unchecked) private var lastAccess: (type: ObjectIdentifier, access: ClassAccess)?
    /// The last version whose schema the accesses were resolved with; 0 before the first.
    private var resolvedSchema = TransactionID(0)
    /// The schema that the accesses were last resolved with. Set before, for an instance that shows no version.
    var schema: StoreSchema?

    init(_ plans: [ClassPlan]) {
        for plan in plans {
            self.plans[ObjectIdentifier(plan.type)] = plan
            plansByName[plan.name] = plan
        }
    }

    // MARK: Accesses

    /// The access of a class; nil if the Realm does not have the class, or it is unusable (``ClassPlan/unusable``).
    func access(for type: ObjectBase.Type, in instance: RealmInstance) -> ClassAccess? {
        let identity = ObjectIdentifier(type)
        if let lastAccess, lastAccess.type == identity { return lastAccess.access }
        if let known = accessByType[identity] {
            // Several threads read a frozen instance, so it must not change once it was handed out.
            if !instance.isFrozen { lastAccess = (identity, known) }
            return known
        }
        guard let plan = plans[identity], plan.unusable == nil,
            let made = ClassAccess(instance, plan: plan, name: plan.name)
        else {
            return nil
        }
        keep(made)
        accessByType[identity] = made
        lastAccess = (identity, made)
        return made
    }

    /// The access of a class by name, typed or as ``DynamicObject``.
    func access(named name: String, typed: Bool, in instance: RealmInstance) -> ClassAccess? {
        if typed, let plan = plan(named: name), plan.unusable == nil { return access(for: plan.type, in: instance) }
        if !instance.isShared { return dynamicAccess(name, instance) }
        return nameLock.withLock { _ in Carried(value: dynamicAccess(name, instance)) }.value
    }

    private func dynamicAccess(_ name: String, _ instance: RealmInstance) -> ClassAccess? {
        if let known = accessByName[name] { return known }
        guard let made = ClassAccess(instance, plan: nil, name: name) else { return nil }
        keep(made)
        accessByName[name] = made
        return made
    }

    private func keep(_ access: ClassAccess) {
        accesses.append(access)
        frames.append(access.frame)
    }

    /// Makes the accesses of all classes of the program, before several threads use them.
    func makeAll(in instance: RealmInstance) {
        for plan in plans.values { _ = access(for: plan.type, in: instance) }
        lastAccess = nil
    }

    /// The first access made for a table.
    func knownAccess(ofTable table: Int) -> ClassAccess? {
        if let known = accessByTable[table], known.table == table { return known }
        // A change of the schema has reordered the tables.
        accessByTable = Dictionary(accesses.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
        return accessByTable[table]
    }

    /// The program's class with a name.
    func plan(named name: String) -> ClassPlan? { plansByName[name] }

    // MARK: Views

    /// Resolves the classes with a view's schema, if the file's schema has changed since they were last resolved.
    /// - Parameter newestSchema: the version that last changed the file's schema.
    func follow(_ view: ReadView, newestSchema: TransactionID?) {
        guard let newestSchema, newestSchema > resolvedSchema || resolvedSchema.rawValue == 0 else { return }
        resolvedSchema = view.version
        resolve(view)
    }

    /// Resolves the classes with a view's schema: finds the table and columns of each.
    func resolve(_ view: ReadView) {
        schema = view.schema
        for access in accesses { access.resolve(view.schema) }
    }

    /// Gives all frames a new stamp, under which no cached location of a row is valid.
    /// - Parameter view: the new view; nil keeps the present one.
    @inline(__always)
    func stamp(_ stamp: UInt64, _ view: ReadView?) {
        let address = view.map { Unmanaged.passUnretained($0).toOpaque() }
        for frame in frames {
            frame.pointee.stamp = stamp
            if let address { frame.pointee.viewAddress = address }
        }
    }

    /// Gives all frames a new stamp for the same view.
    @inline(__always)
    func stamp(_ stamp: UInt64) { for frame in frames { frame.pointee.stamp = stamp } }
}
