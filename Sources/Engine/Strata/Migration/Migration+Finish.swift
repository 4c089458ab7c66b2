import StrataStorage

// Checks before a migration is committed. All errors are collected, so that one run reports them together.

extension Migration {
    /// Checks the result of the block, and applies the final schema.
    /// - Throws: errors that the block did not throw; missing values, and duplicate primary keys.
    func finish() throws(RealmError) {
        if let failure = target.failure { throw failure }
        target.write?.deleteParentless()
        try checkRenamings()
        try checkValues()
        try checkPrimaryKeys()
        do throws(StorageError) { try applyFinalSchema() } catch { throw RealmError(error) }
        try embed()
        if let view = target.transaction?.view { try ClassPlan.uniqueOffence(target.file.configuration.plans(), view) }
        if let failure = target.failure { throw failure }
    }

    /// Gives every object of a class that became embedded a single parent.
    private func embed() throws(RealmError) {
        let names = transition.newlyEmbedded.map(\.name)
        guard !names.isEmpty, let transaction = target.transaction else { return }
        let offence: RealmError?
        do throws(StorageError) {
            try EmbeddedConversion(transaction).run()
            offence = try EmbeddedCheck(transaction.view).firstOffence(in: names)
        } catch {
            throw RealmError(error)
        }
        if let offence { throw offence }
        target.invalidatePlaces()
    }

    private func applyFinalSchema() throws(StorageError) {
        guard let transaction = target.transaction else { return }
        for table in transition.removeClasses() {
            guard let position = transaction.view.schema.position(of: table) else { continue }
            try transaction.deleteAll(position)
        }
        guard transaction.view.schema != transition.final else { return }
        try transaction.apply(schema: transition.final)
        target.schemaDidChange()
    }

    /// A renaming to a name that no property has would lose the property's values.
    private func checkRenamings() throws(RealmError) {
        for (className, names) in aliases.sorted(by: { $0.key < $1.key }) {
            guard let (name, original) = names.min(by: { $0.key < $1.key }) else { continue }
            throw RealmError(
                .invalidInput,
                "'\(className).\(original)' was renamed to '\(name)', which neither the new schema has nor another "
                    + "renaming goes on from")
        }
    }

    // MARK: Values

    private func checkValues() throws(RealmError) {
        #if Zoo
            if PlantedMistake.nullsBlank.isPlanted { return }
        #endif
        var missing: [String] = []
        do throws(StorageError) {
            for property in transition.required {
                let count = try nulls(property)
                if count > 0 {
                    missing.append(
                        "'\(property.className).\(property.name)' is required now and \(Self.objects(count)) no value")
                }
            }
            for property in transition.retyped where !isRuled(property) {
                let count = try unconverted(property)
                if count > 0 {
                    missing.append(
                        "'\(property.className).\(property.name)' changed its type and \(Self.objects(count)) no value "
                            + "of the new one")
                }
            }
            for property in transition.retyped where isRuled(property) && !property.mayBeNull && !property.isCollection
            {
                let count = try nulls(property)
                if count > 0 {
                    missing.append(
                        "the rule for '\(property.className).\(property.name)' left \(count) objects without a value")
                }
            }
        } catch {
            throw RealmError(error)
        }
        if missing.isEmpty { return }
        throw RealmError(
            .missingValues,
            missing.joined(separator: "; ")
                + ". Nothing was changed. Give each a value in the migration: by enumerateObjects, fillNulls or "
                + "convertProperty")
    }

    private static func objects(_ count: Int) -> String { count == 1 ? "1 object has" : "\(count) objects have" }

    private func isRuled(_ property: SchemaTransition.Property) -> Bool {
        ruled.contains(RuledProperty(className: property.className, name: property.name))
    }

    private func place(_ property: SchemaTransition.Property) -> (view: ReadView, table: Int, column: Int)? {
        guard !transition.removed.contains(property.table), let view = target.currentView,
            let table = view.schema.position(of: property.table),
            let column = view.schema.tables[table].position(of: property.column)
        else { return nil }
        return (view, table, column)
    }

