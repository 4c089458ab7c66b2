import CStrataShim
import StrataStorage
import Synchronization

/// The object behind a ``Realm``. It belongs to one thread, queue or actor, is frozen, or is one side of a migration.
/// Objects, results and collections read through the version that it shows.
final class RealmInstance {
    /// The kind of an instance. A struct and not an enum whose payload is the side of a migration, so that `isFrozen`
    /// loads a Bool and does not copy the reference to that side.
    struct Role {
        let isFrozen: Bool
        /// Set for one side of a migration.
        let migration: MigrationSide?

        static var live: Role { Role(isFrozen: false, migration: nil) }
        static var frozen: Role { Role(isFrozen: true, migration: nil) }
        static func migrating(_ side: MigrationSide) -> Role { Role(isFrozen: side.isOld, migration: side) }
    }

    private let role: Role
    /// How far this instance has followed the register of the file's damage. Any thread.
    let damage: FollowedDamage
    @exclusivity(unchecked) var shown = ShownVersion()
    let file: OpenedFile
    let confinement: Confinement
    /// The thread that may use it without a further check.
    private let ownThread: UInt64
    let observation: Observation
    private(set) lazy var writing = WriteSide(self)
    private let classes: ClassCatalog
    private(set) lazy var failures = ReadFailures(self)
    private(set) lazy var twins = FrozenTwins(self)
    /// A weak reference to this instance, for types that must not retain it.
    let reference: InstanceReference

    init(
        _ role: Role, of file: OpenedFile, confinement: Confinement, inbox: ChangeInbox? = nil,
        reference: InstanceReference = InstanceReference()
    ) throws(RealmError) {
        self.role = role
        self.file = file
        damage = FollowedDamage(file.store.damage)
        self.confinement = confinement
        ownThread = confinement.ownThread
        observation = Observation(inbox)
        self.reference = reference
        classes = ClassCatalog(try file.configuration.plans())
        reference.set(self)
        // Several threads may read a frozen instance at once, and a lazy property is not safe on its first use by two.
        if isFrozen { _ = (failures, twins, writing) }
    }

    deinit {
        reference.clear()
        // Rolls back before the instance releases the file: a close of the store waits for the write gate, which the
        // transaction holds.
        write?.transaction.rollback()
        writing.rollBackAcquired()
        if let inbox = observation.inbox { file.shared?.remove(inbox) }
    }

    // MARK: Shown version

    var stamp: UInt64 { shown.stamp }
    var currentView: ReadView? { shown.view }
    var snapshot: Snapshot? { shown.snapshot }
    var write: RunningWrite? { shown.write }

    var isFrozen: Bool { role.isFrozen }
    /// Whether several threads may read it at once.
    var isShared: Bool { isFrozen && !isMigration }
    var isMigration: Bool { migration != nil }
    var migration: MigrationSide? { role.migration }
    var isInWrite: Bool { write != nil }
    var transaction: WriteTransaction? { write?.transaction }
    /// Why the running write must not be committed.
    var failure: RealmError? { write?.failure }

    /// Stops the program if called outside the instance's thread, queue or actor.
    @inline(__always)
    func checkConfinement() {
        if strata_known_thread() != ownThread, !confinement.isHere { fatalError(confinementError.message) }
    }

    func requireHere() throws(RealmError) {
        if !confinement.isHere { throw confinementError }
    }

    var confinementError: RealmError {
        RealmError(
            .incorrectThread,
            "Realm accessed from incorrect thread: objects, results and Realms belong to the thread, queue or actor "
                + "that opened the Realm, here \(confinement.description). Freeze them, or pass a ThreadSafeReference.")
    }

    /// Shows a pinned version.
    func show(_ snapshot: Snapshot) {
        if !shown.nested.isEmpty { followNested(to: snapshot) }
        shown.show(snapshot)
        viewDidChange(to: snapshot.view)
        followDamageOfOthers()
    }

    /// If another thread has found damage of the file, drops results from before. Each read calls it: two loads.
    @inline(__always)
    func followDamage() {
        if damage.isBehind { failures.adopt() }
    }

    /// As ``followDamage()``, including damage found by another process.
    func followDamageOfOthers() {
        file.store.damage.followOthers()
        followDamage()
    }

    /// The pinned version; 0 for none.
    var snapshotVersion: TransactionID { snapshot?.version ?? TransactionID(0) }

