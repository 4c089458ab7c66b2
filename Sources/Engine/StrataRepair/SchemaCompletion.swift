internal import StrataStorage

/// Completes a schema that is older than the rows, or lost. Tables and columns that no schema node knows get names made
/// of their ids, and columns the type of their segments.
struct SchemaCompletion {
    private let source: SalvageSource
    private let tables: [TableSurvey]

    /// - Parameter tables: those found in the file.
    init(_ source: SalvageSource, _ tables: [TableSurvey]) {
        self.source = source
        self.tables = tables
    }

    /// - Parameter schema: the newest schema that is readable; empty if none is.
    func completed(_ schema: StoreSchema) -> StoreSchema {
        var schema = schema
        var named = Set(schema.tables.map(\.id))
        for survey in tables {
            if named.insert(survey.id).inserted {
                schema.tables.append(TableDefinition(id: survey.id, name: "table-\(survey.id.rawValue)", columns: []))
            }
            schema.nextTableID = max(schema.nextTableID, survey.id.rawValue &+ 1)
        }
        let known = schema
        for survey in tables {
            guard let position = known.position(of: survey.id) else { continue }
            // Adds columns that are newer than the schema. Values of columns that the schema had dropped stay unused.
            let isNew = schema.tables[position].columns.isEmpty
            let next = isNew ? 1 : schema.nextColumnID
            for (id, kind) in columns(of: survey)
            where id.rawValue >= next && id.rawValue <= StoreSchema.lastColumnID {
                schema.tables[position].columns.append(
                    ColumnDefinition(id: id, name: "column-\(id.rawValue)", type: kind, isOptional: true))
            }
        }
        for column in schema.tables.flatMap(\.columns) where column.id.rawValue <= StoreSchema.lastColumnID {
            schema.nextColumnID = max(schema.nextColumnID, column.id.rawValue + 1)
        }
        return schema
    }

    /// Columns in the groups of a table, by id.
    private func columns(of survey: TableSurvey) -> [(ColumnID, ColumnType)] {
        var types: [UInt16: ColumnType] = [:]
        for piece in survey.pieces where !piece.isElsewhere {
            guard let node = source.node(piece.reference, .group, table: survey.id.rawValue) else { continue }
            let group = Group(node)
            for position in RowSet.firstUserColumn..<group.columns {
                let id = UInt16(truncatingIfNeeded: group.columnID(position))
                if types[id] != nil || id >= TableLayout.createdID { continue }
                types[id] = type(of: position, in: group, survey.id.rawValue)
            }
        }
        return types.sorted { $0.key < $1.key }.map { (ColumnID($0.key), $0.value) }
    }

    private func type(of position: Int, in group: Group, _ table: UInt32) -> ColumnType? {
        var segments: [Segment?] = []
        if group.inserted > 0 { segments.append(group.insertedSegment(position)) }
        let first = group.firstSegment(position)
        for number in first..<(first + group.segmentCount(position)) {
            segments.append(
                SalvagedGroup.segment(group, group.descriptor(number)) {
                    source.node($0, .segments, table: table)
                })
        }
        switch segments.lazy.compactMap({ $0 }).first?.kind {
        case .integer: return .integer
        case .double: return .double
        case .bytes: return .bytes
        case nil: return nil
        }
    }
}
