internal import StrataFiles

extension Store {
    /// Writes a compacted copy of the newest visible version.
    ///
    /// With a cipher the copy is encrypted; the store's own cipher does not matter. The copy appears at `destination`
    /// whole or not at all.
    /// - Parameter isNew: the copy gets the access rights of a new file, not this store's.
    /// - Throws: `file` with EEXIST if `destination` exists; `noSpace`; errors of reading.
    /// - Complexity: O(size); memory is bounded by ``StoreLimits/memoryBudget``.
    package func writeCopy(
        to destination: String, cipher: (any Cipher)? = nil, isNew: Bool = false
    ) throws(StorageError) {
        let snapshot = try snapshot()
        defer { withExtendedLifetime(snapshot) {} }
        let view = snapshot.view
        try StoreCopy(of: view, as: view.state.version, from: self, to: destination, cipher: cipher, isNew: isNew)
            .publish(at: destination)
    }
}

/// Copies one version into a store of its own, without free pages and under the same version number. The copy is made
/// under an unfinished name, and renamed when it is complete.
///
/// A ``ColumnCopy`` takes rows and entries as they are. If the result breaks a rule of the format, so does the source,
/// and a second copy is made: a ``RowCopy`` checks each value and builds the indexes anew. If it refuses a value, the
/// rule that the first copy broke is the error.
package struct StoreCopy {
    private let source: ReadView
    private let version: UInt64
    /// Path of the source, for messages.
    private let original: String
    /// Path of the unfinished copy.
    private let unfinished: String
    private let options: StoreOptions
    private var fileSystem: any FileSystem { options.fileSystem }
    /// Bytes of a source above which the arena of its copy asks for large pages of memory.
    private static let largeSource = 8 << 20

    /// - Parameters:
    ///   - source: kept by the caller while the copy is made.
    ///   - version: of the copy: the source's, or that of the copied transaction.
    ///   - original: path of the source.
    ///   - unfinished: path of the unfinished copy, beside its final place.
    ///   - options: of the copy.
    init(
        of source: ReadView, as version: UInt64, _ original: String, beside unfinished: String, _ options: StoreOptions
    ) {
        self.source = source
        self.version = version
        self.original = original
        self.unfinished = unfinished
        var options = options
        options.durability = .none
        options.compaction = .never
        options.compactOnLaunch = nil
        options.readOnly = false
        self.options = options
    }

    fileprivate init(
        of view: ReadView, as version: UInt64, from store: Store, to destination: String, cipher: (any Cipher)?,
        isNew: Bool
    ) {
        var target = store.options
        target.cipher = cipher
        // A copy of a store in memory is written to disk.
        if !store.fileSystem.isPersistent { target.fileSystem = POSIXFileSystem() }
        if store.fileSystem.isPersistent && !isNew { target.madeLike = store.path }
        self.init(of: view, as: version, store.path, beside: destination + ".copying", target)
    }

    /// Writes a compacted copy of what a transaction has made so far; the transaction continues.
    ///
    /// The transaction spills everything that it holds in memory to pages, so that its view can be read like that of a
    /// version. A guest therefore claims ownership of writing.
    /// - Throws: as ``Store/writeCopy(to:cipher:isNew:)``; `noSpace` also for the store itself.
    package static func write(
        _ transaction: WriteTransaction, to destination: String, cipher: (any Cipher)?
    ) throws(StorageError) {
        try transaction.spill()
        try StoreCopy(
            of: transaction.view, as: transaction.version, from: transaction.store, to: destination, cipher: cipher,
            isNew: false
        ).publish(at: destination)
    }

    /// Makes the copy and renames it to `destination`, where there is no file yet.
    /// - Throws: `file` with EEXIST if `destination` exists; `inUse` while another copy to it is being made.
    func publish(at destination: String) throws(StorageError) {
        do throws(FileError) {
            if try fileSystem.status(destination) != nil {
                throw FileError(.open, path: destination, errno: FileError.alreadyThere)
            }
        } catch {
            throw StorageError(error)
        }
        try removeAbandoned()
        do throws(StorageError) {
            // The copy is renamed while it is still locked, so that another process that copies to the same place does
            // not take it for abandoned.
            _ = try make { () throws(FileError) in
                try fileSystem.renameNew(unfinished, to: destination)
                try fileSystem.syncDirectory(of: destination)
            }
        } catch {
            if case .inUse = error { throw error }
            Self.removeUnfinished(unfinished, fileSystem)
            throw error
        }
    }

    /// Makes the copy, complete and synced, under its unfinished name. After an error a partial file may remain there.
    /// - Throws: `inUse` while another copy is being written there.
    @discardableResult
    func run() throws(StorageError) -> Way {
        try removeAbandoned()
        return try make { () throws(FileError) in }
    }

    /// Removes the partial copy of a process that died, and anything that is not a regular file: a symbolic link would
    /// redirect the copy to a place of its author's choice.
    /// - Throws: `inUse` while another copy is being written there.
    private func removeAbandoned() throws(StorageError) {
        do throws(FileError) {
            guard let status = try fileSystem.status(unfinished) else { return }
            if !status.isRegularFile { return try fileSystem.remove(unfinished) }
        } catch {
            throw StorageError(error)
        }
        let (file, _) = try DataFileClaim(unfinished, options, isAlone: true).take()
        defer { Store.release(file) }
        do throws(FileError) { try fileSystem.remove(unfinished) } catch { throw StorageError(error) }
    }

    /// Removes a partial copy. An error is dropped: the caller has another one to report.
    static func removeUnfinished(_ path: String, _ fileSystem: any FileSystem) {
        do throws(FileError) { if try fileSystem.status(path) != nil { try fileSystem.remove(path) } } catch {}
    }

    /// How a copy is made.
    enum Way {
        case byColumns, byRows
    }

    /// - Parameter last: runs when the file is complete and still locked.
    private func make(_ last: () throws(FileError) -> Void) throws(StorageError) -> Way {
        guard let broken = try breach(by: .byColumns, last) else { return .byColumns }
        mark(.copiedRowByRow)
        try removeAbandoned()
        do throws(StorageError) { _ = try breach(by: .byRows, last) } catch {
            if case .misuse = error { throw broken }
            throw error
        }
        return .byRows
    }

    /// Makes the copy in one way.
    /// - Returns: the rule that a copy by columns breaks; nil for a sound copy. A copy that breaks a rule stays under
    ///   the unfinished name.
    private func breach(by way: Way, _ last: () throws(FileError) -> Void) throws(StorageError) -> StorageError? {
        let target = try Store.openPlain(path: unfinished, options: options, isAlone: true)
        do throws(StorageError) {
            if version > 0, let broken = try breach(of: target, filled: way) {
                close(target)
                return broken
            }
            try target.close(mayStayOpen: false, last)
        } catch {
            close(target)
            throw error
        }
        return nil
    }

    /// An error of closing is dropped: the caller reports the first error, or makes another copy.
    private func close(_ target: Store) {
        do throws(StorageError) { try target.close(mayStayOpen: false) { () throws(FileError) in } } catch {}
    }

    /// Fills the copy, and reads it back.
    /// - Returns: the rule that a copy by columns breaks; nil for a sound copy.
    private func breach(of target: Store, filled way: Way) throws(StorageError) -> StorageError? {
        let transaction = try target.beginWrite()
        if source.reader.pageCount > Self.largeSource / Format.pageSize {
            transaction.nodes.arena.preferLargePages()
        }
        do throws(StorageError) {
            try fill(transaction, way)
        } catch {
            if way == .byRows || !error.isDamageOrMisuse { throw error }
            return error
        }
        try transaction.commit()
        do throws(StorageError) {
            try StoreVerification(of: target).readBack(original)
        } catch {
            guard way == .byColumns, case .unsound = error else { throw error }
            return error
        }
        return nil
    }

    /// Copies all tables into an empty store, with keys, creation versions and version number.
    private func fill(_ transaction: WriteTransaction, _ way: Way) throws(StorageError) {
        transaction.version = version
        try transaction.apply(schema: source.schema)
        let met = source.nothingMet
        for table in source.state.tables.indices {
            switch way {
            case .byColumns: try ColumnCopy(of: table, source, transaction, met).run()
            case .byRows: try RowCopy(source, transaction, met).fill(table)
            }
            transaction.view.state.tables[table].nextKey = source.state.tables[table].nextKey
        }
    }
}

extension StorageError {
    /// Whether the source, not the disk of the copy, is the reason.
    fileprivate var isDamageOrMisuse: Bool {
        if case .misuse = self { return true }
        return isDamage
    }
}
