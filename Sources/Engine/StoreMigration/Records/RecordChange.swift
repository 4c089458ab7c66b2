/// A record with values by the names of its fields.
public struct Record: Hashable, Sendable, Codable {
    public var id: RecordID
    public var values: [String: FieldValue]

    public init(_ id: RecordID, _ values: [String: FieldValue]) {
        self.id = id
        self.values = values
    }

    public subscript(_ field: String) -> FieldValue { values[field] ?? .null }
}

/// A change of one record. It is idempotent, which recovery relies on.
public enum RecordChange: Hashable, Sendable, Codable {
    /// Inserts or updates the record. Unnamed fields keep their values; in a new record they are null or empty.
    case upsert(Record)
    /// A missing record is no error.
    case delete(RecordID)

    public var id: RecordID {
        switch self {
        case .upsert(let record): record.id
        case .delete(let id): id
        }
    }

    /// - Throws: `invalidChange` for a value that one of the stores cannot hold. Checked before anything is written,
    ///   since a change that one store accepts and the other always refuses would wait for ever.
    func check(_ models: [String: RecordModel]) throws {
        guard let model = models[id.model] else {
            throw MigrationError(
                .invalidChange, "no model \"\(id.model)\"; there are \(models.keys.sorted().joined(separator: ", "))")
        }
        guard model.accepts(id.key) else {
            throw MigrationError(
                .invalidChange,
                "\(id): the key has to be \(model.hasIntegerKey ? "an integer" : "a text without a zero byte")")
        }
        guard case .upsert(let record) = self else { return }
        for (name, value) in record.values {
            guard let field = model[name] else {
                let known = model.fields.map(\.name).joined(separator: ", ")
                throw MigrationError(.invalidChange, "\(id): no field \"\(name)\"; there are \(known)")
            }
            guard value == .null ? field.isOptional : value.fits(field.kind) else {
                throw MigrationError(.invalidChange, "\(id): \"\(name)\" is \(field.kind), and cannot be \(value)")
            }
            // To-many relationships of Core Data are sets.
            if case .links(let keys) = value, Set(keys).count < keys.count {
                throw MigrationError(.invalidChange, "\(id): \"\(name)\" leads to one record twice")
            }
        }
    }
}
