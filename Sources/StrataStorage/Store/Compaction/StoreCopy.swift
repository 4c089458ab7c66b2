internal import StrataFiles

extension Store {
    /// Writes a compacted copy of the newest visible version.
    ///
    /// With a cipher the copy is encrypted; the store's own says nothing about it. The copy appears at `destination`
    /// whole or not at all.
    /// - Parameter isNew: the copy is a store of its own from now on, with the rights of a new file, and not as private
    ///   as this one.
    /// - Throws: `file` with EEXIST when something stands there; `noSpace`; what reading throws.
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

/// A copy of one version as a store of its own, without free pages, under the same version number. It is made under a
/// name of its own, and gets its place when it is whole.
package struct StoreCopy {
    private let source: ReadView
    private let version: UInt64
    /// The path of what is copied, for messages.
    private let original: String
    /// Where it is made.
    private let unfinished: String
    private let options: StoreOptions
    private var fileSystem: any FileSystem { options.fileSystem }

    /// - Parameters:
    ///   - source: is kept by whoever makes the copy.
    ///   - version: that of the copy: the source's, or that of the transaction that is copied.
    ///   - original: the path of what is copied.
    ///   - unfinished: where it is made, beside its place.
    ///   - options: those of the copy.
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
        // A copy of a store in memory is there to outlive it.
        if !store.fileSystem.isPersistent { target.fileSystem = POSIXFileSystem() }
        if store.fileSystem.isPersistent && !isNew { target.madeLike = store.path }
        self.init(of: view, as: version, store.path, beside: destination + ".copying", target)
    }

    /// Writes a compacted copy of what a transaction has made so far, which goes on from there.
    ///
    /// Everything that it holds back goes to pages first, as in a transaction that outgrows its memory: what reads a
    /// version reads the transaction's then. A process that does not own writing asks for the ownership.
    /// - Throws: what ``Store/writeCopy(to:cipher:isNew:)`` throws, `noSpace` in the store itself as well.
    package static func write(
        _ transaction: WriteTransaction, to destination: String, cipher: (any Cipher)?
    ) throws(StorageError) {
        try transaction.spill()
        try StoreCopy(
            of: transaction.view, as: transaction.version, from: transaction.store, to: destination, cipher: cipher,
            isNew: false
        ).publish(at: destination)
    }

    /// Makes the copy, and lets it appear where nothing stands.
    /// - Throws: `file` with EEXIST when something stands there; `inUse` while another copy is made for that place.
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
            // Renamed while it is locked still: another copy to the same place must not take it for abandoned.
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

    /// Makes the copy, complete and synced, under its unfinished name. After an error something may be left there.
    /// - Throws: `inUse` while another copy is at it.
    func run() throws(StorageError) {
        try removeAbandoned()
        try make { () throws(FileError) in }
    }

    /// Takes away what a copy left whose process died, and what is no file: a symbolic link would lead the copy to a
    /// place that its maker chose.
    /// - Throws: `inUse` while another copy is at it.
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

    /// Takes away what was left where a copy is made. That it cannot be removed is not what has to be said.
    static func removeUnfinished(_ path: String, _ fileSystem: any FileSystem) {
        do throws(FileError) { if try fileSystem.status(path) != nil { try fileSystem.remove(path) } } catch {}
    }

    /// - Parameter last: done when the file is complete and still locked.
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
            // What failed is what has to be said, not that something else fails on the way out.
            do throws(StorageError) { try target.close(mayStayOpen: false) { () throws(FileError) in } } catch {}
            throw error
        }
    }

    /// What was written is read again before it gets its name.
    /// - Throws: `corrupt` for the first page that is not what was written; `unsound` for a rule that is broken, which
    ///   is the source's doing.
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
                        // Empty at first.
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
    /// Fills a collection from a tree, leaf by leaf: appended so, the leaves of the copy are full.
    private func copy(
        _ descriptor: UnsafeRawBufferPointer, of key: RowKey, _ table: Int, _ column: Int,
        _ transaction: WriteTransaction, _ met: MetNodes
    ) throws(StorageError) {
        let cell = try CollectionCell.long(descriptor, source.reader)
        let reader = try CollectionReader(cell, source, table, key, column)
        try copy(reader, at: [], of: key, table, column, transaction, met)
    }

    /// - Parameter path: where the collection stands in elements of others.
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
                // Empty at first.
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
    /// A decoded value as a cell; long bytes are followed.
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
