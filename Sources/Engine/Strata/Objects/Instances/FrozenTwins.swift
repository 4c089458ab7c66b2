import StrataStorage

/// Makes instances of the same file with the same classes: frozen ones, and ones that show no version.
///
/// Concurrency: confined with its instance. Any thread for a frozen instance, which is its own twin.
final class FrozenTwins {
    /// The instance owns this object.
    private unowned(unsafe) let instance: RealmInstance
    /// The last frozen instance that was made: it is given out again as long as it lives and the live instance shows
    /// the same version.
    private var last: InstanceReference?

    init(_ instance: RealmInstance) { self.instance = instance }

    /// A frozen instance of the version that is shown; inside a write, and if none is shown, of the newest committed
    /// one. Nil, after a report, if no version can be pinned; also nil for a side of a migration.
    func frozen() -> RealmInstance? {
        instance.checkConfinement()
        if instance.isFrozen { return instance }
        if instance.file.shared == nil { return nil }
        let pinned: Snapshot
        if let snapshot = instance.frozenSnapshot, !instance.isInWrite {
            pinned = snapshot
        } else {
            guard let newest = snapshotOrReport() else { return nil }
            pinned = newest
        }
        if let twin = last?.instance, twin.snapshot?.version == pinned.version { return twin }
        guard let made = frozen(at: pinned) else { return nil }
        last = made.reference
        return made
    }

    /// As ``frozen()``, but a frozen instance that shows no version where that gives nil.
    func frozenOrEmpty() -> RealmInstance { frozen() ?? showingNothing(.frozen, .none) }

    /// A frozen instance of a pinned version; nil, after a note, if its classes cannot be made.
    func frozen(at pinned: Snapshot) -> RealmInstance? {
        if instance.file.shared == nil { return nil }
        do throws(RealmError) {
            let made = try RealmInstance(.frozen, of: instance.file, confinement: .none)
            made.show(pinned)
            made.makeClasses()
            return made
        } catch {
            instance.failures.note(error)
            return nil
        }
    }

    /// An instance of the same classes that shows no version.
    func showingNothing(_ role: RealmInstance.Role, _ confinement: Confinement) -> RealmInstance {
        do throws(RealmError) {
            let made = try RealmInstance(role, of: instance.file, confinement: confinement)
            made.makeClasses(of: instance.knownSchema)
            return made
        } catch {
            preconditionFailure("the classes of a Realm that is open were read before: \(error)")
        }
    }

    private func snapshotOrReport() -> Snapshot? {
        do throws(StorageError) { return try instance.file.store.snapshot() } catch {
            instance.failures.note(error, in: nil)
            if case .limit(.pins) = error { instance.report("", nil, RealmError(error).description) }
            return nil
        }
    }
}
