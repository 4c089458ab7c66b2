#if SQLite
    import CoreDataFiles

    /// Reads the rows of one table of a store of Core Data.
    struct CoreDataReading {
        let table: CoreDataShape.Table
        private let shape: CoreDataShape
        private let one: SQLiteStatement
        private let next: SQLiteStatement
        /// For fields that are many-to-many.
        private let joins: [SQLiteStatement?]
        private static let rowsAtOnce = 8_192

        init(_ file: SQLiteFile, _ shape: CoreDataShape, _ table: CoreDataShape.Table) throws {
            self.table = table
            self.shape = shape
            let columns = (["Z_PK"] + table.places.map { $0.column ?? "Z_PK" }).map(quoted).joined(separator: ", ")
            let selection = "SELECT \(columns) FROM \(quoted(table.hierarchy.table)) WHERE Z_PK"
            one = try file.statement(selection + " = ?1")
            next = try file.statement(selection + " >= ?1 ORDER BY Z_PK LIMIT \(Self.rowsAtOnce)")
            joins = try table.places.map { place in
                guard case .join(let join) = place else { return nil }
                let order = join.ownerOrderColumn ?? join.targetColumn
                return try file.statement(
                    """
                    SELECT \(quoted(join.targetColumn)) FROM \(quoted(join.table)) \
                    WHERE \(quoted(join.ownerColumn)) = ?1 ORDER BY \(quoted(order)), \(quoted(join.targetColumn))
                    """)
            }
        }

        /// nil if there is no such row.
        func values(of key: Int64) throws -> [FieldValue]? {
            defer { one.reset() }
            one.bind(0, key)
            return try one.step() ? values(one) : nil
        }

        /// Reads some thousand rows at a time, so that a reader does not block a writer for long.
        func scan(_ body: (RecordKey, [FieldValue]) throws -> Void) throws {
            var from = Int64.min
            while true {
                next.bind(0, from)
                defer { next.reset() }
                var count = 0
                var last = from
                while try next.step() {
                    last = next.integer(0)
                    try body(.integer(last), values(next))
                    count += 1
                }
                if count < Self.rowsAtOnce || last == .max { return }
                from = last + 1
            }
        }

        private func values(_ row: SQLiteStatement) throws -> [FieldValue] {
            try table.places.indices.map { place in
                let column = place + 1
                switch table.places[place] {
                case .entity:
                    let number = row.integer(column)
                    return .text(shape.layout.entity(number)?.name ?? "entity \(number)")
                case .join:
                    guard let join = joins[place] else { return .links([]) }
                    defer { join.reset() }
                    join.bind(0, row.integer(0))
                    var keys: [RecordKey] = []
                    while try join.step() { keys.append(.integer(join.integer(0))) }
                    return .links(keys)
                case .attribute, .link:
                    let field = table.model.fields[place]
                    if let value = row.value(column, field.kind, dateOrigin: FieldValue.secondsTo2001) { return value }
                    throw MigrationError(
                        .storeFailed,
                        "\(table.model.name) \(row.integer(0)): \"\(field.name)\" is \(row.kind(column)) and no "
                            + "\(field.kind); correct the type in the model, or leave the property out")
                }
            }
        }
    }
#endif
