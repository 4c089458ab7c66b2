internal import StrataFiles

extension Store {
    /// Rewrites a store that is not open anywhere, without its free pages. If there is no file, the open makes a new
    /// store, as ``open(path:options:)`` does.
    ///
    /// Recovers the store, writes a temporary file, syncs it, renames it, and syncs the directory: at any moment the
    /// path leads to the old contents or to the new ones.
    /// - Throws: `noSpace`: before the copy is begun if the file system reports too little space, else when a write
    ///   finds none; `inUse`, `beingRead`, `unshared` if another process has the store open; errors of opening, reading
    ///   and writing. The contents are unchanged then. Only an error of the directory's sync follows the rename: the
    ///   path leads to the new contents, and after a power failure perhaps to the old ones.
    /// - Complexity: O(size); memory is bounded by ``StoreLimits/memoryBudget``.
    package static func compact(path: String, options: StoreOptions = StoreOptions()) throws(StorageError) {
        try OfflineCompaction(path, options).run()
    }

    /// As ``compact(path:options:)``, and changes the encryption key: at any moment the path leads to the old contents
    /// under the old key, or to the new ones under the new key. If the sync of the directory fails, the new key is
    /// already in force.
    /// - Parameter cipher: of the new file; nil for one in plain text.
    package static func changeKey(
        path: String, options: StoreOptions, to cipher: (any Cipher)?
    ) throws(StorageError) {
        try OfflineCompaction(path, options, cipher: cipher).run()
    }
}

/// Replaces a store by a copy without free pages. It opens the store under the exclusive lock of the data file, which
/// it holds until the copy is in place: no other process can have the store open meanwhile.
struct OfflineCompaction {
    private let path: String
    private let options: StoreOptions
    /// Encrypts the new file; `options.cipher` decrypts the old one.
    private let cipher: (any Cipher)?

    init(_ path: String, _ options: StoreOptions) { self.init(path, options, cipher: options.cipher) }

    init(_ path: String, _ options: StoreOptions, cipher: (any Cipher)?) {
        self.path = path
        self.options = options
        self.cipher = cipher
    }

    /// Path of the copy until it replaces the store. If a process dies, the next one that opens the store alone removes
    /// the copy that it left.
    static func unfinishedPath(_ path: String) -> String { path + ".compacting" }

    /// Compacts in any case.
    /// - Throws: as ``Store/compact(path:options:)``.
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

    /// Compacts if the policy returns true for the file's size and the size of its live pages.
    /// ``Store/open(path:options:)`` calls this before it opens the store itself.
    ///
    /// The call skips, without an error: a path without a file, a store that another process has open, one for whose
    /// recovery or copy the disk has no room, one that this process may not replace, and one with damaged parts. It
    /// notes damage beside the store, which can then still be opened.
    /// - Throws: all other errors, which end that open, too.
    func run(ifWantedBy policy: @Sendable (Int, Int) -> Bool) throws(StorageError) {
        do throws(FileError) {
            if try options.fileSystem.status(path) == nil { return }
        } catch {
            throw StorageError(error)
        }
        let store: Store
        do throws(StorageError) { store = try open() } catch {
            switch error {
            // The open that follows waits for the other process, or opens the store beside it.
            case .inUse, .beingRead, .unshared: return
            // There is no room for the recovery. The open that follows replays the log in memory.
            case .noSpace: return mark(.noSpaceToCompact)
            default: throw error
            }
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
            // The path of the copy holds another user's file, or this process may not replace the store.
            if case .file(let file) = error, file.isRefused { return }
            guard case .noSpace = error else { throw error }
            mark(.noSpaceToCompact)
        }
    }

    /// Notes everything in the store that cannot be read.
    ///
    /// - Parameter met: an error of reading the store itself. If it is `corrupt`, and the survey finds no damage, it is
    ///   noted itself, since the page may hold no rows; any other read that failed once and succeeds in the survey is
    ///   no damage. Nil for an error of the rewrite, which reads the copy as well: the store is damaged only if the
    ///   survey says so.
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

    /// An error of closing is dropped: the caller reports the first error. If the close in `rewrite` failed, and closed
    /// the store, this close has no effect.
    private func closeAfterFailure(_ store: Store) { do throws(StorageError) { try store.close() } catch {} }

    /// Copies the newest version, closes the store, and puts the copy in its place. After an error the copy is removed;
    /// the store may be open or closed.
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
            // The close completes the old file, removes its log, and runs the closure; only after that it releases the
            // lock of the old file. So other processes are kept out until the path leads to the new file.
            try store.close { () throws(FileError) in
                try fileSystem.rename(unfinished, to: store.path)
                try fileSystem.syncDirectory(of: store.path)
            }
        } catch {
            StoreCopy.removeUnfinished(unfinished, fileSystem)
            throw error
        }
    }

    /// Skips the check if the file system cannot report its free space.
    /// - Throws: `noSpace` if the disk has less room than the contents need.
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
