import StrataStorage

// Values of changed properties. A renaming is a change of the schema; the other operations process the rows in batches.

extension Migration {
    /// Moves the values of a property of the old schema to one of the new schema: plain values, links, lists, sets and
    /// maps, and primary keys.
    ///
    /// Names of versions in between may be used, so that renamings of several steps work if versions are skipped. An
    /// impossible renaming fails the migration with a message: an unknown property, one that the new schema still has,
    /// a name that the old schema had already, another type.
    /// - Complexity: O(1); O(rows) if only the new property has an index, or if the row key becomes a column.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        let original = aliases[typeName]?[oldName] ?? oldName
        let shown = "'\(typeName).\(oldName)'"
        guard let old = source.access(named: typeName, typed: false) else {
            return refuse("the old schema has no class '\(typeName)', so \(shown) cannot be renamed")
        }
        guard let from = old.property(original), from.column >= 0 || from.column == Int(ColumnSlot.key) else {
            let known = old.properties.map(\.name).joined(separator: ", ")
            return refuse("the old schema has no property \(shown) to rename; '\(typeName)' has \(known)")
        }
        guard let new = target.access(named: typeName, typed: false), isWanted(typeName) else {
            return refuse("the new schema has no class '\(typeName)', so \(shown) cannot be renamed")
        }
        if transition.final.tables[new.table].hasProperty(original) {
            return refuse(
                "\(shown) cannot be renamed to '\(newName)': the new schema still has '\(original)'; copy the values "
                    + "by enumerateObjects instead")
        }
        guard let into = new.property(newName) else {
            aliases[typeName, default: [:]][newName] = original
            aliases[typeName]?[oldName] = nil
            return
        }
        if old.property(newName) != nil {
            return refuse(
                "\(shown) cannot be renamed to '\(newName)': the old schema has '\(newName)' too, and its values would "
                    + "be lost; decide by enumerateObjects which ones are kept")
        }
        aliases[typeName]?[oldName] = nil
        rename(original, from: from, to: newName, into: into, old: old, new: new)
    }

    private func refuse(_ message: String) { fail(RealmError(.invalidInput, message)) }

    private func rename(
        _ oldName: String, from: BoundProperty, to newName: String, into: BoundProperty, old: ClassAccess,
        new: ClassAccess
    ) {
        let shown = "'\(old.name).\(oldName)'"
        if from.column == Int(ColumnSlot.key) {
            guard into.tag.type == .int, into.tag.collection == .none else {
                return refuse("\(shown) is an int, '\(newName)' \(into.tag.phrase); declare a convertProperty rule")
            }
            if into.tag.isPrimary && !into.tag.isOptional {
                transition.keepKey(as: newName, in: old.name)
                applyTransition()
            } else {
                CarriedKeys(source, target).copy(into: into, old, new)
            }
            return
        }
        guard into.column >= 0, let before = definition(from, old), let after = finalColumn(newName, new) else {
            return refuse("'\(new.name).\(newName)' is the row's key and cannot take the values of \(shown)")
        }
        guard SchemaTransition.canKeep(before, as: after) else {
            return refuse(
                "\(shown) cannot be renamed to '\(newName)': it is \(from.tag.phrase), '\(newName)' "
                    + "\(into.tag.phrase); declare a convertProperty rule")
        }
        #if Zoo
            if PlantedMistake.renameLosesValues.isPlanted { return }
        #endif
        if transition.keep(oldName, as: newName, in: old.name) { applyTransition() }
    }

    private func definition(_ property: BoundProperty, _ access: ClassAccess) -> ColumnDefinition? {
        guard property.column >= 0 else { return nil }
        return access.instance.currentView?.schema.tables[access.table].columns[property.column]
    }

    private func finalColumn(_ name: String, _ access: ClassAccess) -> ColumnDefinition? {
        transition.final.table(named: access.name)?.column(named: name)
    }

    /// Applies the transitional schema to the transaction.
    private func applyTransition() {
        do throws(StorageError) {
            try target.transaction?.apply(schema: transition.transitional)
            target.schemaDidChange()
        } catch {
            fail(RealmError(error))
        }
    }

    // MARK: Rules

    /// Gives a value to every object that has none in a property that became required.
    ///
    /// Objects that still have none at the end fail the migration.
    public func fillNulls(onType typeName: String, of property: String, with value: Any) {
        guard let new = target.access(named: typeName, typed: false), let into = new.property(property),
            into.column >= 0, let view = target.currentView
        else { return refuse("the new schema has no property '\(typeName).\(property)' to fill") }
        guard let stored = _flatten(value).flatMap({ _StoredValue(any: $0, as: into.tag.type) }),
            into.tag.collection == .none
        else { return refuse("'\(typeName).\(property)' cannot hold \(value)") }
        ruled.insert(RuledProperty(className: typeName, name: property))
        do throws(StorageError) {
            var from: Int64? = .min
            while let start = from {
                var nulls: [Int64] = []
                var last: Int64?
                try view.scan(new.table, columns: [into.column], from: RowKey(start)) { (batch) throws(StorageError) in
                    for row in 0..<batch.count where batch.isNull(0, row) { nulls.append(batch.keys[row]) }
                    last = batch.keys[batch.count - 1]
                    return false
                }
                for key in nulls { try set(table: new.table, key: key, column: into.column, to: stored) }
                from = last.flatMap { $0 == .max ? nil : $0 + 1 }
            }
        } catch {
            fail(RealmError(error))
        }
        target.invalidatePlaces()
    }

    /// Converts the values of a property whose type changed.
    ///
    ///     try migration.convertProperty(onType: "Person", "age") { ($0 as? Int).map(String.init) }
    /// - Parameters:
    ///   - oldName: its name in the old schema.
    ///   - newName: its name in the new schema; nil if unchanged.
    ///   - rule: called with the old value, nil if there was none; returns the new one, nil for none.
    public func convertProperty(
        onType typeName: String, _ oldName: String, to newName: String? = nil, _ rule: (Any?) throws -> Any?
    ) rethrows {
        let name = newName ?? oldName
        let original = aliases[typeName]?[oldName] ?? oldName
        guard let old = source.access(named: typeName, typed: false), old.property(original) != nil else {
            return refuse("the old schema has no property '\(typeName).\(oldName)' to convert")
        }
        guard let new = target.access(named: typeName, typed: false), let into = new.property(name),
            into.column >= 0
        else { return refuse("the new schema has no property '\(typeName).\(name)' to convert to") }
        aliases[typeName]?[oldName] = nil
        ruled.insert(RuledProperty(className: typeName, name: name))
        var unfit = UnfitValues(className: typeName, property: into)
        // Also if the rule throws and the caller catches the error: values would be missing.
        defer { if let failure = unfit.failure { fail(failure) } }
        try enumerateObjects(ofType: typeName) { oldObject, newObject in
            guard let oldObject, let newObject else { return }
            let value = try rule(oldObject[original])
            if unfit.note(value) { return }
            #if Zoo
                let isEmptied = PlantedMistake.typeChangeZero.isPlanted && value is String && !into.isPrimary
                newObject[name] = isEmptied ? "" : value
            #else
                newObject[name] = value
            #endif
        }
    }

    /// Converts each element of a list, a set or a map whose elements changed their type or became required. The keys
    /// of a map stay.
    ///
    ///     try migration.convertElements(onType: "Person", "scores") { ($0 as? Int).map(String.init) }
    ///
    /// Elements without a value fail the migration, which reports their number.
    /// - Parameters:
    ///   - oldName: its name in the old schema.
    ///   - newName: its name in the new schema; nil if unchanged.
    ///   - rule: called with an old element, nil for null; returns the new one, nil for null.
    /// - Complexity: O(elements); memory does not depend on the number of elements or objects.
    public func convertElements(
        onType typeName: String, _ oldName: String, to newName: String? = nil, _ rule: (Any?) throws -> Any?
    ) rethrows {
        let name = newName ?? oldName
        let original = aliases[typeName]?[oldName] ?? oldName
        guard let old = source.access(named: typeName, typed: false), let from = old.property(original) else {
            return refuse("the old schema has no property '\(typeName).\(oldName)' to convert")
        }
        guard let new = target.access(named: typeName, typed: false), isWanted(typeName), let into = new.property(name)
        else { return refuse("the new schema has no property '\(typeName).\(name)' to convert to") }
        var conversion: CollectionConversion
        do throws(RealmError) {
            conversion = try CollectionConversion(
                source: source, old: old, from: from, target: target, new: new, into: into)
        } catch {
            return fail(error)
        }
        aliases[typeName]?[oldName] = nil
        ruled.insert(RuledProperty(className: typeName, name: name))
        let total = KeySteps(old).total
        defer { if let failure = conversion.failure { fail(failure) } }
        try conversion.run(rule) { done in report(old.name, done, total) }
    }

    private func set(
        table: Int, key: Int64, column: Int, to value: _StoredValue
    ) throws(StorageError) {
        guard let transaction = target.transaction else { return }
        try value.withCell { (cell) throws(StorageError) in
            try transaction.set(table, RowKey(key), column: column, to: cell)
        }
    }
}

extension TableDefinition {
    fileprivate func hasProperty(_ name: String) -> Bool {
        rowKeyProperty == name || position(named: name) != nil
    }
}

extension ColumnTag {
    /// For messages: "a string", "an optional int", "a list of double".
    var phrase: String {
        let optional = isOptional && type != .object
        let one = optional ? "optional \(type)" : "\(type)"
        switch collection {
        case .none: return ("aeio".contains(one.first ?? " ") ? "an " : "a ") + one
        case .list: return "a list of \(one)"
        case .set: return "a set of \(one)"
        case .map: return "a map of \(one)"
        }
    }
}
