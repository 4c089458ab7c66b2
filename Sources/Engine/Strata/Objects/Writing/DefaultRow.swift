import StrataStorage

/// Inserts a row with defaults, whose values the caller assigns one by one afterwards. The defaults are those that a
/// typed class declares; for a class that is known by name alone null, or zero and empty.
///
/// For classes that are known by name alone, for migrations, and for values of which one does not fit, so that the
/// error names the first that does not. Other objects are filled first and added once; see ``ObjectDraft``.
struct DefaultRow {
    private let write: RunningWrite
    private var instance: RealmInstance { write.instance }

    init(_ write: RunningWrite) { self.write = write }

    /// - Parameter given: the values that the caller assigns next.
    /// - Returns: the row's object, or an invalidated one if the write failed.
    func insert(
        _ access: ClassAccess, _ key: RowKey, _ primaryKey: _StoredValue?, given: [(String, Any)]
    ) throws(StorageError) -> ObjectBase {
        if let plan = access.plan {
            let fresh = plan.type.init()
            if let field = plan.primary, let primaryKey,
                !field.field.setStored(fresh._field(field.offset), primaryKey)
            {
                write.fail(.badValue(access.name, field, primaryKey))
                return instance.invalidObject(access, key: nil)
            }
            // The object that is the default of a link would be added with the row. If the link is assigned next, that
            // object would stay in the file, and nothing would link to it.
            for (name, _) in given {
                guard let place = access.positions[name] else { continue }
                let field = plan.fields[place]
                guard [.object, .any].contains(field.shape.type) else { continue }
                _ = field.field.setAny(fresh._field(field.offset), nil)
            }
            write.add(fresh, .error)
            write.noteParent(access, fresh._key)
            return fresh._frame == nil ? instance.invalidObject(access, key: nil) : fresh
        }
        if write.encoder.refusesInner(access) { return instance.invalidObject(access, key: nil) }
        var values: [_StoredValue] = []
        for column in write.transaction.view.schema.tables[access.table].columns {
            if let primary = access.primary, let primaryKey, primary.column == values.count {
                values.append(primaryKey)
                continue
            }
            let tag = ColumnTag(rawValue: column.tag)
            let bits = column.defaultBits ?? tag?.defaultBits ?? 0
            switch column.type {
            case .link: values.append(.null)
            // In a migration, the column of a required property may still hold nulls.
            case _ where column.isOptional && tag?.isOptional != false: values.append(.null)
            case .integer: values.append(.integer(Int64(bitPattern: bits)))
            case .double: values.append(.double(Double(bitPattern: bits)))
            case .bytes, .links: values.append(.bytes([]))
            }
        }
        try write.insert(access, key, write.encoder.encode(values))
        return instance.materializeOrInvalid(access, key) ?? instance.invalidObject(access, key: key)
    }
}
