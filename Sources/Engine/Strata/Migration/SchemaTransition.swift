import StrataStorage

/// The schema in between of a file that is migrated, and its final schema.
///
/// Until the migration ends, no data is lost or invented. Removed columns stay, hidden, so that a renaming changes a
/// name and no data. A property that becomes required, or changes its type, may be null until every row has a value.
struct SchemaTransition {
    /// The file's schema before the migration.
    let old: StoreSchema
    /// The file's schema after the migration. Renamings change it.
    private(set) var final: StoreSchema
    /// Classes whose data is removed at the end.
    var removed: Set<TableID> = []

    /// Marks the tag of a hidden column: ``ColumnTag/init(rawValue:)`` refuses it, so that no property has the column.
    private static let hiddenTag: UInt32 = 1 << 31
    private static let hiddenPrefix = "\u{7F}"

    /// - Parameter wanted: the new schema, in which a changed property has a new column.
    init(from old: StoreSchema, to wanted: StoreSchema) {
        self.old = old
        final = wanted
        for position in final.tables.indices {
            guard let before = old.table(final.tables[position].id) else { continue }
            var columns = final.tables[position].columns
            for (index, column) in columns.enumerated() where before.position(of: column.id) == nil {
                guard let known = before.column(named: column.name), Self.canKeep(known, as: column) else { continue }
                columns[index].id = known.id
            }
            final.tables[position].columns = columns
        }
    }

    /// Whether the values of one column are valid for the other without conversion, apart from nulls.
    static func canKeep(_ old: ColumnDefinition, as new: ColumnDefinition) -> Bool {
        guard old.type == new.type, old.target == new.target, old.keepsPlaces == new.keepsPlaces,
            let before = ColumnTag(rawValue: old.tag), let after = ColumnTag(rawValue: new.tag),
            before.collection == after.collection
        else { return false }
        if before.collection != .none && before.isOptional && !after.isOptional { return false }
        return before.type == after.type || (before.type == .float && after.type == .double)
    }

    // MARK: The transitional schema

    /// The schema in between: the final one, with nulls where values may still be missing, and with hidden columns.
    var transitional: StoreSchema {
        var schema = final
        for position in schema.tables.indices {
            guard let before = old.table(schema.tables[position].id) else { continue }
            if isNewlyEmbedded(schema.tables[position]) {
                // Until the migration ends, an object of the class may have several links to it, and is not deleted
                // with an owner.
                schema.tables[position].tag = TableTag.noPrimaryKey
            }
            var columns = schema.tables[position].columns
            for index in columns.indices {
                let column = columns[index]
                let known = before.column(column.id)
                if known?.isOptional == true {
                    columns[index].isOptional = true
                } else if isRetyped(column, in: before), !Self.isCollection(column) {
                    columns[index].isOptional = true
                    columns[index].defaultBits = nil
                }
            }
            for column in before.columns where schema.tables[position].position(of: column.id) == nil {
                var hidden = column
                hidden.name = Self.hiddenPrefix + column.name
                hidden.tag |= Self.hiddenTag
                hidden.index = .none
                columns.append(hidden)
            }
            schema.tables[position].columns = columns
        }
        return schema
    }

    /// Whether a class became embedded.
    private func isNewlyEmbedded(_ table: TableDefinition) -> Bool {
        table.tag == TableTag.embedded && old.table(table.id).map { $0.tag != table.tag } ?? false
    }

    var newlyEmbedded: [TableDefinition] { final.tables.filter(isNewlyEmbedded) }

    /// Whether a column is new under the name of an old column, or of the old row key, of another type.
    private func isRetyped(_ column: ColumnDefinition, in before: TableDefinition) -> Bool {
        guard before.position(of: column.id) == nil else { return false }
        return before.position(named: column.name) != nil
            || before.rowKeyProperty == column.name
                && (column.type != .integer || Self.isCollection(column))
    }

    static func isCollection(_ column: ColumnDefinition) -> Bool {
        column.type == .links || ColumnTag(rawValue: column.tag)?.collection != _PropertyCollection.none
    }

    /// A property whose values have to be checked before the migration ends.
    struct Property: Hashable {
        var table: TableID
        var className: String
        var column: ColumnID
        var name: String
        /// The property's column in the old schema; nil if it was the row key.
        var oldColumn: ColumnID?
        var mayBeNull: Bool
        /// Lists, sets and maps are never null.
        var isCollection: Bool
    }

    /// Properties that were optional and became required.
    var required: [Property] {
        properties { before, column in
            guard let known = before.column(column.id), known.isOptional,
                !column.isOptional
            else { return nil }
            return .some(known.id)
        }
    }

    /// Properties whose type changed.
    var retyped: [Property] {
        properties { before, column in
            guard isRetyped(column, in: before) else { return nil }
            return .some(before.column(named: column.name)?.id)
        }
    }

    private func properties(_ oldColumn: (TableDefinition, ColumnDefinition) -> ColumnID??) -> [Property] {
        final.tables.flatMap { table -> [Property] in
            guard let before = old.table(table.id) else { return [] }
            return table.columns.compactMap { column in
                guard let known = oldColumn(before, column) else { return nil }
                return Property(
                    table: table.id, className: table.name, column: column.id, name: column.name, oldColumn: known,
                    mayBeNull: column.isOptional, isCollection: Self.isCollection(column))
            }
        }
    }

    // MARK: Renaming

    /// Assigns the column of an old property to a new one.
    /// - Returns: false if either has no column.
    mutating func keep(_ oldName: String, as newName: String, in className: String) -> Bool {
        guard let position = final.position(named: className),
            let before = old.table(final.tables[position].id),
            let known = before.column(named: oldName),
            let index = final.tables[position].position(named: newName)
        else { return false }
        final.tables[position].columns[index].id = known.id
        return true
    }

    /// Makes a new property the row key, like the old one.
    mutating func keepKey(as newName: String, in className: String) {
        guard let position = final.position(named: className) else { return }
        final.tables[position].columns.removeAll { $0.name == newName }
        final.tables[position].tag = TableTag.primaryKeyIsRowKey
        final.tables[position].information = Array(newName.utf8)
    }

    /// Removes the deleted classes, unless another class links to them.
    /// - Returns: those that have to stay, without their objects.
    mutating func removeClasses() -> [TableID] {
        var linked: Set<TableID> = []
        for table in final.tables where !removed.contains(table.id) {
            for column in table.columns { if let target = column.target { linked.insert(target) } }
        }
        let kept = removed.intersection(linked)
        final.tables.removeAll { removed.contains($0.id) && !kept.contains($0.id) }
        return Array(kept)
    }
}