    /// Shows the state of a transaction, with its own changes, and begins a write.
    /// - Parameter number: of the write.
    func show(_ transaction: WriteTransaction, number: UInt32) {
        if !shown.nested.isEmpty, let snapshot, snapshot.version != transaction.view.version {
            followNested(from: snapshot.view, to: transaction.view, isPinned: false)
        }
        shown.show(transaction)
        viewDidChange(to: transaction.view)
        shown.begin(RunningWrite(self, transaction, number: number))
    }

    /// Finds the inner collections in use again in a version that is pinned from now on.
    private func followNested(to next: Snapshot) {
        guard let snapshot, !shown.nested.isSettled(in: next.version, after: snapshot.version) else {
            return shown.nested.settle()
        }
        followNested(from: snapshot.view, to: next.view, isPinned: true)
    }

    private func viewDidChange(to view: ReadView) {
        classes.follow(view, newestSchema: file.shared?.schemaVersion)
        invalidatePlaces()
    }

    /// Called after a change of the schema inside the running transaction.
    func schemaDidChange() {
        guard let transaction else { return }
        shown.show(transaction)
        classes.resolve(transaction.view)
        invalidatePlaces()
    }

    /// Invalidates all cached locations and results.
    func invalidatePlaces() {
        shown.advanceUnmarked()
        classes.stamp(stamp, currentView)
    }

    /// Invalidates all cached locations after a change that was marked with the next stamp.
    @inline(__always)
    func invalidateMarked() {
        shown.advance()
        classes.stamp(stamp)
    }

    /// Releases the version that is shown: objects and results are invalidated until the next refresh.
    func invalidate() {
        shown.invalidate()
        invalidatePlaces()
    }

    /// Whether the program has read no object, collection or change of the version that is shown.
    var isUnread: Bool {
        if isFrozen || isInWrite || writing.acquired != nil || !observation.isEmpty { return false }
        return currentView == nil || classes.accesses.isEmpty
    }

    // MARK: Classes

    /// The access of a class; nil if it is not in this Realm.
    func access(for type: ObjectBase.Type) -> ClassAccess? { classes.access(for: type, in: self) }

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

    func configuredPlan(_ name: String) -> ClassPlan? { classes.plan(named: name) }

    /// The schema of the version that is shown, in the form for the program.
    var shownSchema: Schema {
        guard let currentView else { return Schema(StoreSchema()) }
        return classes.shown.whole(currentView) { classes.plan(named: $0) }
    }

    /// One class of ``shownSchema``; nil if no version is shown, or it lacks the class.
    func shownSchema(of name: String) -> ObjectSchema? {
        currentView.flatMap { classes.shown.ofClass(name, $0, classes.plan(named: name)) }
    }

    /// The schema of the version that is shown, or was shown last.
    var knownSchema: StoreSchema? { currentView?.schema ?? classes.schema }

    /// Makes the accesses of all classes of the program, before several threads use them.
    /// - Parameter schema: of the classes, for an instance that shows no version.
    func makeClasses(of schema: StoreSchema? = nil) {
        if let schema { classes.schema = schema }
        classes.makeAll(in: self)
    }

    // MARK: The same in another instance

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

    // MARK: Following versions

    /// Whether a version has the schema version of the configuration. After another process has migrated the file, a
    /// Realm keeps showing the last version before the migration.
    func hasOwnSchema(_ view: ReadView) -> Bool {
        #if Zoo
            if PlantedMistake.oldSchemaWrites.isPlanted { return true }
        #endif
        return view.schema.userVersion == file.configuration.schemaVersion
    }

    /// Shows the newest version after a write, or the previous one if it cannot be read. Observers are not notified.
    func showNewest(after transaction: WriteTransaction) {
        do throws(StorageError) { show(try transaction.resultPin.newestSnapshot()) } catch {
            failures.note(error, in: nil)
            if let snapshot { show(snapshot) } else { invalidate() }
        }
    }

    /// Shows the newest version after ``invalidate()``. Observers are notified as after any commit: automatically if
    /// the Realm can be woken, else by the next refresh. If no version can be shown now, that is reported, the Realm
    /// stays empty, and the next access tries again.
    func showAgain() {
        checkConfinement()
        do throws(StorageError) {
            let newest = try file.store.snapshot()
            guard !isFrozen, hasOwnSchema(newest.view) else {
                return reportShowingNothing(
                    isFrozen
                        ? "there was no version when it was frozen" : "its file has another schema now; open it anew")
            }
            show(newest)
        } catch {
            failures.note(error, in: nil)
            return reportShowingNothing("no version of it can be read now: \(RealmError(error).description)")
        }
        observation.isBehind = true
        let reference = reference
        confinement.scheduler? { reference.instance?.wakeUp() }
    }

