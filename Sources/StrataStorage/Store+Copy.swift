internal import StrataFiles

extension Store {
    /// Writes a compacted copy of the newest visible version.
    ///
    /// With a cipher the copy is encrypted; the store's own says nothing about it. The copy appears at `destination`
    /// whole or not at all.
    /// - Throws: `file` with EEXIST when something stands there; `noSpace`; what reading throws.
    /// - Complexity: O(size); memory is bounded by ``StoreLimits/arenaBudget``.
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
        try Self.write(snapshot.view, to: destination, target)
    }

    /// Rewrites a store that nobody has open, without its free pages.
    ///
    /// By a temporary file, a sync, a rename and a sync of the directory: at any moment the path leads to the old
    /// contents or the new.
    package static func compact(path: String, options: StoreOptions = StoreOptions()) throws(StorageError) {
        let store = try openPlain(path: path, options: options, isAlone: true)
        do throws(StorageError) {
            try rewrite(store)
        } catch {
            do throws(StorageError) { try store.close() } catch { throw error }
            throw error
        }
    }

    /// Asks the policy, and compacts when it says so. A store that another process has open is left alone.
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
        do throws(StorageError) {
            try store.loadFreeMap()
            let space = try store.space()
            if policy(space.fileBytes, space.liveBytes) {
                try rewrite(store)
            } else {
                try store.close()
            }
        } catch {
            do throws(StorageError) { try store.close() } catch { throw error }
            throw error
        }
    }

    private static func rewrite(_ store: Store) throws(StorageError) {
        let temporary = store.path + ".compacting"
        do throws(FileError) {
            if try store.fileSystem.status(temporary) != nil { try store.fileSystem.remove(temporary) }
        } catch {
            throw StorageError(error)
        }
        try write(try store.snapshot().view, to: temporary, store.options)
        // The old file must not need its log when the new one takes its place, and nobody may open it in between.
        try store.close { () throws(FileError) in
            try store.fileSystem.rename(temporary, to: store.path)
            try store.fileSystem.syncDirectory(of: store.path)
        }
    }

    /// Makes a new store at `path` with the contents of a version, under its version number.
    private static func write(
        _ source: ReadView, to path: String, _ options: StoreOptions
    ) throws(StorageError) {
        var plain = options
        plain.durability = .none
        plain.compactOnLaunch = nil
        plain.readOnly = false
        let unfinished = path + ".copying"
        do throws(FileError) {
            if try options.fileSystem.status(unfinished) != nil { try options.fileSystem.remove(unfinished) }
        } catch {
            throw StorageError(error)
        }
        let target = try openPlain(path: unfinished, options: plain, isAlone: true)
        do throws(StorageError) {
            if source.state.version > 0 {
                let transaction = try target.beginWrite()
                try transaction.fill(from: source)
                try transaction.commit()
            }
            try target.close()
            do throws(FileError) {
                try options.fileSystem.rename(unfinished, to: path)
                try options.fileSystem.syncDirectory(of: path)
            } catch {
                throw StorageError(error)
            }
        } catch {
            do throws(StorageError) { try target.close() } catch { throw error }
            // What failed is what has to be said, not that its leftovers cannot be removed.
            do throws(FileError) { try options.fileSystem.remove(unfinished) } catch {}
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
