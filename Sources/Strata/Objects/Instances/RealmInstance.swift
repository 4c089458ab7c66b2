import CStrataShim
import Dispatch
import StrataStorage
import Synchronization

/// A Realm on one thread or queue, a frozen one, or one side of a migration: the view that its objects read through.
///
/// States of a live instance: reading (a snapshot is pinned and is the view), writing (a transaction's own state is the
/// view; the snapshot stays pinned as what observers last saw). Every change of the view or of what it shows gives a
/// new stamp, which voids all cached places.
final class RealmInstance {
    enum Kind { case live, frozen }

    let kind: Kind
    /// Of an instance that is one side of a migration.
    let migration: MigrationSide?
    let store: Store
    /// Keeps the store open; nil for the two sides of a migration, which run while it is being opened.
    let shared: SharedStore?
    let configuration: Realm.Configuration
    let confinement: Confinement
    let observation: Observation
    private(set) var stamp: UInt64 = 1
    /// What changed at which stamp of the running write.
    var marks = WriteMarks()
    /// Lists and maps in values of any type that somebody holds.
    let nested = NestedPlaces()
    /// The version in which they stand where the last write left them, until it is shown.
    private var nestedVersion: UInt64?
    private(set) var snapshot: Snapshot?
    private(set) var write: RunningWrite?
    /// What reads see; nil once invalidated or closed.
    private(set) var currentView: ReadView?
    var autorefresh = true
    /// Instead of following a commit.
    var onWake: (() -> Void)?
    /// A transaction that was begun and is not shown yet: notifications come first, and may use it.
    var acquired: WriteTransaction?
    /// Made when the first write waits without blocking.
    private(set) var existingAsyncWrites: AsyncWrites?

