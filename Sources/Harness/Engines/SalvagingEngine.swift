/// An engine that gets back what it can of a damaged database, by means of its own. Capability `salvages`.
package protocol SalvagingEngine: Engine {
    /// What does it, for the report: `strata salvage`.
    var salvageMeans: String { get }

    /// Why this machine lacks those means; nil where it has them. Asked before any child is forked.
    func reasonNotToSalvage() -> String?

    /// Puts what can be got back into an empty location, as a database that the engine opens. The damaged one is a copy
    /// that may be changed.
    ///
    /// - Returns: what the engine says that is missing there; nil for one that says nothing of it, whatever is.
    /// - Throws: of kind `damaged` where it finds nothing to be got back; of another kind why it did not try.
    func salvage(
        _ damaged: DatabaseLocation, into rescued: DatabaseLocation
    ) throws(EngineError) -> SalvageClaim?
}

extension SalvagingEngine {
    package func reasonNotToSalvage() -> String? { nil }
}

/// What an engine says that it could not get back of a damaged database.
package struct SalvageClaim: Sendable, Equatable {
    /// Keys between two ends, both included.
    package struct Keys: Sendable, Equatable {
        package var low: Int64
        package var high: Int64
        /// Rows among them that are meant; nil where nothing says how many.
        package var rows: Int?

        package init(low: Int64, high: Int64, rows: Int?) {
            self.low = low
            self.high = high
            self.rows = rows
        }

        package func contains(_ key: Int64) -> Bool { low <= key && key <= high }
    }

    /// A column that rows have lost, and read as its default or as null.
    package struct LostColumn: Sendable, Equatable {
        package var name: String
        package var rows: Int
        package var keys: [Keys]

        package init(name: String, rows: Int, keys: [Keys]) {
            self.name = name
            self.rows = rows
            self.keys = keys
        }
    }

    /// Of a table.
    package struct Loss: Sendable, Equatable {
        package var table: String
        package var rows = 0
        /// False where at least so many are lost.
        package var isExact = true
        package var keys: [Keys] = []
        package var columns: [LostColumn] = []
        /// Rows that came back and may be older, or none of this database.
        package var uncertainRows = 0
        /// Links to lost rows that were taken out.
        package var removedLinks = 0

        package init(table: String) { self.table = table }
    }

    /// Every table that came back, or that is known to be lost.
    package var losses: [Loss] = []
    /// Transactions behind the last checkpoint are lost; nothing says which rows they made.
    package var losesTransactions = false
    /// Tables or columns came back under other names.
    package var losesNames = false
    /// Nothing is missing, and nothing may be older than it was.
    package var isWhole = true

    package init() {}
}
