internal import StrataFiles

extension Store {
    /// Rewrites a store that nobody has open, without its free pages.
    ///
    /// By a temporary file, a sync, a rename and a sync of the directory: at any moment the path leads to the old
    /// contents or the new.
    /// - Throws: `noSpace`, before anything is written, when the disk has no room for a copy; `inUse`; what reading and
    ///   writing throw. The store is as it was then, and the temporary file is gone.
    /// - Complexity: O(size); memory is bounded by ``StoreLimits/memoryBudget``.
    package static func compact(path: String, options: StoreOptions = StoreOptions()) throws(StorageError) {
        try OfflineCompaction(path, options).run()
    }

    /// The same, under another key from then on, or under none: at any moment the path leads to the old contents, under
    /// the old key, or to the new ones under the new key.
    /// - Parameter cipher: of the new file; nil for a plain one.
    package static func changeKey(
        path: String, options: StoreOptions, to cipher: (any Cipher)?
    ) throws(StorageError) {
        try OfflineCompaction(path, options, cipher: cipher).run()
    }
}

/// Puts a copy without free pages in the place of a store that nobody else has open meanwhile.
struct OfflineCompaction {
    private let path: String
    private let options: StoreOptions
    /// Of the new file.
    private let cipher: (any Cipher)?

    init(_ path: String, _ options: StoreOptions) { self.init(path, options, cipher: options.cipher) }

    init(_ path: String, _ options: StoreOptions, cipher: (any Cipher)?) {
        self.path = path
        self.options = options
        self.cipher = cipher
    }

    /// Where a compaction writes before it takes the store's place.
    static func unfinishedPath(_ path: String) -> String { path + ".compacting" }

    func run() throws(StorageError) {
        let store = try open()
        do throws(StorageError) {
            try store.checkpoints.loadFreeMap()
            try rewrite(store)
        } catch {
            closeAfterFailure(store)
            throw error
        }
    }

    /// Asks the policy, and compacts when it says so. A store that another process has open is left alone, and so is
    /// one of which the disk has no room for a copy, which this process has no right to replace, or parts of which
    /// cannot be read: the open is no reason to refuse what can be read, and reports the damage.
    func run(ifWantedBy policy: @Sendable (Int, Int) -> Bool) throws(StorageError) {
        do throws(FileError) {
            if try options.fileSystem.status(path) == nil { return }
        } catch {
            throw StorageError(error)
        }
        let store: Store
        do throws(StorageError) { store = try open() } catch {
            if case .inUse = error { return }
            throw error
        }
        var isCopying = false
        do throws(StorageError) {
            try store.checkpoints.loadFreeMap()
            let space = try store.space()
            if policy(space.fileBytes, space.liveBytes), store.damage.places.isEmpty {
                isCopying = true
                try rewrite(store)
            } else {
                try store.close()
            }
        } catch {
            if error.isUnreadable { noteDamage(of: store, after: isCopying ? nil : error) }
            closeAfterFailure(store)
            if error.isUnreadable { return }
            // Another user's file stands where the copy goes, or the copy may not take the store's place.
            if case .file(let file) = error, file.isRefused { return }
            guard case .noSpace = error else { throw error }
            mark(.noSpaceToCompact)
        }
    }

    /// Notes everything of the store that cannot be read.
    ///
    /// - Parameter met: what a read of the store itself met, which is noted where the survey finds nothing, because the
    ///   page holds no rows. A read that fails once and succeeds in the survey is no damage. Nil for an error of the
    ///   rewriting, which reads the copy as well: the store is damaged only where the survey says so.
    private func noteDamage(of store: Store, after met: StorageError?) {
        var places: [DamagedPlace]
        do throws(StorageError) {
            places = try DamageSurvey(try store.snapshot().view).run()
            if places.isEmpty, let met, case .corrupt = met {
                places = [DamagedPlace(met, table: nil)].compactMap(\.self)
            }
        } catch {
            places = [DamagedPlace(error, table: nil)].compactMap(\.self)
        }
        store.damage.note(places)
    }

    private func open() throws(StorageError) -> Store {
        try Store.openPlain(path: path, options: options, isAlone: true)
    }

    /// What failed is what has to be said, not that something else fails on the way out.
    private func closeAfterFailure(_ store: Store) { do throws(StorageError) { try store.close() } catch {} }

    private func rewrite(_ store: Store) throws(StorageError) {
        let unfinished = Self.unfinishedPath(store.path)
        let fileSystem = store.fileSystem
        try checkRoom(for: store)
        do throws(StorageError) {
            var options = store.options
            options.madeLike = store.path
            options.cipher = cipher
            let view = try store.snapshot().view
            try StoreCopy(of: view, as: view.state.version, store.path, beside: unfinished, options).run()
            // The old file must not need its log when the new one takes its place, and nobody may open it in between.
            try store.close { () throws(FileError) in
                try fileSystem.rename(unfinished, to: store.path)
                try fileSystem.syncDirectory(of: store.path)
            }
        } catch {
            StoreCopy.removeUnfinished(unfinished, fileSystem)
            throw error
        }
    }

    /// - Throws: `noSpace` when the disk has less room than the contents take.
    private func checkRoom(for store: Store) throws(StorageError) {
        let live = Int64(try store.space().liveBytes)
        let needed = cipher == nil ? live : SealedGeometry.physical(live)
        let available: Int64?
        do throws(FileError) { available = try store.fileSystem.availableBytes(beside: store.path) } catch {
            throw StorageError(error)
        }
        guard let available, available < needed else { return }
        throw .noSpace(FileError(.write, path: Self.unfinishedPath(store.path), errno: 28))
    }
}
