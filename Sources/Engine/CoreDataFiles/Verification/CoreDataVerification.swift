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
            /// A hash over all rows of the store, and one over all rows of the file: sums, so that the order does not
            /// matter.
            package var storedHash: UInt64 = 0
            package var foundHash: UInt64 = 0
            /// Rows that the application inserted into the file.
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
                        ? "\(destination) is not complete yet: run strata coredata import again, which resumes it"
                        : "\(destination): no such file")
            }
            let copy = try SourceCopy(of: source, beside: destination)
            defer { withExtendedLifetime(copy) {} }
            let file = try copy.connection()
            defer { file.close() }
            let model = try options.modelPath.map { path throws(CoreDataError) in try ModelSources.model(at: path) }
            let layout = try LayoutReading.read(file, model: model, mapping: options.mapping)
            let target = try ImportTarget(
                destination, try ClassLayout(layout, options.mapping), isNew: false, readOnly: true)
            var report = Report()
            report.notes = copy.notes
            do {
                try compare(copy, file, target: target, report: &report)
                try target.store.close()
            } catch {
                do { try target.store.close() } catch {}
                throw error
            }
            return report
        }

        private func compare(
            _ copy: SourceCopy, _ file: SQLiteFile, target: ImportTarget, report: inout Report
        ) throws {
            let layout = target.layout.layout
            let view = try target.store.snapshot().view
            var keys: [KeyIndex] = []
            for hierarchy in layout.hierarchies {
                let numbers = hierarchy.entities.map { String($0.number) }.joined(separator: ", ")
                let condition = options.mapping.leavesUnknownOut ? "WHERE Z_ENT IN (\(numbers))" : ""
                keys.append(try KeyIndex(file, table: hierarchy.table, where: condition))
            }
            let all = keys.reduce(0) { $0 + $1.count }
            for (table, hierarchy) in layout.hierarchies.enumerated() {
                let columns = ComparedColumn.all(
                    hierarchy, hasOwnKey: options.mapping.entities[hierarchy.root.name]?.key != nil)
                let stored = try StoredRows(
                    file, hierarchy, columns: columns, keys: keys, externalFolder: copy.externalFolder,
                    mapping: options.mapping)
                let place = target.places.tables[table]
                let found = try FoundRows(view.schema.tables[place], columns, hierarchy)
                let rows = TableComparison(view.schema.tables[place].name, stored, found)
                try rows.run(view, place, report: &report) { done throws(CoreDataError) in
                    options.progress(done, all)
                    if options.shouldStop() {
                        throw CoreDataError(.stopped, "stopped after \(done) of \(all) rows; nothing was changed")
                    }
                }
                report.findings.merge(stored.findings)
                for entity in hierarchy.entities where !entity.isAbstract {
                    let count = rows.counts[entity.number, default: (0, 0)]
                    report.counts.append((entity.name, count.stored, count.found))
                }
            }
            for join in layout.joins {
                try compare(
                    StoredLists(join, keys, file), join.owner, name: join.name, target: target, view: view,
                    report: &report)
            }
            for order in layout.orders {
                let lists = try StoredLists(order, table: layout.hierarchies[order.target].table, keys, file)
                try compare(lists, order.owner, name: order.name, target: target, view: view, report: &report)
            }
        }

        /// All lists of one property: the store's, and those that only the file has.
        private func compare(
            _ stored: StoredLists, _ owners: Int, name: String, target: ImportTarget, view: ReadView,
            report: inout Report
        ) throws {
            var stored = stored
            let table = target.places.tables[owners]
            let made = view.schema.tables[table]
            guard let column = made.columns.firstIndex(where: { $0.name == name }), made.columns[column].type == .links
            else {
                throw CoreDataError(
                    .wrongInput,
                    "the file has no list \(made.name).\(name): verify with the model and the mapping of the import")
            }
            var rest = try ListSource.filled(table, column, view)
            while let (owner, targets) = try stored.next() {
                report.lists += 1
                // A row that the file lacks is already reported, and has no list.
                if try rest.remove(owner) == nil && view.locate(table, RowKey(owner)) == nil { continue }
                if try ImportTarget.list(view, table, key: RowKey(owner), column: column) != targets {
                    report.findings.add(.differentList, "\(made.name) \(owner), \(name)")
                }
            }
            for owner in rest.sorted() where try !target.isOwn(owner, owners, view) {
                report.findings.add(.differentList, "\(made.name) \(owner), \(name)")
            }
            report.findings.merge(stored.findings)
        }
    }
#endif