    private func nulls(_ property: SchemaTransition.Property) throws(StorageError) -> Int {
        guard let place = place(property) else { return 0 }
        return try place.view.count(place.table, where: .null(place.column))
    }

    /// The number of objects that lack a value since the type of a property changed; 0 if that is no error.
    ///
    /// For a required property, each null counts. For an optional one and a collection, missing values may be intended:
    /// they are an error only if no object has a value, and then the objects that had one before count.
    private func unconverted(_ property: SchemaTransition.Property) throws(StorageError) -> Int {
        guard let place = place(property) else { return 0 }
        if property.isCollection {
            return try filled(place.view, place.table, place.column) > 0 ? 0 : try oldValues(property)
        }
        let missing = try nulls(property)
        if missing == 0 { return 0 }
        let rows = try place.view.rowCount(place.table)
        guard property.mayBeNull else { return missing }
        if missing < rows { return 0 }
        return try oldValues(property)
    }

    /// Number of objects with a value in the old property.
    private func oldValues(_ property: SchemaTransition.Property) throws(StorageError) -> Int {
        guard let view = source.currentView, let table = view.schema.position(of: property.table) else { return 0 }
        let rows = try view.rowCount(table)
        guard let id = property.oldColumn, let column = view.schema.tables[table].position(of: id) else { return rows }
        if property.isCollection, SchemaTransition.isCollection(view.schema.tables[table].columns[column]) {
            return try filled(view, table, column)
        }
        return rows - (try view.count(table, where: .null(column)))
    }

    /// Number of rows whose list, set or map is not empty.
    private func filled(_ view: ReadView, _ table: Int, _ column: Int) throws(StorageError) -> Int {
        var count = 0
        // Collections that the migration has changed are read after the scan.
        var changed: [RowKey] = []
        let isWritten = view.hasOpenCollections
        try view.scan(table, columns: [column]) { (batch) throws(StorageError) in
            for row in 0..<batch.count where !batch.isNull(0, row) && !batch.bytes(0, row).isEmpty {
                if isWritten && batch.isTree(0, row) { changed.append(batch.key(row)) } else { count += 1 }
            }
            return true
        }
        for key in changed where try CollectionReader(view, table: table, key: key, column: column).count > 0 {
            count += 1
        }
        return count
    }

    // MARK: Primary keys

    private func checkPrimaryKeys() throws(RealmError) {
        #if Zoo
            if PlantedMistake.duplicatesUnchecked.isPlanted { return }
        #endif
        guard let view = target.currentView else { return }
        var problems: [String] = []
        for (position, table) in view.schema.tables.enumerated() where isWanted(table.name) {
            guard let access = target.access(named: table.name, typed: false), let primary = access.primary,
                primary.column >= 0
            else { continue }
            let found: DuplicateValues
            do throws(StorageError) { found = try view.duplicates(position, primary.column, limit: 5) } catch {
                throw RealmError(error)
            }
            if found.rows == 0 { continue }
            do throws(StorageError) {
                let shown = try found.examples.map { (row) throws(StorageError) -> String in
                    guard let place = try view.locate(position, row) else { return "?" }
                    let value = try view.value(place, primary.column, primary.tag)
                    return value.any(as: primary.tag.type).map { "\($0)" } ?? "nil"
                }
                let more = found.values > shown.count ? " and \(found.values - shown.count) more" : ""
                problems.append(
                    "the primary key '\(table.name).\(primary.name)' has the "
                        + "\(found.values == 1 ? "value" : "values") \(shown.joined(separator: ", "))\(more) more than "
                        + "once: \(found.rows) objects")
            } catch {
                throw RealmError(error)
            }
        }
        if problems.isEmpty { return }
        throw RealmError(
            .duplicateKey,
            problems.joined(separator: "; ")
                + ". Nothing was changed. Give each object a key of its own in the migration, or delete what is double")
    }
}
