#if SQLite
    import StrataFiles
    import StrataStorage

    /// Compares a store with the file that was imported from it: rows per entity, a hash of each row with its links,
    /// and each list. Both are only read.
    package struct CoreDataVerification {
        package struct Report: Sendable {
            /// Rows of each concrete entity, in the store and in the file.
            package var counts: [(entity: String, stored: Int, found: Int)] = []
            package var rows = 0
            package var lists = 0
            /// One hash over the rows of both: of their keys and hashes, whatever their order.
            package var storedHash: UInt64 = 0
            package var foundHash: UInt64 = 0
            /// Rows that the application made in the file.
            package var own = 0
            package var findings = ImportFindings()
            package var notes: [String] = []

            package var isEqual: Bool {
                findings.differences == 0 && storedHash == foundHash && counts.allSatisfy { $0.stored == $0.found }
            }
        }

        private let source: String
        private let destination: String
        private let options: CoreDataImport.Options

        package init(
            _ source: String, against destination: String, _ options: CoreDataImport.Options = CoreDataImport.Options()
        ) {
            self.source = source
            self.destination = destination
            self.options = options
        }

        /// - Throws: ``CoreDataError``, and `StorageError` of the new file.
        package func run() throws -> Report {
            let files = POSIXFileSystem()
            guard try files.status(try files.resolve(destination)) != nil else {
                let partial = try files.status(destination + ".importing") != nil
                throw CoreDataError(
                    .wrongInput,
                    partial
                        ? "\(destination) is not complete yet: run strata coredata import again, which goes on"
                        : "\(destination): no such file")
            }
            let copy = try SourceCopy(of: source, beside: destination)
            let file = try copy.connection()
            defer { file.close() }
            let model = try options.modelPath.map { path throws(CoreDataError) in try ModelSources.model(at: path) }
            let layout = try LayoutReading.read(file, model: model, mapping: options.mapping)
            let target = try ImportTarget(
                destination, try ClassLayout(layout, options.mapping), isNew: false, readOnly: true)
            var report = Report()
            report.notes = copy.notes
            do {
                try compare(copy, file, target, &report)
                try target.store.close()
            } catch {
                do { try target.store.close() } catch {}
                throw error
            }
            return report
        }

        private func compare(
            _ copy: SourceCopy, _ file: SQLiteFile, _ target: ImportTarget, _ report: inout Report
        ) throws {
            let layout = target.layout
            let view = try target.store.snapshot().view
            let (keys, sources) = try ImportWork.sources(
                copy, file, layout, options.mapping, &report.findings)
            let all = keys.reduce(0) { $0 + $1.count }
            for table in layout.classes.indices {
                var rows = TableComparison(layout, table, view)
                try rows.run(sources[table], &report) { done throws(CoreDataError) in
                    options.progress(done, all)
                    if options.shouldStop() {
                        throw CoreDataError(.stopped, "stopped after \(done) of \(all) rows; nothing was changed")
                    }
                }
                report.findings.merge(sources[table].findings)
                for entity in layout.layout.hierarchies[table].entities where !entity.isAbstract {
                    let count = rows.counts[entity.number, default: (0, 0)]
                    report.counts.append((entity.name, count.stored, count.found))
                }
                let made = layout.classes[table]
                for column in made.singleCount..<made.columns.count {
                    guard let source = ListSource(made.sources[column], layout.layout, keys, file) else { continue }
                    try compare(source, table, column, made, view, &report)
                }
            }
        }

        private func compare(
            _ source: ListSource, _ table: Int, _ column: Int, _ made: ClassLayout.Class, _ view: ReadView,
            _ report: inout Report
        ) throws {
            var found = try ImportWork.filled(table, column, view)
            var failure: StorageError?
            var findings = ImportFindings()
            var count = 0
            var different: [Int64] = []
            try source.forEach(&findings) { (owner, wanted) throws(CoreDataError) in
                count += 1
                found.remove(owner)
                do throws(StorageError) {
                    if try ImportTarget.list(view, table, RowKey(owner), column) != wanted { different.append(owner) }
                } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            report.findings.merge(findings)
            report.lists += count
            for owner in different + found.sorted() {
                report.findings.add(.differentList, "\(made.name) \(owner), \(made.columns[column].name)")
            }
        }
    }

    /// The rows of one class beside those of its table, both in the order of their keys.
    private struct TableComparison {
        private let table: Int
        private let view: ReadView
        private let made: ClassLayout.Class
        private let hierarchy: StoredHierarchy
        private(set) var counts: [Int64: (stored: Int, found: Int)] = [:]
        private let types: [ColumnType]
        private let versionPlace: Int
        private let entityPlace: Int?

        init(_ layout: ClassLayout, _ table: Int, _ view: ReadView) {
            self.table = table
            self.view = view
            made = layout.classes[table]
            hierarchy = layout.layout.hierarchies[table]
            types = made.columns.prefix(made.singleCount).map(\.type)
            versionPlace = made.columns.firstIndex { $0.name == ClassLayout.versionName } ?? 0
            entityPlace = made.columns.firstIndex { $0.name == ClassLayout.entityName }
        }

        mutating func run(
            _ source: RowSource, _ report: inout CoreDataVerification.Report,
            _ told: (Int) throws(CoreDataError) -> Void
        ) throws {
            let rows = try source.statement()
            var entities = self.counts
            var collected = report
            var failure: CoreDataError?
            var has = try next(source, rows)
            let numbers = Dictionary(
                hierarchy.entities.map { (Array($0.name.utf8), $0.number) }, uniquingKeysWith: { first, _ in first })
            func missing() throws(CoreDataError) {
                collected.findings.add(.missingRow, "\(made.name) \(source.key)")
                count(source, &entities, &collected)
                has = try next(source, rows)
            }
            try view.scan(table, columns: Array(0..<made.singleCount)) { (batch) throws(StorageError) in
                do throws(CoreDataError) {
                    for row in 0..<batch.count {
                        let key = batch.key(row).rawValue
                        if batch.isNull(versionPlace, row) {
                            collected.own += 1
                            continue
                        }
                        while has, source.key < key { try missing() }
                        let hash = hash(batch, row)
                        collected.foundHash &+= Self.total(key, hash)
                        let number = entityPlace.map { numbers[Array(batch.bytes($0, row))] ?? -1 }
                        entities[number ?? hierarchy.root.number, default: (0, 0)].found += 1
                        guard has, source.key == key else {
                            collected.findings.add(.extraRow, "\(made.name) \(key)")
                            continue
                        }
                        if count(source, &entities, &collected) != hash {
                            collected.findings.add(.differentRow, "\(made.name) \(key)")
                        }
                        has = try next(source, rows)
                        if collected.rows & 4095 == 0 { try told(collected.rows) }
                    }
                } catch {
                    failure = error
                    return false
                }
                return true
            }
            if let failure { throw failure }
            while has { try missing() }
            counts = entities
            report = collected
        }

        private func next(_ source: RowSource, _ rows: SQLiteStatement) throws(CoreDataError) -> Bool {
            while try rows.step() { if try source.read(rows) { return true } }
            return false
        }

        @inline(__always)
        private static func total(_ key: Int64, _ hash: UInt64) -> UInt64 {
            var total = RowHash()
            total.add(integer: key)
            total.add(integer: Int64(bitPattern: hash))
            return total.value
        }

        /// Counts the row that a source stands at.
        /// - Returns: its hash.
        @discardableResult
        private func count(
            _ source: RowSource, _ entities: inout [Int64: (stored: Int, found: Int)],
            _ report: inout CoreDataVerification.Report
        ) -> UInt64 {
            var hash = RowHash()
            for place in types.indices { hash.add(source.cells[place]) }
            report.rows += 1
            report.storedHash &+= Self.total(source.key, hash.value)
            entities[source.entity, default: (0, 0)].stored += 1
            return hash.value
        }

        private func hash(_ batch: RowBatch, _ row: Int) -> UInt64 {
            var hash = RowHash()
            for place in types.indices {
                if batch.isNull(place, row) {
                    hash.addNull()
                    continue
                }
                switch types[place] {
                case .integer, .link: hash.add(integer: batch.integers(place)[row])
                case .double: hash.add(double: batch.doubles(place)[row])
                case .bytes, .links: hash.add(bytes: batch.bytes(place, row))
                }
            }
            return hash.value
        }
    }
#endif