    private let classes: ClassCatalog
    /// How many writes this instance began; 0 stands for none.
    private(set) var writesBegun: UInt32 = 0
    private var cancelledWrites: Set<UInt32> = []
    private(set) lazy var encoder = _RowEncoder(self)
    /// What it does about reads that fail.
    private(set) lazy var failures = ReadFailures(self)
    /// Changes with what the process knows of the file's damage; `store` keeps it.
    private let damageChanges: UnsafePointer<UInt32>
    /// What of it the instance has followed. Any thread.
    let followedDamage = Atomic<UInt32>(0)
    /// What was found last of a set of values of any type; see ``_CollectionColumn/shown(_:_:)``. Any thread.
    let shownSet = Mutex<ReadableElements?>(nil)
    private var frozenTwin: InstanceReference?
    /// How others refer to the instance without keeping it alive.
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
        observation = Observation(inbox)
        self.reference = reference
        classes = ClassCatalog(try configuration.plans())
        reference.set(self)
    }

    deinit {
        reference.clear()
        // Before the file is let go of, which waits for the write lock.
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

    /// Stops the program when called where the instance does not belong.
    @inline(__always)
    func checkConfinement() {
        if !confinement.isHere { fatalError(confinementError.message) }
    }

    /// For callers that can throw.
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

    /// Voids what was found before another thread met damage of the file. Asked at each read, so it is two loads.
    @inline(__always)
    func followDamage() {
        if strata_load32(damageChanges) != followedDamage.load(ordering: .relaxed) { failures.adopt() }
    }

    /// The same, also of what another process met.
    func followDamageOfOthers() {
        store.damage.followOthers()
        followDamage()
    }

    /// Whether the instance has met damage of the file, or followed another one that did. O(1), from any thread.
    @inline(__always)
    var knowsDamage: Bool { followedDamage.load(ordering: .relaxed) != 0 }

    /// Pins a version without showing it: the one that the running write began with.
    func snapshot(is snapshot: Snapshot) { self.snapshot = snapshot }
    /// The version that is pinned; 0 for none.
    var snapshotVersion: TransactionID { snapshot?.version ?? TransactionID(0) }

    var asyncWrites: AsyncWrites {
        if let existingAsyncWrites { return existingAsyncWrites }
        let made = AsyncWrites(self)
        existingAsyncWrites = made
        return made
    }

    /// Begins a write, and shows its transaction's own state.
    func show(_ transaction: WriteTransaction) {
        writesBegun &+= 1
        if !nested.isEmpty, let snapshot, snapshot.version != transaction.view.version {
            followNested(from: snapshot.view, to: transaction.view, isPinned: false)
        }
        setView(transaction.view)
        write = RunningWrite(self, transaction, number: writesBegun)
    }

    /// What the last write left of lists and maps that somebody holds is right in the version that it made; in a later
    /// one they are looked for from where they stood before it.
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

    /// After a change of schema inside the running transaction.
    func schemaDidChange() {
        guard let transaction else { return }
        currentView = transaction.view
        classes.resolve(transaction.view)
        invalidatePlaces()
    }

    /// Voids all cached places, and whatever results were found.
    func invalidatePlaces() {
        marks.markEverything(stamp &+ 1)
        invalidateMarked()
    }

    /// Voids all cached places. What changed was marked, with the next stamp.
    @inline(__always)
    func invalidateMarked() {
        stamp &+= 1
        if let currentView { classes.stamp(stamp, currentView) }
    }

    /// Ends a write. The view is void until a snapshot is shown.
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

    /// Lets go of the version that is shown; objects and results are invalid until the next refresh.
    func invalidate() {
        // Nothing will say where they went.
        nested.follow(isPinned: true) { _, _ in nil }
        snapshot = nil
        currentView = nil
        stamp &+= 1
        marks.markEverything(stamp)
        classes.stamp(stamp, nil)
    }

    /// Whether the program has asked it for nothing in the version that it shows: no object, no collection, no change.
    var isUnread: Bool {
        if isFrozen || isInWrite || acquired != nil || !observation.isEmpty { return false }
        return currentView == nil || classes.accesses.isEmpty
    }

    // MARK: Classes

    /// The access of a class; nil when it is not part of this Realm.
    func access(for type: ObjectBase.Type) -> ClassAccess? { classes.access(for: type, in: self) }

    /// Why a class has no access.
    func refusal(of type: ObjectBase.Type) -> Realm.Error {
        ClassPlan.plan(for: type).unusable
            ?? Realm.Error(
                .schemaMismatch, "'\(type.className())' is not a class of this Realm: add it to objectTypes")
    }

    /// The access that was made for a table.
    func knownAccess(ofTable table: Int) -> ClassAccess? { classes.knownAccess(ofTable: table) }

    /// The access of a class by name, as its own type or as ``DynamicObject``.
    func access(named name: String, typed: Bool) -> ClassAccess? {
        classes.access(named: name, typed: typed, in: self)
    }

    /// The rule that the program declares for a property of the class `name`; none during a migration, which deletes
    /// what it says and no more.
    func deleteRule(_ name: String, _ property: String) -> DeleteRule {
        guard !isMigration, let plan = classes.plan(named: name) else { return .nullify }
        return plan.field(ofColumn: property)?.deleteRule ?? .nullify
    }

    /// The program's class of a name.
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

    /// The schema of the version that is shown, as the program is shown it.
    var shownSchema: Schema {
        guard let currentView else { return Schema(StoreSchema()) }
        return classes.shown.whole(currentView) { classes.plan(named: $0) }
    }

    /// One class of it; nil where no version is shown that has it.
    func shownSchema(of name: String) -> ObjectSchema? {
        currentView.flatMap { classes.shown.ofClass(name, $0, classes.plan(named: name)) }
    }

    // MARK: Frozen twins

    /// An immutable instance of the version that is shown; the same one as long as it lives and the version is shown.
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

    /// An immutable instance of a pinned version.
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

    /// An immutable instance in which everything is gone, for where no version can be pinned.
    func frozenShowingNothing() -> RealmInstance { showingNothing(.frozen, .none) }

    /// An instance of the same file that shows no version, with the classes that this one knows.
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

    /// The schema of the version that is shown, or was last.
    var knownSchema: StoreSchema? { currentView?.schema ?? classes.schema }

    private func snapshotOrReport() -> Snapshot? {
        do throws(StorageError) { return try store.snapshot() } catch {
            failures.note(error, in: nil)
            if case .limit(.pins) = error { report("", nil, Realm.Error(error).description) }
            return nil
        }
    }

    /// The access of the same class here.
    func twin(of access: ClassAccess) -> ClassAccess? {
        if access.instance === self { return access }
        return self.access(named: access.name, typed: access.plan != nil)
    }

    /// The same row here; nil when it is not in the version that is shown.
    func twin(of object: ObjectBase) -> ObjectBase? {
        guard object._frame != nil, let access = twin(of: object._access) else { return nil }
        guard let made = materialize(access, RowKey(object._key)), made._creation == object._creation else {
            return nil
        }
        return made
    }

    // MARK: Failures

    /// Marks the running write, so that it throws `error` instead of being committed.
    func fail(_ error: Realm.Error) {
        guard let write else { fatalError(error.description) }
        write.fail(error)
    }

    /// A property of an object could not be read: the caller gets its default.
    func reportDamage(_ object: ObjectBase, _ error: StorageError, column: Int?) {
        let isTold = failures.note(error, in: object._access, failures.loss(object, column: column))
        report(object._access.name, object._key, Realm.Error(error).description, isTold: isTold)
    }

    func reportInvalidAccess(_ object: ObjectBase) {
        let error = object._access.tryRelocate(object) ?? object._access.deletedError(object)
        report(object._access.name, object._key, error.description)
    }

    /// Tells of a read that found nothing, by the policy of the configuration.
    /// - Parameter isTold: the program was told of the damage that is the reason; standard error gets it once.
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

    /// A name that is not there: fails the migration or the write, or is reported.
    func misuse(_ access: ClassAccess, _ key: Int64?, _ error: Realm.Error) {
        if let target = migration?.target { return target.fail(error) }
        if let write { return write.fail(error) }
        report(access.name, key, error.description)
    }
}
