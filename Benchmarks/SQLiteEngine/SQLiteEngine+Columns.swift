#if SQLite
    import Harness
    import RunRecords

    /// Columns are changed by ALTER TABLE, and given values by UPDATE, in one transaction.
    extension SQLiteEngine: ColumnChangingEngine {
        package func addResidents(
            _ rows: [ResidentRow], _ location: DatabaseLocation, settings: EngineSettings
        ) throws(EngineError) {
            let connection = try connection(location, settings)
            defer { connection.close() }
            try connection.run(
                "CREATE TABLE IF NOT EXISTS resident (number INTEGER PRIMARY KEY, first TEXT NOT NULL, "
                    + "last TEXT NOT NULL, born INTEGER NOT NULL)")
            let insert = try connection.statement("INSERT INTO resident VALUES (?, ?, ?, ?)")
            try connection.bulkTransaction { () throws(EngineError) in
                for row in rows {
                    insert.bind(1, row.number)
                    insert.bind(2, copy: row.first)
                    insert.bind(3, copy: row.last)
                    insert.bind(4, row.born)
                    try insert.finish()
                }
            }
        }

        private static func statements(_ change: ColumnChange) -> [String] {
            switch change {
            case .add: ["ALTER TABLE resident ADD COLUMN visits INTEGER NOT NULL DEFAULT 0"]
            case .remove: ["ALTER TABLE resident DROP COLUMN born"]
            case .rename: ["ALTER TABLE resident RENAME COLUMN last TO surname"]
            case .rewrite:
                [
                    "ALTER TABLE resident ADD COLUMN name TEXT NOT NULL DEFAULT ''",
                    "UPDATE resident SET name = first || ' ' || last",
                ]
            }
        }

        package func change(
            _ change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings, changed: () -> Void
        ) throws(EngineError) {
            let connection = try connection(location, settings)
            defer { connection.close() }
            try connection.bulkTransaction { () throws(EngineError) in
                for statement in Self.statements(change) { try connection.run(statement) }
                try connection.run("PRAGMA user_version = 1")
            }
            changed()
        }

        package func readResidents(
            after change: ColumnChange, _ location: DatabaseLocation, settings: EngineSettings,
            _ body: ([Value]) -> Bool
        ) throws(EngineError) {
            let connection = try connection(location, settings)
            defer { connection.close() }
            let rows = try connection.statement("SELECT * FROM resident ORDER BY number")
            guard rows.columnNames == change.columns else {
                throw EngineError(.refused, "the columns are \(rows.columnNames)")
            }
            while try rows.step() {
                let values = change.columns.indices.map { rows.value(Int32($0), isLink: false) }
                if !body(values) { break }
            }
            rows.reset()
        }
    }
#endif
