import StrataStorage

/// Begins, commits and cancels the writes of a Realm, one after the other.
///
/// Concurrency: confined with its instance.
final class WriteSide {
    /// The instance owns this object.
    private unowned(unsafe) let instance: RealmInstance
    // Each begin reads these. They are copied once, because a read of one field through the instance copies the whole
    // configuration.
    private let store: Store
    private let isReadOnly: Bool
    /// The number of versions that may be in use when a write begins; nil for any.
    private let versionLimit: UInt?

    /// A transaction that was begun and is not shown yet: observers are notified of earlier commits first, and one that
    /// writes uses this transaction.
    private(set) var acquired: WriteTransaction?
    /// The asynchronous writes; nil before the first.
    private(set) var startedAsyncWrites: AsyncWrites?
    /// The number of writes begun. A write's number is the count at its begin; 0 stands for no write.
    private var begunCount: UInt32 = 0
    /// Numbers of cancelled writes: objects that they created are gone.
    private var cancelled: Set<UInt32> = []

    private(set) lazy var encoder = _RowEncoder(instance)

    init(_ instance: RealmInstance) {
        self.instance = instance
        store = instance.file.store
        isReadOnly = instance.file.configuration.readOnly
        versionLimit = instance.file.configuration.maximumNumberOfActiveVersions
    }

    var asyncWrites: AsyncWrites {
        if let startedAsyncWrites { return startedAsyncWrites }
        let made = AsyncWrites(instance)
        startedAsyncWrites = made
        return made
    }

    func isCancelled(_ write: UInt32) -> Bool { cancelled.contains(write) }

    /// Called in the instance's deinit.
    func rollBackAcquired() { acquired?.rollback() }

    // MARK: Begin

    /// Why a write cannot begin here and now; nil if it can.
    func refusal() -> RealmError? {
        if !instance.confinement.isHere { return instance.confinementError }
        if instance.isFrozen { return RealmError(.wrongState, "a frozen Realm cannot be written to; thaw it") }
        if isReadOnly {
            return RealmError(.filePermissionDenied, "\(instance.file.configuration.path) was opened with readOnly")
        }
        if instance.isInWrite {
            return RealmError(
                .wrongState, "the Realm is already in a write; writes do not nest, ask isInWriteTransaction first")
        }
        return nil
    }

    /// Refreshes, notifies observers of all earlier commits, and begins a write on the newest version.
    /// - Throws: the error of ``refusal()``; as ``begin(_:)``.
    func begin() throws {
        if let refusal = refusal() { throw refusal }
        #if Zoo
            if PlantedMistake.writeWaits.isPlanted { PlantedMistake.pause(milliseconds: 100) }
        #endif
        if try !instance.refreshOrThrow() { instance.observation.deliver(instance) }
        try begin(nil)
    }

    /// The error if more versions are in use than the configuration allows; else nil. The file keeps the pages of each
    /// version in use, so beside a reader that never refreshes it would grow with every write.
    private func tooManyVersions() -> RealmError? {
        guard let limit = versionLimit else { return nil }
        #if Zoo
            if PlantedMistake.limitIgnored.isPlanted { return nil }
        #endif
        let count = store.activeVersions
        guard count > limit else { return nil }
        return RealmError(
            .tooManyVersions,
            "\(count) versions of \(instance.file.configuration.path) are in use, and maximumNumberOfActiveVersions is "
                + "\(limit); release frozen Realms, objects and snapshots, and refresh or invalidate Realms of threads "
                + "that wait")
    }

    private func nextTransaction() throws(RealmError) -> WriteTransaction {
        let made: WriteTransaction
        do throws(StorageError) {
            if let granted = try startedAsyncWrites?.takeGrant() {
                made = granted
            } else {
                made = try store.beginWrite()
            }
        } catch {
            throw RealmError(error)
        }
        return made
    }

