import CStrataShim
import Dispatch
import StrataStorage
import Synchronization

/// A Realm on one thread, queue or actor, a frozen one, or one side of a migration: its objects read through its view.
///
/// States of a live instance: reading (the view is a pinned snapshot), and writing (the view is the transaction's; the
/// snapshot stays pinned as the observers' version). Every change of the view or its contents gives a new stamp, which
/// invalidates all cached locations.
final class RealmInstance {
    enum Kind { case live, frozen }

    let kind: Kind
    /// Set for one side of a migration.
    let migration: MigrationSide?
    let store: Store
    /// Keeps the store open; nil for the two sides of a migration, which run while it is being opened.
    let shared: SharedStore?
    let configuration: Realm.Configuration
    let confinement: Confinement
    private let ownThread: UInt64
    let observation: Observation
    @exclusivity(unchecked) private(set) var stamp: UInt64 = 1
    /// The stamps of the running write's changes.
    @exclusivity(unchecked) var marks = WriteMarks()
    /// Inner collections in use by the program.
    let nested = NestedPlaces()
    /// The version for which their steps are those after the last write, until it is shown.
    private var nestedVersion: UInt64?
    private(set) var snapshot: Snapshot?
    @exclusivity(unchecked) private(set) var write: RunningWrite?
    /// The view of reads; nil once invalidated or closed.
    @exclusivity(unchecked) private(set) var currentView: ReadView?
    var autorefresh = true
    /// Called instead of following a commit.
    var onWake: (() -> Void)?
    /// A transaction that was begun and is not shown yet: notifications come first, and may use it.
    var acquired: WriteTransaction?
    /// Made for the first asynchronous write.
    private(set) var existingAsyncWrites: AsyncWrites?

    private let classes: ClassCatalog
    /// Number of writes begun by this instance; 0 stands for none.
    private(set) var writesBegun: UInt32 = 0
    private var cancelledWrites: Set<UInt32> = []
    private(set) lazy var encoder = _RowEncoder(self)
    /// Handles reads that fail.
    private(set) lazy var failures = ReadFailures(self)
    /// Changes with the known damage of the file; owned by `store`.
    private let damageChanges: UnsafePointer<UInt32>
    /// The value of `damageChanges` that the instance has followed. Any thread.
    let followedDamage = Atomic<UInt32>(0)
    /// Cached visible members of a set of values of any type; see ``_CollectionColumn/shown(_:_:)``. Any thread.
    let shownSet = Mutex<ReadableElements?>(nil)
    private var frozenTwin: InstanceReference?
    /// A weak reference to the instance for others.
    let reference: InstanceReference

    init(
        _ kind: Kind, store: Store, shared: SharedStore?, configuration: Realm.Configuration,
        confinement: Confinement, inbox: ChangeInbox? = nil, reference: InstanceReference = InstanceReference(),
        migration: MigrationSide? = nil
    ) throws(Realm.Error) {
        self.kind = kind
        self.migration = migration
        self.store = store
        damageChanges = store.damage.changes
        self.shared = shared
        self.configuration = configuration
        self.confinement = confinement
        ownThread = confinement.ownThread
        observation = Observation(inbox)
        self.reference = reference
        classes = ClassCatalog(try configuration.plans())
        reference.set(self)
    }

    deinit {
        reference.clear()
        // Before the file is released, which waits for the write gate.
        write?.transaction.rollback()
        acquired?.rollback()
        if let inbox = observation.inbox { shared?.remove(inbox) }
    }

    var isFrozen: Bool { kind == .frozen }
    /// Whether several threads may read it at once.
    var isShared: Bool { isFrozen && !isMigration }
    var isInWrite: Bool { write != nil }
    /// Of the running write.
    var transaction: WriteTransaction? { write?.transaction }
    /// Why the running write must not be committed.
    var failure: Realm.Error? { write?.failure }
    var isMigration: Bool { migration != nil }

    /// Stops the program if called outside the instance's thread, queue or actor.
    @inline(__always)
    func checkConfinement() {
        if strata_known_thread() != ownThread, !confinement.isHere { fatalError(confinementError.message) }
    }

    func requireHere() throws(Realm.Error) {
        if !confinement.isHere { throw confinementError }
    }

    var confinementError: Realm.Error {
        Realm.Error(
            .incorrectThread,
            "Realm accessed from incorrect thread: objects, results and Realms belong to the thread, queue or actor "
                + "that opened the Realm, here \(confinement.description). Freeze them, or pass a ThreadSafeReference.")
    }

    // MARK: Views

    /// Shows a pinned version.
    func show(_ snapshot: Snapshot) {
        if !nested.isEmpty { followNested(to: snapshot) }
        self.snapshot = snapshot
        setView(snapshot.view)
        followDamageOfOthers()
    }

    /// Drops results from before another thread found damage of the file. Called at each read, so it is two loads.
    @inline(__always)
    func followDamage() {
        if strata_load32(damageChanges) != followedDamage.load(ordering: .relaxed) { failures.adopt() }
    }

