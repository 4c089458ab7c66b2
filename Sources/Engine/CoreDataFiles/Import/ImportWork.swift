#if SQLite
    import StrataStorage

    /// The steps of one import, over an open copy and an open file.
    struct ImportWork {
        private let copy: SourceCopy
        private let file: SQLiteFile
        private let target: ImportTarget
        private let options: CoreDataImport.Options
        private let sources: [RowSource]
        private let keys: [KeySet]
        private var layout: ClassLayout { target.layout }
        private var store: Store { target.store }
        private var findings = ImportFindings()
        private var report = CoreDataImport.Report()
        private var done = 0
        /// Rows and elements of lists since the last commit.
        private var inBatch = 0
        private let all: Int

        init(
            _ copy: SourceCopy, _ file: SQLiteFile, target: ImportTarget, options: CoreDataImport.Options
        ) throws(CoreDataError) {
            self.copy = copy
            self.file = file
            self.target = target
            self.options = options
            var found = ImportFindings()
            let (keys, sources) = try Self.sources(
                copy, file, layout: target.layout, mapping: options.mapping, findings: &found)
            findings = found
            self.keys = keys
            self.sources = sources
            all = keys.reduce(0) { $0 + $1.count }
        }

        /// The SQL condition that leaves out rows of unknown entities; empty if the mapping does not leave them out.
        private static func condition(_ hierarchy: StoredHierarchy, _ mapping: CoreDataMapping) -> String {
            let numbers = hierarchy.entities.map { String($0.number) }.joined(separator: ", ")
            return mapping.leavesUnknownOut ? " WHERE Z_ENT IN (\(numbers))" : ""
        }

        /// The keys of each table, and a reader for each.
        static func sources(
            _ copy: SourceCopy, _ file: SQLiteFile, layout: ClassLayout, mapping: CoreDataMapping,
            findings: inout ImportFindings
        ) throws(CoreDataError) -> (keys: [KeySet], sources: [RowSource]) {
            let hierarchies = layout.layout.hierarchies
            var keys: [KeySet] = []
            var twins: [Int: EntityLookup] = [:]
            for hierarchy in hierarchies {
                var found: [Int64] = []
                let condition = Self.condition(hierarchy, mapping)
                let rows = try file.statement("SELECT Z_PK FROM \(quoted(hierarchy.table))\(condition) ORDER BY Z_PK")
                while try rows.step() {
                    let key = rows.integer(0)
                    guard rows.kind(0) == .integer, found.last.map({ $0 < key }) ?? true else {
                        throw CoreDataError(
                            .unknownShape,
                            "\(hierarchy.table): Z_PK \(rows.text(0)) is no number, stands twice, or out of order. If "
                                + "the file is damaged, import what  sqlite3 STORE .recover  gives")
                    }
                    found.append(key)
                }
                if let last = found.last, last > hierarchy.root.maxKey {
                    findings.add(.lowMaximum, "\(hierarchy.root.name): \(hierarchy.root.maxKey), and a key is \(last)")
                }
                keys.append(KeySet(found))
            }
            for hierarchy in hierarchies {
                for link in hierarchy.links where link.entityColumn != nil && twins[link.target] == nil {
                    twins[link.target] = try EntityLookup(file, hierarchies[link.target])
                }
            }
            let sources = hierarchies.indices.map {
                RowSource(copy, file, layout: layout, index: $0, keys: keys, twins: twins, mapping: mapping)
            }
            return (keys, sources)
        }

        func fill(_ report: inout CoreDataImport.Report) {
            let notes = report.notes
            report = self.report
            report.notes = notes
            report.rows = all
            report.findings = findings
            for source in sources { report.findings.merge(source.findings) }
        }

        private mutating func step() throws(CoreDataError) {
            done += 1
            guard done & 4095 == 0 else { return }
            options.progress(min(done, all), all)
            if options.shouldStop() { throw CoreDataError(.stopped, "stopped after \(done) of \(all) rows") }
        }

        private static func stopped(_ error: CoreDataError, _ words: String) -> CoreDataError {
            error.kind == .stopped ? CoreDataError(.stopped, "\(error); \(words)") : error
        }

        // MARK: A first import

        /// Imports all rows, in batches from the last key of each class on; then all lists.
        /// - Parameter isResumed: rows of an earlier run exist, and the store may have changed since.
        mutating func load(isResumed: Bool) throws {
            var transaction = try store.beginWrite()
            inBatch = 0
            do {
                for table in layout.classes.indices {
                    let place = target.places.tables[table]
                    let known = try transaction.view.rowCount(place)
                    done += known
                    // Keys ascend from the lowest one, which may be below 1.
                    let from = try known == 0 ? nil : transaction.view.key(at: known - 1, in: place)?.rawValue
                    let rows = try sources[table].statement(after: from)
                    while try rows.step() {
                        guard try sources[table].read(rows) else { continue }
                        try insert(table, transaction)
                        try commitBatch(1, &transaction)
                        try step()
                    }
                }
                #if Zoo
                    let looks = isResumed && !PlantedMistake.resumeForgets.isPlanted
                #else
                    let looks = isResumed
                #endif
                if looks { try rowChanges(transaction) }
                try lists(&transaction, inBatches: true)
                try finish(transaction)
            } catch let error as CoreDataError where error.kind == .stopped {
                try transaction.commit()
                throw Self.stopped(error, "the same command resumes it")
            } catch {
                transaction.rollback()
                throw error
            }
        }

        /// Counts written rows and elements, and starts a new transaction when a batch is full.
        private mutating func commitBatch(_ count: Int, _ transaction: inout WriteTransaction) throws {
            inBatch += count
            guard inBatch >= options.rowsPerBatch else { return }
            inBatch = 0
            try transaction.commit()
            options.afterBatch()
            transaction = try store.beginWrite()
        }

        private mutating func finish(_ transaction: WriteTransaction) throws {
            var state = target.state
            state.isComplete = true
            state.rows = Int64(all)
            if layout.layout.hasHistory {
                state.lastTransaction = try file.integer("SELECT max(Z_PK) FROM ATRANSACTION") ?? state.lastTransaction
            }
            try target.write(state, transaction)
            try transaction.commit()
        }

        private mutating func insert(_ table: Int, _ transaction: WriteTransaction) throws {
            let source = sources[table]
            do throws(StorageError) {
                try target.insert(table, key: RowKey(source.key), source.cells, transaction)
            } catch {
                guard case .misuse(.notOptional) = error else { throw error }
                try admitNulls(table, transaction)
                try target.insert(table, key: RowKey(source.key), source.cells, transaction)
            }
            report.inserted += 1
        }

        private mutating func admitNulls(_ table: Int, _ transaction: WriteTransaction) throws {
            let count = layout.classes[table].singleCount
            for name in try target.admitNulls(table, sources[table].cells, count: count, transaction: transaction) {
                report.becameOptional.append(name)
                findings.add(.unexpectedNull, "\(name), row \(sources[table].key)")
            }
        }

        // MARK: Lists

        /// Makes every list equal to the store's; equal lists are not written.
        private mutating func lists(_ transaction: inout WriteTransaction, inBatches: Bool) throws {
            for table in layout.classes.indices {
                let made = layout.classes[table]
                for column in made.singleCount..<made.columns.count {
                    guard var source = try ListSource(made.sources[column], layout.layout, keys: keys, file: file)
                    else { continue }
                    let position = target.places.tables[table]
                    let list = target.places.columns[table][column]
                    var rest = try ListSource.filled(position, list, transaction.view)
                    while let (owner, wanted) = try source.next() {
                        // Lists of a first import are empty, unless an earlier run got this far.
                        let known =
                            rest.remove(owner) == nil
                            ? []
                            : try ImportTarget.list(
                                transaction.view, position, key: RowKey(owner), column: list)
                        if known == wanted { continue }
                        // The application has deleted the owner from the new file, and the store's history does not
                        // mention the owner.
                        if known.isEmpty, try transaction.view.locate(position, RowKey(owner)) == nil {
                            findings.add(.missingRow, "\(made.name) \(owner)")
                            continue
                        }
                        try assign(wanted, position, owner: owner, column: list, transaction: transaction)
                        if inBatches { try commitBatch(wanted.count, &transaction) }
                        if report.lists & 4095 == 0, options.shouldStop() {
                            throw CoreDataError(.stopped, "stopped after \(report.lists) lists")
                        }
                    }
                    for owner in rest.sorted() where try !target.isOwn(owner, table, transaction.view) {
                        try assign([], position, owner: owner, column: list, transaction: transaction)
                    }
                    findings.merge(source.findings)
                }
            }
        }

        private mutating func assign(
            _ wanted: [Int64], _ table: Int, owner: Int64, column: Int, transaction: WriteTransaction
        ) throws {
            let elements = CollectionElements(CollectionColumn(.integer))
            #if Zoo
                let kept = PlantedMistake.importedListShort.isPlanted ? wanted.dropLast() : wanted[...]
            #else
                let kept = wanted
            #endif
            for key in kept { elements.append(.integer(key)) }
            try transaction.collections.assign(table, RowKey(owner), column: column, elements: elements)
            report.lists += 1
        }

        // MARK: Changes

        /// Updates the file to the store's contents, in one transaction.
        mutating func update() throws {
            var transaction = try store.beginWrite()
            done = 0
            do {
                try rowChanges(transaction)
                try lists(&transaction, inBatches: false)
                try finish(transaction)
            } catch let error as CoreDataError {
                transaction.rollback()
                throw Self.stopped(error, "nothing was changed")
            } catch {
                transaction.rollback()
                throw error
            }
        }

        private mutating func rowChanges(_ transaction: WriteTransaction) throws {
            let changed = try historyChanges()
            report.way = changed == nil ? .keys : .history
            for table in layout.classes.indices {
                let candidates = try changed?[table] ?? comparedChanges(table, transaction.view)
                try apply(candidates, table, transaction)
            }
        }

        /// Keys whose rows must be compared, by class; nil if the history does not reach back to the last import.
        private func historyChanges() throws -> [[Int64]]? {
            let last = target.state.lastTransaction
            guard layout.layout.hasHistory, last > 0, !options.comparesAll,
                let first = try file.integer("SELECT min(Z_PK) FROM ATRANSACTION"), first <= last
            else { return nil }
            var found = [Set<Int64>](repeating: [], count: layout.classes.count)
            let rows = try file.statement("SELECT ZENTITY, ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID > ?")
            rows.bind(0, last)
            while try rows.step() {
                let number = rows.integer(0)
                guard
                    let table = layout.layout.hierarchies.firstIndex(where: {
                        $0.entities.contains { $0.number == number }
                    })
                else { continue }
                found[table].insert(rows.integer(1))
            }
            return found.map { $0.sorted() }
        }

        /// The keys of a class whose rows may differ: those that only one side has, those whose Z_OPT differs, and
        /// those of rows that the application inserted although the store has the key. All keys of the store, if all
        /// values are compared. Rows that only the application inserted are not among them.
        private func comparedChanges(_ table: Int, _ view: ReadView) throws -> [Int64] {
            let version = target.versionPlace(table)
            var found: [Int64] = []
            let hierarchy = layout.layout.hierarchies[table]
            let condition = Self.condition(hierarchy, options.mapping)
            let rows = try file.statement(
                "SELECT Z_PK, ifnull(Z_OPT, 0) FROM \(quoted(hierarchy.table))\(condition) ORDER BY Z_PK")
            var hasRow = try rows.step()
            var failure: CoreDataError?
            try view.scan(target.places.tables[table], columns: [version]) { (batch) throws(StorageError) in
                do throws(CoreDataError) {
                    for row in 0..<batch.count {
                        let key = batch.key(row).rawValue
                        while hasRow, rows.integer(0) < key {
                            found.append(rows.integer(0))
                            hasRow = try rows.step()
                        }
                        let isImported = !batch.isNull(0, row)
                        guard hasRow, rows.integer(0) == key else {
                            // A row that no import inserted belongs to the application.
                            if isImported { found.append(key) }
                            continue
                        }
                        #if Zoo
                            if PlantedMistake.changeMissed.isPlanted {
                                hasRow = try rows.step()
                                continue
                            }
                        #endif
                        if options.comparesAll || !isImported || batch.integers(0)[row] != rows.integer(1) {
                            found.append(key)
                        }
                        hasRow = try rows.step()
                    }
                } catch {
                    failure = error
                    return false
                }
                return true
            }
            if let failure { throw failure }
            while hasRow {
                found.append(rows.integer(0))
                hasRow = try rows.step()
            }
            return found
        }

        private mutating func apply(_ candidates: [Int64], _ table: Int, _ transaction: WriteTransaction) throws {
            let source = sources[table]
            let one = try source.single()
            let made = layout.classes[table]
            let version = target.versionPlace(table)
            let place = target.places.tables[table]
            var gone: [Int64] = []
            for key in candidates {
                one.reset()
                one.bind(0, key)
                let row = try transaction.view.locate(place, RowKey(key))
                guard try one.step(), try source.read(one) else {
                    #if Zoo
                        if PlantedMistake.deletionKept.isPlanted { continue }
                    #endif
                    if row != nil { gone.append(key) }
                    continue
                }
                guard let row else {
                    try insert(table, transaction)
                    continue
                }
                if try transaction.view.integer(row, version) == nil {
                    throw CoreDataError(
                        .unfitValue,
                        "\(made.name) \(key) was made in \(target.path), and the store has a row of that key, too: "
                            + "give the one in the new file another key first")
                }
                try admitNulls(table, transaction)
                if try target.change(
                    table, RowKey(key), cells: source.cells, count: made.singleCount, transaction: transaction)
                {
                    report.changed += 1
                }
                try step()
            }
            if !gone.isEmpty { try transaction.bulk.delete(place, gone) }
            report.deleted += gone.count
        }
    }

    extension ImportFindings {
        mutating func merge(_ other: ImportFindings) {
            for kind in Kind.allCases {
                let count = other.counts[kind, default: 0]
                if count > 0 { addCount(kind, count) }
            }
            addLines(other.lines)
        }
    }
#endif
