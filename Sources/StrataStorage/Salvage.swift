package import StrataFiles

/// Gets everything that still verifies out of a damaged store, into a new one.
package enum Salvage {
    /// Writes what can be read of the store at `path` into a new store at `destination`, which appears whole or not at
    /// all. The damaged store, and its log, stay as they are.
    ///
    /// - Returns: what was recovered, and what is lost.
    /// - Throws: `notAStore` when nothing of a store can be found; `keyRequired`, `wrongKey`, `notEncrypted`; `inUse`;
    ///   `file` with EEXIST when something stands at the destination; `noSpace`.
    /// - Complexity: reads the file once, twice where branches are lost; memory for the longest transaction and for a
    ///   note per group of rows.
    package static func run(
        from path: String, to destination: String, fileSystem: any FileSystem = POSIXFileSystem(),
        options: SalvageOptions = SalvageOptions()
    ) throws(StorageError) -> SalvageReport {
        let unfinished = destination + ".salvaging"
        do throws(FileError) {
            if try fileSystem.status(destination) != nil { throw FileError(.open, path: destination, errno: 17) }
            if try fileSystem.status(path) == nil { throw FileError(.open, path: path, errno: 2) }
        } catch {
            throw StorageError(error)
        }
        let survey = try SalvageSurvey(try SalvageSource(path, fileSystem, options))
        try removeUnfinished(unfinished, fileSystem)
        var plain = StoreOptions(fileSystem: fileSystem, durability: .none)
        plain.limits = options.limits
        plain.cipher = options.cipher
        let store = try Store.openPlain(path: unfinished, options: plain, isAlone: true)
        do throws(StorageError) {
            let report = try SalvageWriter(survey, store, options).write()
            try store.close()
            do throws(FileError) {
                try fileSystem.rename(unfinished, to: destination)
                try fileSystem.syncDirectory(of: destination)
            } catch {
                throw StorageError(error)
            }
            return report
        } catch {
            // The first failure is what the caller has to hear about.
            do throws(StorageError) { try store.close() } catch {}
            do throws(StorageError) { try removeUnfinished(unfinished, fileSystem) } catch {}
            throw error
        }
    }

    /// What ``run(from:to:fileSystem:options:)`` would report, with every node of the newest state read and verified;
    /// nothing is written. Links to lost rows are not counted.
    package static func examine(
        _ path: String, fileSystem: any FileSystem = POSIXFileSystem(), options: SalvageOptions = SalvageOptions()
    ) throws(StorageError) -> SalvageReport {
        let survey = try SalvageSurvey(try SalvageSource(path, fileSystem, options))
        var counted = SalvageCount(survey)
        for table in survey.schema.tables {
            try counted.read(table, options) { (_, _, _) throws(StorageError) in true }
        }
        return counted.finished()
    }

    private static func removeUnfinished(
        _ path: String, _ fileSystem: any FileSystem
    ) throws(StorageError) {
        do throws(FileError) {
            for name in [path, Store.logPath(path)] where try fileSystem.status(name) != nil {
                try fileSystem.remove(name)
            }
        } catch {
            throw StorageError(error)
        }
    }
}

/// Reads the groups of each table and keeps the books.
struct SalvageCount {
    let survey: SalvageSurvey
    var report: SalvageReport

    init(_ survey: SalvageSurvey) {
        self.survey = survey
        report = survey.report
        report.tables = survey.schema.tables.map { SalvageReport.Table(id: $0.id, name: $0.name) }
    }

    func position(_ table: TableID) -> Int? { report.tables.firstIndex { $0.id == table } }

    /// Hands out all rows of a table that can be read, in key order within each group.
    /// - Parameter body: returns false when the row is there already.
    mutating func read(
        _ definition: TableDefinition, _ options: SalvageOptions,
        _ body: (_ key: Int64, _ created: UInt64, UnsafeBufferPointer<Cell>) throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard let index = position(definition.id),
            let found = survey.tables.first(where: { $0.id == definition.id })
        else { return }
        let layout = TableLayout(definition)
        var table = report.tables[index]
        var lost = found.lost
        for piece in found.pieces {
            let opened = SalvagedGroup(piece.reference, definition, layout, survey.source)
            guard var group = opened else {
                Self.add([SalvageReport.KeyRange(low: piece.low, high: piece.high, rows: piece.rows)], &table, options)
                continue
            }
            var rows = 0
            try group.forEachRow(within: piece.low...max(piece.low, piece.high)) {
                (key, created, cells) throws(StorageError) in
                if try body(key, created, cells) { rows += 1 }
            }
            table.rowsRecovered += rows
            if let loss = piece.loss {
                lost[loss].recovered += rows
                if !report.hasFreeMap { table.rowsUncertain += rows }
                lost[loss].known += group.losses.rows
            } else {
                Self.add(group.losses.rows, &table, options)
            }
            add(group.losses, definition, &table, options)
        }
        for subtree in lost { Self.add(subtree, &table, options) }
        report.tables[index] = table
    }

    private static func add(
        _ ranges: [SalvageReport.KeyRange], _ table: inout SalvageReport.Table, _ options: SalvageOptions
    ) {
        for range in ranges {
            table.rowsLost += range.rows ?? 0
            if range.rows == nil { table.isLossExact = false }
            if table.lostKeys.count < options.listed { table.lostKeys.append(range) }
        }
    }

    /// A lost subtree's rows, less those that were found again below it.
    private static func add(
        _ lost: LostSubtree, _ table: inout SalvageReport.Table, _ options: SalvageOptions
    ) {
        let known = lost.known.reduce(0) { $0 + ($1.rows ?? 0) }
        let missing = lost.rows.map { max(0, $0 - lost.recovered) }
        if let missing, missing == known {
            add(lost.known, &table, options)
            return
        }
        if let missing {
            add([SalvageReport.KeyRange(low: lost.low, high: lost.high, rows: missing)], &table, options)
        } else {
            add(lost.known, &table, options)
            add([SalvageReport.KeyRange(low: lost.low, high: lost.high, rows: nil)], &table, options)
        }
    }

    private func add(
        _ losses: SalvagedGroup.Losses, _ definition: TableDefinition, _ table: inout SalvageReport.Table,
        _ options: SalvageOptions
    ) {
        table.valuesLost += losses.values
        for (column, ranges) in losses.columns.enumerated() where !ranges.isEmpty {
            let id = definition.columns[column].id
            if !table.lostColumns.contains(where: { $0.id == id }) {
                table.lostColumns.append(
                    SalvageReport.LostColumn(id: id, name: definition.columns[column].name, rows: 0, keys: []))
            }
            for entry in table.lostColumns.indices where table.lostColumns[entry].id == id {
                table.lostColumns[entry].rows += ranges.reduce(0) { $0 + ($1.rows ?? 0) }
                let room = options.listed - table.lostColumns[entry].keys.count
                table.lostColumns[entry].keys += ranges.prefix(max(0, room))
            }
        }
    }

    /// The report, with all damage that was met.
    func finished() -> SalvageReport {
        var result = report
        let isExact = !result.tables.allSatisfy(\.isLossExact) && !survey.mayLackNodes()
        for index in result.tables.indices where isExact {
            result.tables[index].lostKeys.removeAll { $0.rows == nil }
            result.tables[index].isLossExact = true
        }
        result.damage = survey.source.damage.sorted { $0.page < $1.page }
        result.unlistedDamage = survey.source.unlistedDamage
        if let log = survey.log, result.log == .none { result.log = log.isLost ? .lost : .none }
        return result
    }
}