    /// As ``followDamage()``, including damage found by another process.
    func followDamageOfOthers() {
        store.damage.followOthers()
        followDamage()
    }

    /// Whether the instance knows of damage of the file. O(1), from any thread.
    @inline(__always)
    var knowsDamage: Bool { followedDamage.load(ordering: .relaxed) != 0 }

    /// Pins a version without showing it: the base of the running write.
    func snapshot(is snapshot: Snapshot) { self.snapshot = snapshot }
    /// The pinned version; 0 for none.
    var snapshotVersion: TransactionID { snapshot?.version ?? TransactionID(0) }

    var asyncWrites: AsyncWrites {
        if let existingAsyncWrites { return existingAsyncWrites }
        let made = AsyncWrites(self)
        existingAsyncWrites = made
        return made
    }

    /// Begins a write, and shows the transaction's own state.
    func show(_ transaction: WriteTransaction) {
        writesBegun &+= 1
        if !nested.isEmpty, let snapshot, snapshot.version != transaction.view.version {
            followNested(from: snapshot.view, to: transaction.view, isPinned: false)
        }
        setView(transaction.view)
        write = RunningWrite(self, transaction, number: writesBegun)
    }

    /// Follows inner collections in use. Their steps after the last write are valid in the version that it committed;
    /// for a later one they are followed from the steps before the write.
    private func followNested(to next: Snapshot) {
        defer { nestedVersion = nil }
        guard let snapshot, snapshot.version != next.version, nestedVersion != next.version.rawValue else {
            return nested.settle()
        }
        followNested(from: snapshot.view, to: next.view, isPinned: true)
    }

    private func setView(_ view: ReadView) {
        currentView = view
        classes.follow(view, newestSchema: shared?.schemaVersion)
        invalidatePlaces()
    }

    /// Called after a change of the schema inside the running transaction.
    func schemaDidChange() {
        guard let transaction else { return }
        currentView = transaction.view
        classes.resolve(transaction.view)
        invalidatePlaces()
    }

    /// Invalidates all cached locations and results.
    func invalidatePlaces() {
        marks.markEverything(stamp &+ 1)
        stamp &+= 1
        classes.stamp(stamp, currentView)
    }

    /// Invalidates all cached locations after a change that was marked with the next stamp.
    @inline(__always)
    func invalidateMarked() {
        stamp &+= 1
        classes.stamp(stamp)
    }

    /// Ends a write. The view is invalid until a snapshot is shown.
    func endWrite(cancelled: Bool) {
        if let write {
            if cancelled {
                cancelledWrites.insert(write.number)
                nested.rollBack(write.number)
            } else {
                write.noteCommit()
                nestedVersion = write.version
            }
        }
        write = nil
    }

    func isCancelled(_ write: UInt32) -> Bool { cancelledWrites.contains(write) }

    /// Releases the version that is shown; objects and results are invalid until the next refresh.
    func invalidate() {
        // Later there is no version from which they could be followed.
        nested.follow(isPinned: true) { _, _ in nil }
        snapshot = nil
        currentView = nil
        invalidatePlaces()
    }

    /// Whether the program has read no object, collection or change of the version that is shown.
    var isUnread: Bool {
        if isFrozen || isInWrite || acquired != nil || !observation.isEmpty { return false }
        return currentView == nil || classes.accesses.isEmpty
    }

    // MARK: Classes

    /// The access of a class; nil if it is not in this Realm.
    func access(for type: ObjectBase.Type) -> ClassAccess? { classes.access(for: type, in: self) }

    /// Why a class has no access.
    func refusal(of type: ObjectBase.Type) -> Realm.Error {
        ClassPlan.plan(for: type).unusable
            ?? Realm.Error(
                .schemaMismatch, "'\(type.className())' is not a class of this Realm: add it to objectTypes")
    }

    /// The access made for a table.
    func knownAccess(ofTable table: Int) -> ClassAccess? { classes.knownAccess(ofTable: table) }

    /// The access of a class by name, typed or as ``DynamicObject``.
    func access(named name: String, typed: Bool) -> ClassAccess? {
        classes.access(named: name, typed: typed, in: self)
    }

    /// The program's delete rule for a property of the class `name`; none during a migration, which deletes only what
    /// its code deletes.
    func deleteRule(_ name: String, _ property: String) -> DeleteRule {
        guard !isMigration, let plan = classes.plan(named: name) else { return .nullify }
        return plan.field(ofColumn: property)?.deleteRule ?? .nullify
    }

    /// The program's class with a name.
    func configuredPlan(_ name: String) -> ClassPlan? { classes.plan(named: name) }

    /// Inverse properties that the program declares in the class `name`.
    func inverses(of name: String) -> [BoundProperty] {
        guard let plan = classes.plan(named: name) else { return [] }
        return plan.fields.filter { $0.shape.type == .linkingObjects }.map { field in
            BoundProperty(
                name: field.name, tag: ColumnTag(field.shape, isPrimary: false), column: Int(ColumnSlot.computed),
                target: field.shape.objectType?.className(), origin: field.origin, deleteRule: .nullify,
                isIndexed: false, isParental: false, offset: 0)
        }
    }

