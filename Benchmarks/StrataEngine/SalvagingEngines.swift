import Harness
import StrataFiles
import StrataRepair
import StrataStorage

extension StorageEngine: SalvagingEngine {
    package var salvageMeans: String { "strata salvage" }

    package func salvage(
        _ damaged: DatabaseLocation, into rescued: DatabaseLocation
    ) throws(EngineError) -> SalvageClaim? {
        try Self.salvage(from: damaged.mainFile, to: rescued.mainFile, key)
    }

    static func salvage(
        from path: String, to target: String, _ key: StoreKey?
    ) throws(EngineError) -> SalvageClaim {
        do throws(StorageError) {
            var options = SalvageOptions()
            options.cipher = key?.cipher
            return SalvageClaim(try Salvage.run(from: path, to: target, options: options))
        } catch {
            throw EngineError(error)
        }
    }
}

extension StrataEngine: SalvagingEngine {
    package var salvageMeans: String { StorageEngine().salvageMeans }

    package func salvage(
        _ damaged: DatabaseLocation, into rescued: DatabaseLocation
    ) throws(EngineError) -> SalvageClaim? {
        guard let group = ClassGroup.found(at: damaged, in: POSIXFileSystem()) else {
            throw EngineError(.refused, "there is no database")
        }
        return try StorageEngine.salvage(from: group.path(at: damaged), to: group.path(at: rescued), key)
    }
}

extension SalvageClaim {
    init(_ report: SalvageReport) {
        self.init()
        losses = report.tables.map(Loss.init)
        losesNames = report.schema != .current
        isWhole = report.isWhole
        switch report.log {
        case .none, .replayed: break
        case .partly, .lost: losesTransactions = true
        }
    }
}

extension SalvageClaim.Loss {
    fileprivate init(_ table: SalvageReport.Table) {
        self.init(table: table.name)
        rows = table.rowsLost
        isExact = table.isLossExact
        keys = table.lostKeys.map(SalvageClaim.Keys.init)
        columns = (table.lostColumns + table.lostValues).map { column in
            SalvageClaim.LostColumn(
                name: column.name, rows: column.rows, keys: column.keys.map(SalvageClaim.Keys.init))
        }
        uncertainRows = table.rowsUncertain
        removedLinks = table.linksRemoved
        // Elements are in collections, which are named by the key of their row.
        columns += table.lostElements.map { lost in
            SalvageClaim.LostColumn(
                name: lost.name, rows: 1, keys: [SalvageClaim.Keys(low: lost.key, high: lost.key, rows: 1)])
        }
    }
}

extension SalvageClaim.Keys {
    fileprivate init(_ range: SalvageReport.KeyRange) {
        self.init(low: range.low, high: range.high, rows: range.rows)
    }
}
