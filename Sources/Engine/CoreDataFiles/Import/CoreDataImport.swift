#if SQLite
    import StrataFiles
    import StrataStorage

    /// One import of a store into a new file, or of the changes since the last import.
    ///
    /// 1. The store is copied, and the import opens only the copy.
    /// 2. A first import writes `NEW.importing` in batches, and renames it when it is complete. After a kill the same
    /// command resumes after the last durable row.
    /// 3. A later import is one transaction of the file.
    /// 4. The keys of all rows are read before the first row is written. So a link can be written with its row, since
    /// its target will be in the file. A target that the store lacks becomes a finding, never a link.
    package struct CoreDataImport {
        package struct Options: Sendable {
            package var modelPath: String?
            package var mapping = CoreDataMapping()
            /// Compares all values, not only those of rows whose Z_OPT changed.
            package var comparesAll = false
            package var rowsPerBatch = 50_000
            /// Called when a batch of a first import is committed.
            package var afterBatch: @Sendable () -> Void = {}
            /// Called from time to time with the completed and the total number of rows.
            package var progress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
            /// Checked between rows; if true, the import ends with `stopped`.
            package var shouldStop: @Sendable () -> Bool = { false }

            package init() {}
        }

        package struct Report: Sendable {
            package enum Way: String, Sendable {
                case first = "first import"
                case resumed = "first import, resumed"
                case history = "changes by the store's history"
                case keys = "changes by keys and Z_OPT"
            }

            package var way = Way.first
            package var rows = 0
            package var inserted = 0
            package var changed = 0
            package var deleted = 0
            package var lists = 0
            package var becameOptional: [String] = []
            package var findings = ImportFindings()
            package var notes: [String] = []
        }

        let source: String
        let destination: String
        let options: Options

        package init(_ source: String, to destination: String, _ options: Options = Options()) {
            self.source = source
            self.destination = destination
            self.options = options
        }

        /// - Throws: ``CoreDataError``, and `StorageError` of the new file.
        package func run() throws -> Report {
            let files = POSIXFileSystem()
            let isThere = try files.status(try files.resolve(destination)) != nil
            // A row takes less space than in SQLite; link indexes and the checkpoint take as much again.
            let copy = try SourceCopy(of: source, beside: destination, roomFor: isThere ? 1 : 2)
            defer { withExtendedLifetime(copy) {} }
            let file = try copy.connection()
            defer { file.close() }
            let model = try options.modelPath.map { path throws(CoreDataError) in try ModelSources.model(at: path) }
            let layout = try LayoutReading.read(file, model: model, mapping: options.mapping)
            let classes = try ClassLayout(layout, options.mapping)
            let partial = destination + ".importing"
            let isResumed = try files.status(partial) != nil
            let target = try ImportTarget(isThere ? destination : partial, classes, isNew: !isThere)
            var report = Report()
            report.notes = copy.notes + layout.notes
            do {
                var work = try ImportWork(copy, file, target: target, options: options)
                if isThere { try work.update() } else { try work.load(isResumed: isResumed) }
                work.fill(&report)
                if !isThere { report.way = isResumed ? .resumed : .first }
                try target.store.close()
            } catch {
                // An error of closing is dropped: the caller reports the first one. Rows that are durable stay.
                do { try target.store.close() } catch {}
                throw error
            }
            if !isThere {
                try files.renameNew(partial, to: destination)
                try files.syncDirectory(of: destination)
            }
            return report
        }
    }
#endif
