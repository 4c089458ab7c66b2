internal import StrataStorage

/// Reads the groups of each table, and counts recovered and lost rows of each class.
struct SalvageCount {
    let survey: SalvageSurvey
    var report: SalvageReport
    /// Gaps in the collections that `read` has passed on.
    private(set) var gaps: [CollectionOwner: CollectionGaps] = [:]
    private let listed: Int
    /// Index of each table in the report.
    private var places = DefinitionPlaces<TableID>()

    init(_ survey: SalvageSurvey, _ options: SalvageOptions) {
        self.survey = survey
        listed = options.listed
        report = survey.report
        report.tables = survey.schema.tables.map { SalvageReport.Table(id: $0.id, name: $0.name) }
    }

    func position(_ table: TableID) -> Int? { places.first(table, in: report.tables) { $0.id } }

    /// Adopts another schema's tables for the report.
    mutating func rearrange(_ schema: StoreSchema) {
        let known = report.tables
        let before = places
        report.tables = schema.tables.map { definition in
            var table =
                before.first(definition.id, in: known) { $0.id }.map { known[$0] }
                ?? SalvageReport.Table(id: definition.id, name: definition.name)
            table.name = definition.name
            return table
        }
        places = DefinitionPlaces()
    }

    /// Calls `body` with all readable rows of a table, in key order within each group.
    /// - Parameter body: returns false if the row exists already.
    mutating func read(
        _ definition: TableDefinition,
        _ body: (_ key: Int64, _ created: UInt64, UnsafeBufferPointer<Cell>) throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard let index = position(definition.id),
            let found = survey.table(definition.id)
        else { return }
        let layout = TableLayout(definition)
        var table = report.tables[index]
        var lost = found.lost
        for piece in found.pieces {
            let opened =
                piece.isElsewhere
                ? nil
                : SalvagedGroup(piece.reference, definition, layout: layout, source: survey.source, survey: survey)
            guard var group = opened else {
                add([SalvageReport.KeyRange(low: piece.low, high: piece.high, rows: piece.rows)], &table)
                continue
            }
            var (rows, repeated) = (0, 0)
            try group.forEachRow(within: piece.low...max(piece.low, piece.high)) {
                (key, created, cells) throws(StorageError) in
                if try body(key, created, cells) { rows += 1 } else { repeated += 1 }
            }
            table.rowsRecovered += rows
            if let loss = piece.loss {
                lost[loss].recovered += rows
                lost[loss].known += group.losses.rows
                table.rowsUncertain += rows
            } else {
                add(group.losses.rows, &table)
                // The branch counts other rows than the group has, so one of them is wrong.
                let counted = rows + group.losses.rows.reduce(0) { $0 + ($1.rows ?? 0) }
                if repeated > 0 || piece.rows != counted { table.isLossExact = false }
            }
            add(group.losses, definition, &table)
        }
        for subtree in lost { add(subtree, &table) }
        if table.rowsUncertain > 0 { table.isLossExact = false }
        report.tables[index] = table
    }

    private func add(_ ranges: [SalvageReport.KeyRange], _ table: inout SalvageReport.Table) {
        for range in ranges {
            table.rowsLost += range.rows ?? 0
            if range.rows == nil { table.isLossExact = false }
            if table.lostKeys.count < listed { table.lostKeys.append(range) }
        }
    }

    /// Adds a lost subtree's rows to the losses, except those that were recovered from groups below it.
    private func add(_ lost: LostSubtree, _ table: inout SalvageReport.Table) {
        if let rows = lost.rows {
            if rows <= lost.recovered { return }
            // Verified branches below give the ranges, if their counts agree with the one above.
            let known = lost.known.reduce(0) { $0 + ($1.rows ?? 0) }
            if known == rows - lost.recovered { return add(lost.known, &table) }
            add([SalvageReport.KeyRange(low: lost.low, high: lost.high, rows: rows - lost.recovered)], &table)
        } else {
            add([SalvageReport.KeyRange(low: lost.low, high: lost.high, rows: nil)], &table)
        }
    }

