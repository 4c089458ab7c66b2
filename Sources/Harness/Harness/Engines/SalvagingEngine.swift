/// An engine that can recover data from a damaged database. Capability `salvages`.
package protocol SalvagingEngine: Engine {
    /// The tool that recovers the data, for the report: `strata salvage`.
    var salvageMeans: String { get }

    /// Why this machine lacks that tool; nil if it has it. The harness asks before it forks a child.
    func reasonNotToSalvage() -> String?

    /// Recovers data into an empty location, as a database that the engine opens. It may change the damaged database,
    /// which is a copy.
    ///
    /// - Returns: the losses that the engine reports; nil for an engine that does not report losses.
    /// - Throws: an error of kind `damaged` if it finds nothing to recover; of another kind if it did not try.
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
        /// Number of lost rows in the range; nil if it is unknown.
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

    /// The loss of one table.
    package struct Loss: Sendable, Equatable {
        package var table: String
        package var rows = 0
        /// False if `rows` is a lower bound.
        package var isExact = true
        package var keys: [Keys] = []
        package var columns: [LostColumn] = []
        /// Recovered rows that may be outdated, or not of this database.
        package var uncertainRows = 0
        /// Links to lost rows that were removed.
        package var removedLinks = 0

        package init(table: String) { self.table = table }
    }

    /// One for every table that was recovered, or is known to be lost.
    package var losses: [Loss] = []
    /// Whether transactions after the last checkpoint are lost; which rows they changed is unknown.
    package var losesTransactions = false
    /// Whether tables or columns were recovered under other names.
    package var losesNames = false
    /// Whether nothing is missing, and nothing is older than it was.
    package var isWhole = true

    package init() {}
}