    /// The schema of the version that is shown, in the form for the program.
    var shownSchema: Schema {
        guard let currentView else { return Schema(StoreSchema()) }
        return classes.shown.whole(currentView) { classes.plan(named: $0) }
    }

    /// One class of it; nil if no version with it is shown.
    func shownSchema(of name: String) -> ObjectSchema? {
        currentView.flatMap { classes.shown.ofClass(name, $0, classes.plan(named: name)) }
    }

    // MARK: Frozen instances

    /// A frozen instance of the version that is shown; the same one while it lives and the version is shown.
    func frozen() -> RealmInstance? {
        checkConfinement()
        if isFrozen { return self }
        if shared == nil { return nil }
        let pinned: Snapshot
        if let snapshot = frozenSnapshot, write == nil {
            pinned = snapshot
        } else {
            guard let newest = snapshotOrReport() else { return nil }
            pinned = newest
        }
        if let twin = frozenTwin?.instance, twin.snapshot?.version == pinned.version { return twin }
        guard let made = frozen(at: pinned) else { return nil }
        frozenTwin = made.reference
        return made
    }

    /// A frozen instance of a pinned version.
    func frozen(at pinned: Snapshot) -> RealmInstance? {
        guard let shared else { return nil }
        do throws(Realm.Error) {
            let made = try RealmInstance(
                .frozen, store: store, shared: shared, configuration: configuration, confinement: .none)
            made.show(pinned)
            made.classes.makeAll(in: made)
            return made
        } catch {
            failures.note(error)
            return nil
        }
    }

    /// An empty frozen instance, for when no version can be pinned.
    func frozenShowingNothing() -> RealmInstance { showingNothing(.frozen, .none) }

    /// An instance of the same file that shows no version, with this one's classes.
    func showingNothing(_ kind: Kind, _ confinement: Confinement) -> RealmInstance {
        do throws(Realm.Error) {
            let made = try RealmInstance(
                kind, store: store, shared: shared, configuration: configuration, confinement: confinement)
            made.classes.schema = knownSchema
            made.classes.makeAll(in: made)
            return made
        } catch {
            preconditionFailure("the classes of a Realm that is open were read before: \(error)")
        }
    }

    /// The schema of the version that is shown, or was shown last.
    var knownSchema: StoreSchema? { currentView?.schema ?? classes.schema }

    private func snapshotOrReport() -> Snapshot? {
        do throws(StorageError) { return try store.snapshot() } catch {
            failures.note(error, in: nil)
            if case .limit(.pins) = error { report("", nil, Realm.Error(error).description) }
            return nil
        }
    }

    /// The access of the same class in this instance.
    func twin(of access: ClassAccess) -> ClassAccess? {
        if access.instance === self { return access }
        return self.access(named: access.name, typed: access.plan != nil)
    }

    /// The object of the same row in this instance; nil if the version that is shown does not have it.
    func twin(of object: ObjectBase) -> ObjectBase? {
        guard object._frame != nil, let access = twin(of: object._access) else { return nil }
        guard let made = materialize(access, RowKey(object._key)), made._creation == object._creation else {
            return nil
        }
        return made
    }

    // MARK: Failures

    /// Marks the running write as failed, so that it throws `error` instead of committing.
    func fail(_ error: Realm.Error) {
        guard let write else { fatalError(error.description) }
        write.fail(error)
    }

    /// Reports an unreadable property of an object: the caller returns its default.
    func reportDamage(_ object: ObjectBase, _ error: StorageError, column: Int?) {
        let isTold = failures.note(error, in: object._access, failures.loss(object, column: column))
        report(object._access.name, object._key, Realm.Error(error).description, isTold: isTold)
    }

    func reportInvalidAccess(_ object: ObjectBase) {
        let error = object._access.tryRelocate(object) ?? object._access.deletedError(object)
        report(object._access.name, object._key, error.description)
    }

    /// Reports a failed read, following the configuration's policy.
    /// - Parameter isTold: the damage behind it was reported already; standard error gets it once.
    func report(_ className: String, _ key: Int64?, _ message: String, isTold: Bool = false) {
        #if Zoo
            if PlantedMistake.wrongTrap.isPlanted, configuration.invalidAccess == .trap { fatalError("not there") }
            if PlantedMistake.trapIgnored.isPlanted, configuration.invalidAccess == .trap { return }
        #endif
        if configuration.invalidAccess == .trap { fatalError(message) }
        configuration.tell(
            .substituted(
                Realm.Configuration.InvalidAccessReport(
                    className: className, key: key, version: currentView?.version.rawValue ?? 0, message: message)),
            isTold: isTold)
    }

    /// Handles an unknown name: fails the migration or the write, or is reported.
    func misuse(_ access: ClassAccess, _ key: Int64?, _ error: Realm.Error) {
        if let target = migration?.target { return target.fail(error) }
        if let write { return write.fail(error) }
        report(access.name, key, error.description)
    }
}