    /// As ``refreshOrThrow()``, but its error is reported.
    @discardableResult
    func refresh() -> Bool {
        do throws(RealmError) { return try refreshOrThrow() } catch {
            report("", nil, error.description)
            return false
        }
    }

    /// Shows the newest version, if it is newer than the shown one, and notifies observers.
    /// - Returns: whether a newer version is shown now.
    /// - Throws: `tooManyVersions`; the previous version stays shown.
    func refreshOrThrow() throws(RealmError) -> Bool {
        guard !isFrozen, write == nil else { return false }
        if let snapshot, currentView != nil, !file.store.hasNewer(than: snapshot) {
            followDamageOfOthers()
            if observation.isBehind { observation.deliver(self) }
            return false
        }
        let newest: Snapshot
        do throws(StorageError) { newest = try file.store.snapshot() } catch {
            if case .limit(.pins) = error { throw RealmError(error) }
            stay(error)
            return false
        }
        return advance(to: newest)
    }

    /// Shows the newest version after a write, pinned by the transaction's reserved pin, and notifies observers.
    /// - Parameter tokens: of observers that are not notified of this write.
    func advance(after transaction: WriteTransaction, silencing tokens: [NotificationToken] = []) {
        let newest: Snapshot
        do throws(StorageError) { newest = try transaction.resultPin.newestSnapshot() } catch { return stay(error) }
        advance(to: newest, silencing: tokens)
    }

    /// Shows the pinned version again, because the newest one cannot be read.
    private func stay(_ error: StorageError) {
        failures.note(error, in: nil)
        if let snapshot { show(snapshot) }
    }

    @discardableResult
    private func advance(to new: Snapshot, silencing tokens: [NotificationToken] = []) -> Bool {
        guard hasOwnSchema(new.view) else { return false }
        let old = snapshot
        if let old, old.version >= new.version {
            show(old)
            observation.deliver(self)
            return false
        }
        show(new)
        if !tokens.isEmpty { observation.silence(tokens, self, since: old?.version) }
        observation.deliver(self)
        return true
    }

    // MARK: Failures

    /// Marks the running write as failed, so that it throws `error` instead of committing.
    func fail(_ error: RealmError) {
        guard let write else { fatalError(error.description) }
        write.fail(error)
    }

    /// Notes and reports an unreadable property of an object; the caller returns the property's default.
    func reportDamage(_ object: ObjectBase, _ error: StorageError, column: Int?) {
        let isTold = failures.note(error, in: object._access, failures.loss(object, column: column))
        report(object._access.name, object._key, RealmError(error).description, isTold: isTold)
    }

    func reportInvalidAccess(_ object: ObjectBase) {
        let error = object._access.tryRelocate(object) ?? object._access.deletedError(object)
        report(object._access.name, object._key, error.description)
    }

    /// Reports an access that is answered by a substitute. If the configuration's `invalidAccess` is `.trap`, ends the
    /// program with the message instead.
    /// - Parameter isTold: whether the damage behind it was reported already; standard error gets it once.
    func report(_ className: String, _ key: Int64?, _ message: String, isTold: Bool = false) {
        #if Zoo
            if PlantedMistake.wrongTrap.isPlanted, file.configuration.invalidAccess == .trap { fatalError("not there") }
            if PlantedMistake.trapIgnored.isPlanted, file.configuration.invalidAccess == .trap { return }
        #endif
        if file.configuration.invalidAccess == .trap { fatalError(message) }
        file.configuration.tell(
            .substituted(
                RealmConfiguration.InvalidAccessReport(
                    className: className, key: key, version: currentView?.version.rawValue ?? 0, message: message)),
            isTold: isTold)
    }

    /// Handles an error of the program, such as an unknown name: in a migration or a write that fails, else it is
    /// reported.
    func misuse(_ access: ClassAccess, _ key: Int64?, _ error: RealmError) {
        if let target = migration?.target { return target.fail(error) }
        if let write { return write.fail(error) }
        report(access.name, key, error.description)
    }
}
