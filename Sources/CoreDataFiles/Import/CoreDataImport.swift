#if SQLite
    import StrataFiles
    import StrataStorage

    /// One import of a store into a new file, or of what changed since the last one.
    ///
    /// 1. The store is copied, and the import opens the copy alone.
    /// 2. A first import writes `NEW.importing` in batches, and renames it when it is complete. After a kill the same
    ///    command goes on behind the last row that was durable.
    /// 3. A later import is one transaction of the file: all of it counts, or nothing.
    /// 4. The keys of all rows are read before the first row is written. So a link is written with its row, whose
    ///    target is in the file at the end: a target that the store does not have is a finding, and never a link.
    package struct CoreDataImport {
        package struct Options: Sendable {
            package var modelPath: String?
            package var mapping = CoreDataMapping()
            /// All values are compared, and not only those of rows whose Z_OPT changed.
            package var comparesAll = false
            package var rowsPerBatch = 50_000
            /// Called when a batch of a first import is committed.
            package var afterBatch: @Sendable () -> Void = {}
            /// Rows done, and all; called now and then.
            package var progress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
            /// Asked between rows; the import then ends with `stopped`.
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
            // A row of columns is smaller than one of SQLite; indexes of links and the checkpoint take as much again.
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
                var work = try ImportWork(copy, file, target, options)
                if isThere { try work.update() } else { try work.load(isResumed: isResumed) }
                work.fill(&report)
                if !isThere { report.way = isResumed ? .resumed : .first }
                try target.store.close()
            } catch {
                // The error that led here is the one to report; what is durable stays.
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
