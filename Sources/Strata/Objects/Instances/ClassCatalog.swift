import StrataStorage
import Synchronization

/// The classes that an instance reads and writes, each with its access, which is made when it is first asked for.
///
/// Concurrency: belongs to where the instance belongs. A frozen instance is read by many threads: all classes of the
/// program have an access before it is handed out, and those that are asked for by name are made one at a time.
final class ClassCatalog {
    private var plans: [ObjectIdentifier: ClassPlan] = [:]
    private var plansByName: [String: ClassPlan] = [:]
    private(set) var accesses: [ClassAccess] = []
    private var accessByType: [ObjectIdentifier: ClassAccess] = [:]
    private var accessByName: [String: ClassAccess] = [:]
    /// The classes that a reader of the instance has asked for by table. An entry is compared with the schema before it
    /// is used.
    private var accessByTable: [Int: ClassAccess] = [:]
    /// What the program is shown of the schema.
    let shown = ShownSchemas()
    private let nameLock = Mutex<Void>(())
    private var lastAccess: (type: ObjectIdentifier, access: ClassAccess)?
    /// The newest version whose schema the accesses are resolved against; 0 before the first.
    private var resolvedSchema = TransactionID(0)
    /// What they were resolved against last, or are to be where nothing is shown.
    var schema: StoreSchema?

    init(_ plans: [ClassPlan]) {
        for plan in plans {
            self.plans[ObjectIdentifier(plan.type)] = plan
            plansByName[plan.name] = plan
        }
    }

    // MARK: Accesses

    /// The access of a class; nil when it is not part of the Realm, and for one whose values may not be readable.
    func access(for type: ObjectBase.Type, in instance: RealmInstance) -> ClassAccess? {
        let identity = ObjectIdentifier(type)
        if let lastAccess, lastAccess.type == identity { return lastAccess.access }
        if let known = accessByType[identity] {
            // Nothing changes in a frozen instance once it was handed out.
            if !instance.isFrozen { lastAccess = (identity, known) }
            return known
        }
        guard let plan = plans[identity], plan.unusable == nil,
            let made = ClassAccess(instance, plan: plan, name: plan.name)
        else {
            return nil
        }
        accesses.append(made)
        accessByType[identity] = made
        lastAccess = (identity, made)
        return made
    }

    /// The access of a class by name, as its own type or as ``DynamicObject``.
    func access(named name: String, typed: Bool, in instance: RealmInstance) -> ClassAccess? {
        if typed, let plan = plan(named: name), plan.unusable == nil { return access(for: plan.type, in: instance) }
        if !instance.isShared { return dynamicAccess(name, instance) }
        return nameLock.withLock { _ in Carried(value: dynamicAccess(name, instance)) }.value
    }

    private func dynamicAccess(_ name: String, _ instance: RealmInstance) -> ClassAccess? {
        if let known = accessByName[name] { return known }
        guard let made = ClassAccess(instance, plan: nil, name: name) else { return nil }
        accesses.append(made)
        accessByName[name] = made
        return made
    }

    /// Makes the access of every class of the program, so that many threads may ask for them.
    func makeAll(in instance: RealmInstance) {
        for plan in plans.values { _ = access(for: plan.type, in: instance) }
        lastAccess = nil
    }

    /// The access that was made for a table first.
    func knownAccess(ofTable table: Int) -> ClassAccess? {
        if let known = accessByTable[table], known.table == table { return known }
        // Tables were put in another order by a change of the schema.
        accessByTable = Dictionary(accesses.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
        return accessByTable[table]
    }

    /// The program's class of a name.
    func plan(named name: String) -> ClassPlan? { plansByName[name] }

    // MARK: Views

    /// Looks the classes up in a view's schema, where the file has had a newer one since they were looked up.
    func follow(_ view: ReadView, newestSchema: TransactionID?) {
        guard let newestSchema, newestSchema > resolvedSchema || resolvedSchema.rawValue == 0 else { return }
        resolvedSchema = view.version
        resolve(view)
    }

    /// Looks the classes up in a view's schema.
    func resolve(_ view: ReadView) {
        schema = view.schema
        for access in accesses { access.resolve(view.schema) }
    }

    /// Voids all cached places.
    /// - Parameter view: what is read from now on; nil leaves what was read.
    @inline(__always)
    func stamp(_ stamp: UInt64, _ view: ReadView?) {
        let address = view.map { Unmanaged.passUnretained($0).toOpaque() }
        for access in accesses {
            access.frame.pointee.stamp = stamp
            if let address { access.frame.pointee.viewAddress = address }
        }
    }
}
