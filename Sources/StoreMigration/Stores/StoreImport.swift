#if SQLite
    import CoreDataFiles

    /// What an import brought over.
    public struct StoreImport: Sendable, CustomStringConvertible {
        /// Rows of the store.
        public var rows = 0
        /// Lists: ordered and many-to-many relationships of a record.
        public var lists = 0
        /// What was found beside that, in sentences: keys that lead nowhere, values of another type, what was guessed.
        public var notes: [String] = []

        public var description: String { "\(rows) rows and \(lists) lists" }
    }

    extension CoreDataStore {
        /// Makes the file that a ``StrataStore`` opens with the models of this adapter, as
        /// `strata coredata import` does. Done again it brings over what has changed.
        ///
        /// The store must be open nowhere, in this process neither.
        /// - Parameter model: a compiled model, `.mom` or `.momd`; without one, what the store itself has.
        /// - Throws: what the import says, with the remedy.
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
