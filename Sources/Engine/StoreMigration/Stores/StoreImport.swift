#if SQLite
    import CoreDataFiles

    /// The result of an import.
    public struct StoreImport: Sendable, CustomStringConvertible {
        /// Rows of the store.
        public var rows = 0
        /// Lists: ordered and many-to-many relationships of a record.
        public var lists = 0
        /// Further findings in sentences: dangling keys, values of another type, guesses.
        public var notes: [String] = []

        public var description: String { "\(rows) rows and \(lists) lists" }
    }

    extension CoreDataStore {
        /// Makes the file that a ``StrataStore`` opens with the models of this adapter, as `strata coredata import`
        /// does. A repeated import transfers the changes.
        ///
        /// No process, including this one, may have the store open.
        /// - Parameter model: a compiled model, `.mom` or `.momd`; nil to use the store's cached model.
        /// - Throws: the import's error, with the remedy.
        @discardableResult
        public static func importStore(
            _ path: String, to destination: String, model: String? = nil
        ) throws -> StoreImport {
            var options = CoreDataImport.Options()
            options.modelPath = model
            let report = try CoreDataImport(path, to: destination, options).run()
            return StoreImport(rows: report.rows, lists: report.lists, notes: report.notes + report.findings.summary)
        }
    }
#endif
