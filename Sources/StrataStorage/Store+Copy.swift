internal import StrataFiles

extension Store {
    /// Writes a compacted copy of the newest visible version.
    ///
    /// With a cipher the copy is encrypted; the store's own says nothing about it. The copy appears at `destination`
    /// whole or not at all.
    /// - Throws: `file` with EEXIST when something stands there; `noSpace`; what reading throws.
    /// - Complexity: O(size); memory is bounded by ``StoreLimits/memoryBudget``.
    package func writeCopy(to destination: String, cipher: (any Cipher)? = nil) throws(StorageError) {
        let snapshot = try snapshot()
        var target = options
        target.cipher = cipher
        // A copy of a store in memory is there to outlive it.
        if !fileSystem.isPersistent { target.fileSystem = POSIXFileSystem() }
        do throws(FileError) {
            if try target.fileSystem.status(destination) != nil {
                throw FileError(.open, path: destination, errno: 17)
            }
        } catch {
            throw StorageError(error)
        }
        let unfinished = destination + ".copying"
        let fileSystem = target.fileSystem
        do throws(StorageError) {
            try Self.write(snapshot.view, to: unfinished, target)
            do throws(FileError) {
                try fileSystem.renameNew(unfinished, to: destination)
                try fileSystem.syncDirectory(of: destination)
            } catch {
                throw StorageError(error)
            }
        } catch {
            Self.removeUnfinished(unfinished, fileSystem)
            throw error
        }
    }

    /// Rewrites a store that nobody has open, without its free pages.
    ///
    /// By a temporary file, a sync, a rename and a sync of the directory: at any moment the path leads to the old
    /// contents or the new.
    /// - Throws: `noSpace`, before anything is written, when the disk has no room for a copy; `inUse`; what reading and
    ///   writing throw. The store is as it was then, and the temporary file is gone.
    /// - Complexity: O(size); memory is bounded by ``StoreLimits/memoryBudget``.
    package static func compact(path: String, options: StoreOptions = StoreOptions()) throws(StorageError) {
        let store = try openPlain(path: path, options: options, isAlone: true)
        removeUnfinished(unfinishedPath(path), options.fileSystem)
        do throws(StorageError) {
            try store.loadFreeMap()
            try rewrite(store)
        } catch {
            closeAfterFailure(store)
            throw error
        }
    }

    /// Asks the policy, and compacts when it says so. A store that another process has open is left alone, and so is
    /// one of which the disk has no room for a copy.
    static func compactIfWanted(
        _ path: String, _ options: StoreOptions, _ policy: @Sendable (Int, Int) -> Bool
    ) throws(StorageError) {
        do throws(FileError) {
            if try options.fileSystem.status(path) == nil { return }
        } catch {
            throw StorageError(error)
        }
        let store: Store
        do throws(StorageError) {
            store = try openPlain(path: path, options: options, isAlone: true)
        } catch {
            if case .inUse = error { return }
            throw error
        }
        // A process that died meanwhile leaves it behind.
        removeUnfinished(unfinishedPath(path), options.fileSystem)
        do throws(StorageError) {
            try store.loadFreeMap()
            let space = try store.space()
            if policy(space.fileBytes, space.liveBytes) {
                try rewrite(store)
            } else {
                try store.close()
            }
        } catch {
            closeAfterFailure(store)
            guard case .noSpace = error else { throw error }
            mark(.noSpaceToCompact)
        }
    }

    /// Where a compaction writes before it takes the store's place.
    static func unfinishedPath(_ path: String) -> String { path + ".compacting" }

    /// What failed is what has to be said, not that something else fails on the way out.
    private static func closeAfterFailure(_ store: Store) { do throws(StorageError) { try store.close() } catch {} }

    private static func removeUnfinished(_ path: String, _ fileSystem: any FileSystem) {
        do throws(FileError) { if try fileSystem.status(path) != nil { try fileSystem.remove(path) } } catch {}
    }

    private static func rewrite(_ store: Store) throws(StorageError) {
        let unfinished = unfinishedPath(store.path)
        let fileSystem = store.fileSystem
        try store.checkRoomForCopy()
        do throws(StorageError) {
            try write(try store.snapshot().view, to: unfinished, store.options)
            // The old file must not need its log when the new one takes its place, and nobody may open it in between.
            try store.close { () throws(FileError) in
                try fileSystem.rename(unfinished, to: store.path)
                try fileSystem.syncDirectory(of: store.path)
            }
        } catch {
            removeUnfinished(unfinished, fileSystem)
            throw error
        }
    }

    /// - Throws: `noSpace` when the disk has less room than the contents take.
    private func checkRoomForCopy() throws(StorageError) {
        let needed = Int64(try space().liveBytes)
        let available: Int64?
        do throws(FileError) { available = try fileSystem.availableBytes(beside: path) } catch {
            throw StorageError(error)
        }
        guard let available, available < needed else { return }
        throw .noSpace(FileError(.write, path: Self.unfinishedPath(path), errno: 28))
    }

    /// Makes a new store at `path`, which is nobody's, with the contents of a version, under its version number, and
    /// syncs it. After an error something may be left there.
    private static func write(
        _ source: ReadView, to path: String, _ options: StoreOptions
    ) throws(StorageError) {
        var plain = options
        plain.durability = .none
        plain.compaction = .never
        plain.compactOnLaunch = nil
        plain.readOnly = false
        do throws(FileError) {
            if try options.fileSystem.status(path) != nil { try options.fileSystem.remove(path) }
        } catch {
            throw StorageError(error)
        }
        let target = try openPlain(path: path, options: plain, isAlone: true)
        do throws(StorageError) {
            if source.state.version > 0 {
                let transaction = try target.beginWrite()
                try transaction.fill(from: source)
                try transaction.commit()
            }
            try target.close()
        } catch {
            closeAfterFailure(target)
            throw error
        }
    }
}

extension WriteTransaction {
    /// Copies all tables of another store into this empty one, with keys, creation versions and version number.
    fileprivate func fill(from source: ReadView) throws(StorageError) {
        version = source.state.version
        try apply(schema: source.schema)
        for table in source.state.tables.indices {
            try fill(table, from: source)
            view.state.tables[table].nextKey = source.state.tables[table].nextKey
        }
    }

    private func fill(_ table: Int, from source: ReadView) throws(StorageError) {
        let columns = source.schema.tables[table].columns
        let layout = source.state.layouts[table]
        let rows = RowSet(layout)
        var cells = [Cell](repeating: .null, count: columns.count)
        try source.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            rows.removeAll()
            try group.decode(into: rows, layout, source.reader)
            for row in 0..<rows.count {
                for column in columns.indices {
                    cells[column] = try source.cell(rows.columns[column + RowSet.firstUserColumn], row)
                }
                let created = rows.columns[RowSet.createdColumn].words[row]
                var failure: StorageError?
                cells.withUnsafeBufferPointer { buffer in
                    do throws(StorageError) {
                        try insert(table, key: RowKey(rows.key(row)), created: created, buffer)
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
                try spillIfLarge()
            }
            try source.reader.confirm()
            return true
        }
    }
}

extension ReadView {
    /// A decoded value as a cell; long bytes are followed.
    fileprivate func cell(_ column: ColumnBuffer, _ row: Int) throws(StorageError) -> Cell {
        if column.isNull(row) { return .null }
        switch column.kind {
        case .integer: return .integer(column.integer(row))
        case .double: return .double(Double(bitPattern: column.words[row]))
        case .bytes: return .bytes(column.isLong(row) ? try long(column.bytes(row)) : column.bytes(row))
        }
    }
}