    private mutating func add(
        _ losses: SalvagedGroup.Losses, _ definition: TableDefinition, _ table: inout SalvageReport.Table
    ) {
        table.creationsLost += losses.creations
        for (column, definition) in definition.columns.enumerated() {
            add(losses.columns[column].ranges, definition, to: &table.lostColumns)
            add(losses.values[column].ranges, definition, to: &table.lostValues)
            for losses in losses.elements[column] {
                let owner = CollectionOwner(table: table.id.rawValue, column: definition.id, key: losses.key)
                gaps[owner] = CollectionGaps(
                    losses.places, isKeyed: definition.collection?.isKeyed ?? false)
                table.elementsLost += losses.lost
                table.elementsUncertain += losses.uncertain
                if table.lostElements.count >= listed { continue }
                table.lostElements.append(
                    SalvageReport.LostElements(
                        id: definition.id, name: definition.name, key: losses.key, places: losses.places,
                        uncertain: losses.uncertain, lost: losses.lost, isOrderUncertain: losses.isOrderUncertain))
            }
        }
    }

    /// Notes that a set or a map did not ascend after the replay of the log, and was sorted.
    /// - Parameters:
    ///   - count: number of its elements now.
    ///   - leftOut: number of removed elements.
    mutating func noteOrdered(_ owner: CollectionOwner, _ column: ColumnDefinition, count: Int, leftOut: Int) {
        guard let index = position(TableID(owner.table)) else { return }
        report.tables[index].elementsLost += leftOut
        let known = report.tables[index].lostElements.firstIndex { $0.id == owner.column && $0.key == owner.key }
        if let known {
            report.tables[index].lostElements[known].leftOut = leftOut
            report.tables[index].lostElements[known].lost += leftOut
            return
        }
        report.tables[index].elementsUncertain += count
        if report.tables[index].lostElements.count >= listed { return }
        var losses = SalvageReport.LostElements(
            id: column.id, name: column.name, key: owner.key, places: [], uncertain: count, lost: leftOut,
            isOrderUncertain: false)
        losses.leftOut = leftOut
        report.tables[index].lostElements.append(losses)
    }

    private func add(
        _ ranges: [SalvageReport.KeyRange], _ column: ColumnDefinition, to list: inout [SalvageReport.LostColumn]
    ) {
        if ranges.isEmpty { return }
        let index = list.firstIndex { $0.id == column.id } ?? list.count
        if index == list.count {
            list.append(SalvageReport.LostColumn(id: column.id, name: column.name, rows: 0, keys: []))
        }
        list[index].rows += ranges.reduce(0) { $0 + ($1.rows ?? 0) }
        list[index].keys += ranges.prefix(max(0, listed - list[index].keys.count))
    }

    /// The report, with all damage found.
    func finished() -> SalvageReport {
        var result = report
        result.damage = survey.source.damage.sorted { $0.page < $1.page }
        result.unlistedDamage = survey.source.unlistedDamage
        if let log = survey.log, result.log == .none { result.log = log.isLost ? .lost : .none }
        var mayLackRows = result.schema != .current || result.start == .nodes
        switch result.log {
        case .none: break
        case .lost, .partly: mayLackRows = true
        case .replayed:
            // No header confirms that the log belongs to this store.
            if result.start == .root {
                for index in result.tables.indices {
                    result.tables[index].rowsUncertain = result.tables[index].rowsRecovered
                    result.tables[index].isLossExact = false
                }
            }
        }
        for index in result.tables.indices where mayLackRows { result.tables[index].isLossExact = false }
        #if Zoo
            if PlantedMistake.salvageLossUntold.isPlanted {
                for index in result.tables.indices {
                    (result.tables[index].rowsLost, result.tables[index].lostKeys) = (0, [])
                    result.tables[index].isLossExact = true
                }
            }
        #endif
        return result
    }
}