    /// Reserves the pin for the version that a write will make: once the write is committed, the instance must be able
    /// to show it. If there is none left, the write does not begin.
    /// - Throws: `tooManyVersions`; the transaction is rolled back then.
    private func reserveResult(of transaction: WriteTransaction) throws(RealmError) {
        do throws(StorageError) { try transaction.resultPin.reserve() } catch {
            transaction.rollback()
            throw RealmError(error)
        }
    }

    /// Begins a write.
    /// - Parameter granted: the transaction of an asynchronous write; nil to wait for the write gate here.
    /// - Throws: `tooManyVersions`, `schemaMismatch`, and storage's errors for transactions.
    func begin(_ granted: WriteTransaction?) throws(RealmError) {
        var granted = granted
        if let refusal = tooManyVersions() {
            (granted ?? acquired)?.rollback()
            acquired = nil
            throw refusal
        }
        while true {
            let running: WriteTransaction
            if let known = granted ?? acquired { running = known } else { running = try nextTransaction() }
            granted = nil
            acquired = nil
            guard instance.hasOwnSchema(running.view) else {
                running.rollback()
                throw RealmError(
                    .schemaMismatch,
                    "\(instance.file.configuration.path) was migrated to schema version "
                        + "\(running.view.schema.userVersion) since it was opened with "
                        + "\(instance.file.configuration.schemaVersion); release it, and open it with the new classes")
            }
            try reserveResult(of: running)
            let base = running.view.version
            if instance.observation.isEmpty || instance.snapshot?.version == base {
                show(running)
                return
            }
            // Another thread or process committed after the refresh. Observers are notified of that first, outside the
            // write; one that writes uses the acquired transaction, and the loop begins another.
            acquired = running
            _ = running.waitUntilBaseIsVisible()
            instance.advance(after: running)
            if acquired == nil { continue }
            acquired = nil
            try reserveResult(of: running)
            show(running)
            return
        }
    }

    /// Commits the running write, shows its version and notifies observers.
    /// - Parameter tokens: of observers that are not notified of this write.
    /// - Throws: the error of a failed write, or storage's; the write is rolled back then.
    func commit(withoutNotifying tokens: [NotificationToken]) throws {
        instance.checkConfinement()
        guard let write = instance.write else { return }
        let transaction = write.transaction
        if let failure = write.finish() {
            cancel()
            throw failure
        }
        do throws(StorageError) {
            #if Zoo
                if PlantedMistake.commitForgotten.isDue {
                    transaction.rollback()
                } else {
                    try transaction.commit()
                }
            #else
                _ = try transaction.commit()
            #endif
        } catch {
            end(write, isCancelled: true)
            instance.showNewest(after: transaction)
            startedAsyncWrites?.writeEnded()
            throw RealmError(error)
        }
        end(write, isCancelled: false)
        instance.advance(after: transaction, silencing: tokens)
        startedAsyncWrites?.writeEnded()
    }

    func cancel() {
        instance.checkConfinement()
        guard let write = instance.write else { return }
        #if Zoo
            if PlantedMistake.rollbackKeeps.isPlanted {
                do throws(StorageError) { try write.transaction.commit() } catch {}
            }
        #endif
        write.walks.settleAll()
        write.transaction.rollback()
        end(write, isCancelled: true)
        if let snapshot = instance.snapshot {
            instance.show(snapshot)
        } else {
            instance.showNewest(after: write.transaction)
        }
        startedAsyncWrites?.writeEnded()
    }

    /// Begins a write with the next number, and shows the state of its transaction.
    func show(_ transaction: WriteTransaction) {
        begunCount &+= 1
        instance.show(transaction, number: begunCount)
    }

    /// Ends a write that was committed or rolled back. Its view must not be read any more: the caller shows a snapshot
    /// next.
    func end(_ write: RunningWrite, isCancelled: Bool) {
        if isCancelled { cancelled.insert(write.number) }
        instance.shown.endWrite(isCancelled: isCancelled)
    }
}
