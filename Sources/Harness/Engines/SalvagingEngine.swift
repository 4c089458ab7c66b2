/// An engine that can recover data from a damaged database. Capability `salvages`.
package protocol SalvagingEngine: Engine {
    /// The tool that does so, for the report: `strata salvage`.
    var salvageMeans: String { get }

    /// Why this machine lacks that tool; nil where it has it. Asked before any child is forked.
    func reasonNotToSalvage() -> String?

    /// Recovers data into an empty location, as a database that the engine opens. The damaged database is a copy that
    /// may be changed.
    ///
    /// - Returns: the losses that the engine reports; nil for an engine that does not report losses.
    /// - Throws: of kind `damaged` where it finds nothing to recover; of another kind where it did not try.
    func salvage(
        _ damaged: DatabaseLocation, into rescued: DatabaseLocation
    ) throws(EngineError) -> SalvageClaim?
}

extension SalvagingEngine {
    package func reasonNotToSalvage() -> String? { nil }
}

/// The losses that an engine reports after recovering a damaged database.
package struct SalvageClaim: Sendable, Equatable {
    /// A range of keys, both ends included.
    package struct Keys: Sendable, Equatable {
        package var low: Int64
        package var high: Int64
        /// Number of lost rows in the range; nil where it is unknown.
        package var rows: Int?

        package init(low: Int64, high: Int64, rows: Int?) {
            self.low = low
            self.high = high
            self.rows = rows
        }

        package func contains(_ key: Int64) -> Bool { low <= key && key <= high }
    }

    /// A column that rows have lost: it now reads as its default or as null.
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

    /// Loss of one table.
    package struct Loss: Sendable, Equatable {
        package var table: String
        package var rows = 0
        /// False where the count is a lower bound.
        package var isExact = true
        package var keys: [Keys] = []
        package var columns: [LostColumn] = []
        /// Recovered rows that may be outdated, or not of this database.
        package var uncertainRows = 0
        /// Links to lost rows that were removed.
        package var removedLinks = 0

        package init(table: String) { self.table = table }
    }

    /// Every table that was recovered, or is known to be lost.
    package var losses: [Loss] = []
    /// Transactions after the last checkpoint are lost; which rows they made is unknown.
    package var losesTransactions = false
    /// Tables or columns were recovered under other names.
    package var losesNames = false
    /// Nothing is missing, and nothing is older than it was.
    package var isWhole = true

    package init() {}
}
