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
package struct StoreCopy {
    private let source: ReadView
    private let version: UInt64
    /// Path of the source, for messages.
    private let original: String
    /// Path of the unfinished copy.
    private let unfinished: String
    private let options: StoreOptions
    private var fileSystem: any FileSystem { options.fileSystem }

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
    /// The transaction spills everything that it holds in memory, so that a reader of a version can read the
    /// transaction's. A process that does not own writing asks for ownership.
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

    /// Makes the copy, and renames it to a path where no file stands.
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
            // Renamed while still locked, so that another copy to the same place does not take it for abandoned.
            try make { () throws(FileError) in
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
    func run() throws(StorageError) {
        try removeAbandoned()
        try make { () throws(FileError) in }
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

    /// - Parameter last: runs when the file is complete and still locked.
    private func make(_ last: () throws(FileError) -> Void) throws(StorageError) {
        let target = try Store.openPlain(path: unfinished, options: options, isAlone: true)
        do throws(StorageError) {
            if version > 0 {
                let transaction = try target.beginWrite()
                try fill(transaction)
                try transaction.commit()
                try verify(target)
            }
            try target.close(mayStayOpen: false, last)
        } catch {
            // An error of closing is dropped: the first error is the one to report.
            do throws(StorageError) { try target.close(mayStayOpen: false) { () throws(FileError) in } } catch {}
            throw error
        }
    }

    /// Reads the copy back before it gets its name.
    /// - Throws: `corrupt` for the first page that differs from what was written; `unsound` for a broken rule, which
    ///   the source breaks as well.
    private func verify(_ target: Store) throws(StorageError) { try StoreVerification(of: target).readBack(original) }

    /// Copies all tables into an empty store, with keys, creation versions and version number.
    private func fill(_ transaction: WriteTransaction) throws(StorageError) {
        transaction.version = version
        try transaction.apply(schema: source.schema)
        let met = source.nothingMet
        for table in source.state.tables.indices {
            try fill(table, transaction, met)
            transaction.view.state.tables[table].nextKey = source.state.tables[table].nextKey
        }
    }

    private func fill(
        _ table: Int, _ transaction: WriteTransaction, _ met: MetNodes
    ) throws(StorageError) {
        let columns = source.schema.tables[table].columns
        let layout = source.state.layouts[table]
        let rows = RowSet(layout)
        var cells = [Cell](repeating: .null, count: columns.count)
        var trees: [Int] = []
        try source.forEachGroup(table, from: .min) { (group) throws(StorageError) in
            try met.meet(group.base)
            rows.removeAll()
            try group.decode(into: rows, layout, source.reader)
            for row in 0..<rows.count {
                #if Zoo
                    if row == rows.count - 1, PlantedMistake.compactionLosesRows.isPlanted { continue }
                #endif
                trees.removeAll(keepingCapacity: true)
                for column in columns.indices {
                    let values = rows.columns[column + RowSet.firstUserColumn]
                    if columns[column].collection != nil, values.isTree(row) {
                        // Filled below.
                        cells[column] = .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
                        trees.append(column)
                    } else {
                        cells[column] = try source.cell(values, row)
                        try met.count(cells[column])
                    }
                }
                let created = rows.columns[RowSet.createdColumn].words[row]
                var failure: StorageError?
                cells.withUnsafeBufferPointer { buffer in
                    do throws(StorageError) {
                        try transaction.insert(table, key: RowKey(rows.key(row)), created: created, buffer)
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
                for column in trees {
                    let values = rows.columns[column + RowSet.firstUserColumn]
                    try copy(values.bytes(row), of: RowKey(rows.key(row)), table, column, transaction, met)
                }
                try transaction.spillIfLarge()
            }
            try source.reader.confirm()
            return true
        }
    }
}

extension StoreCopy {
    /// Fills a collection from a tree, leaf by leaf. Elements are appended, so the copy's leaves are full.
    private func copy(
        _ descriptor: UnsafeRawBufferPointer, of key: RowKey, _ table: Int, _ column: Int,
        _ transaction: WriteTransaction, _ met: MetNodes
    ) throws(StorageError) {
        let cell = try CollectionCell.long(descriptor, source.reader)
        let reader = try CollectionReader(cell, source, table, key, column)
        try copy(reader, at: [], of: key, table, column, transaction, met)
    }

    /// - Parameter path: of an inner collection.
    private func copy(
        _ reader: CollectionReader, at path: [Int], of key: RowKey, _ table: Int, _ column: Int,
        _ transaction: WriteTransaction, _ met: MetNodes
    ) throws(StorageError) {
        try reader.forEachPart { (part) throws(StorageError) in
            try met.meet(part)
            let elements = CollectionElements(reader.column)
            var inner: [(place: Int, reader: CollectionReader)] = []
            for place in part.first..<part.end {
                let key = try part.key(at: place)
                try met.count(key)
                guard part.isTree(at: place), let nested = try reader.nested(at: place) else {
                    let value = try part.value(at: place)
                    try met.count(value)
                    elements.append(key: key, value)
                    continue
                }
                inner.append((place, nested))
                // Filled below.
                let type = nested.column.isKeyed ? NestedCollection.mapType : NestedCollection.listType
                Cell.withCopy(of: [type]) { elements.append(key: key, $0) }
            }
            try transaction.collections(at: path).insert(table, key, column, elements, at: part.first)
            for (place, nested) in inner {
                try copy(nested, at: path + [place], of: key, table, column, transaction, met)
            }
            return true
        }
    }
}

extension ReadView {
    /// A decoded value as a cell; a long value is read.
    fileprivate func cell(_ column: ColumnBuffer, _ row: Int) throws(StorageError) -> Cell {
        if column.isNull(row) { return .null }
        switch column.kind {
        case .integer: return .integer(column.integer(row))
        case .double: return .double(Double(bitPattern: column.words[row]))
        case .bytes:
            #if Zoo
                if column.isLong(row), PlantedMistake.compactionEmptiesTexts.isPlanted {
                    return .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
                }
            #endif
            return .bytes(column.isLong(row) ? try long(column.bytes(row)) : column.bytes(row))
        }
    }
}
