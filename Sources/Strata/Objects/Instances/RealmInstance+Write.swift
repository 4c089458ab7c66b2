import StrataStorage

extension RealmInstance {
    /// Why a write cannot begin here and now; nil if it can.
    func refusalToWrite() -> Realm.Error? {
        if !confinement.isHere { return confinementError }
        if kind != .live { return Realm.Error(.wrongState, "a frozen Realm cannot be written to; thaw it") }
        if configuration.readOnly {
            return Realm.Error(.filePermissionDenied, "\(configuration.path) was opened with readOnly")
        }
        if write != nil {
            return Realm.Error(
                .wrongState, "the Realm is already in a write; writes do not nest, ask isInWriteTransaction first")
        }
        return nil
    }

    /// Begins a write on the newest version. Observers were notified of all earlier versions.
    func begin() throws {
        if let refusal = refusalToWrite() { throw refusal }
        #if Zoo
            if PlantedMistake.writeWaits.isPlanted { PlantedMistake.pause(milliseconds: 100) }
        #endif
        if try !refreshOrThrow() { observation.deliver(self) }
        try begin(nil)
    }

    /// Whether a version has the schema that the Realm was opened with. After a migration by another program the Realm
    /// stays at the last version that has.
    private func hasOwnSchema(_ view: ReadView) -> Bool {
        #if Zoo
            if PlantedMistake.oldSchemaWrites.isPlanted { return true }
        #endif
        return view.schema.userVersion == configuration.schemaVersion
    }

    /// A writer beside a reader that never refreshes lets the file grow without bound.
    private func tooManyVersions() -> Realm.Error? {
        guard let limit = configuration.maximumNumberOfActiveVersions else { return nil }
        #if Zoo
            if PlantedMistake.limitIgnored.isPlanted { return nil }
        #endif
        let count = store.activeVersions
        guard count > limit else { return nil }
        return Realm.Error(
            .tooManyVersions,
            "\(count) versions of \(configuration.path) are in use, and maximumNumberOfActiveVersions is \(limit); "
                + "release frozen Realms, objects and snapshots, and refresh or invalidate Realms of threads that wait")
    }

    private func nextTransaction() throws(Realm.Error) -> WriteTransaction {
        let made: WriteTransaction
        do throws(StorageError) {
            if let known = try existingAsyncWrites?.takeGrant() { made = known } else { made = try store.beginWrite() }
        } catch {
            throw Realm.Error(error)
        }
        return made
    }

    /// Reserves a pin for the result of a write: a write that returned must be shown, or not begin.
    /// - Throws: `tooManyVersions`; the transaction is rolled back then.
    private func reserveResult(of transaction: WriteTransaction) throws(Realm.Error) {
        do throws(StorageError) { try transaction.resultPin.reserve() } catch {
            transaction.rollback()
            throw Realm.Error(error)
        }
    }

    /// Begins a write with the transaction of an asynchronous write, or with a new one that is waited for.
    /// - Throws: `tooManyVersions`, `schemaMismatch`, and storage's errors for transactions.
    func begin(_ granted: WriteTransaction?) throws(Realm.Error) {
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
            guard hasOwnSchema(running.view) else {
                running.rollback()
                throw Realm.Error(
                    .schemaMismatch,
                    "\(configuration.path) was migrated to schema version \(running.view.schema.userVersion) since it "
                        + "was opened with \(configuration.schemaVersion); release it, and open it with the new "
                        + "classes"
                )
            }
            try reserveResult(of: running)
            let base = running.view.version
            if observation.isEmpty || snapshot?.version == base {
                show(running)
                return
            }
            // Another commit came since the refresh. Observers are notified of it first, outside the write; an observer
            // that writes uses the acquired transaction.
            acquired = running
            _ = running.waitUntilBaseIsVisible()
            advance(after: running)
            if acquired == nil { continue }
            acquired = nil
            try reserveResult(of: running)
            show(running)
            return
        }
    }

    /// - Throws: the error of a failed write, or storage's; the write is rolled back then.
    func commit(withoutNotifying tokens: [NotificationToken]) throws {
        checkConfinement()
        guard let write else { return }
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
            endWrite(cancelled: true)
            showNewest(after: transaction)
            existingAsyncWrites?.writeEnded()
            throw Realm.Error(error)
        }
        endWrite(cancelled: false)
        advance(after: transaction, silencing: tokens)
        existingAsyncWrites?.writeEnded()
    }

    func cancel() {
        checkConfinement()
        guard let write else { return }
        #if Zoo
            if PlantedMistake.rollbackKeeps.isPlanted {
                do throws(StorageError) { try write.transaction.commit() } catch {}
            }
        #endif
        write.walks.settleAll()
        write.transaction.rollback()
        endWrite(cancelled: true)
        if let snapshot { show(snapshot) } else { showNewest(after: write.transaction) }
        existingAsyncWrites?.writeEnded()
    }

    /// Shows the newest version after a write, without notifying observers.
    func showNewest(after transaction: WriteTransaction) {
        do throws(StorageError) { show(try transaction.resultPin.newestSnapshot()) } catch {
            failures.note(error, in: nil)
            if let snapshot { show(snapshot) } else { invalidate() }
        }
    }

    /// Shows the newest version after ``invalidate()``. Observers are notified as after any commit: automatically if
    /// the Realm can be woken, else by the next refresh. If the file cannot be read now, the Realm stays empty, which
    /// is reported, and the next caller tries again.
    func showAgain() {
        checkConfinement()
        do throws(StorageError) {
            let newest = try store.snapshot()
            guard kind == .live, hasOwnSchema(newest.view) else {
                return reportShowingNothing(
                    isFrozen
                        ? "there was no version when it was frozen" : "its file has another schema now; open it anew")
            }
            show(newest)
        } catch {
            failures.note(error, in: nil)
            return reportShowingNothing("no version of it can be read now: \(Realm.Error(error).description)")
        }
        observation.isBehind = true
        let reference = reference
        confinement.scheduler? { reference.instance?.wakeUp() }
    }

    /// Shows the newest version, if there is one, and notifies observers. Reports if no more versions can be kept.
    @discardableResult
    func refresh() -> Bool {
        do throws(Realm.Error) { return try refreshOrThrow() } catch {
            report("", nil, error.description)
            return false
        }
    }

    /// Shows the newest version, if there is one, and notifies observers.
    /// - Throws: `tooManyVersions`; the previous version stays shown.
    func refreshOrThrow() throws(Realm.Error) -> Bool {
        guard kind == .live, write == nil else { return false }
        if let snapshot, currentView != nil, !store.hasNewer(than: snapshot) {
            followDamageOfOthers()
            if observation.isBehind { observation.deliver(self) }
            return false
        }
        let newest: Snapshot
        do throws(StorageError) { newest = try store.snapshot() } catch {
            if case .limit(.pins) = error { throw Realm.Error(error) }
            stay(error)
            return false
        }
        return advance(to: newest)
    }

    /// Goes from the observers' version to the newest one, with the transaction's reserved pin.
    private func advance(after transaction: WriteTransaction, silencing tokens: [NotificationToken] = []) {
        let newest: Snapshot
        do throws(StorageError) { newest = try transaction.resultPin.newestSnapshot() } catch { return stay(error) }
        advance(to: newest, silencing: tokens)
    }

    /// Keeps the present version, because the newest one cannot be read.
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
}
