#if SQLite
    import Harness
    import RunRecords

    /// Nulls as the scenarios define them: compared with `IS` instead of `=`, and in no order.
    extension SQLiteSession: ProbeSession {
        private func createProbes() throws(EngineError) {
            for statement in [
                "CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY, number INTEGER, indexedNumber INTEGER, "
                    + "real REAL, text TEXT, indexedText TEXT, friend INTEGER, indexedReal REAL)",
                "CREATE TABLE IF NOT EXISTS probe_friends (owner INTEGER, place INTEGER, target INTEGER, "
                    + "PRIMARY KEY (owner, place)) WITHOUT ROWID",
                "CREATE INDEX IF NOT EXISTS probe_number ON probe (indexedNumber)",
                "CREATE INDEX IF NOT EXISTS probe_real ON probe (indexedReal)",
                "CREATE INDEX IF NOT EXISTS probe_text ON probe (indexedText)",
                "CREATE INDEX IF NOT EXISTS probe_friend ON probe (friend)",
                "CREATE INDEX IF NOT EXISTS probe_target ON probe_friends (target)",
            ] { try connection.run(statement) }
        }

        /// Whether a text has a character of several scalars, such as a letter with a combining accent.
        private static func hasCluster(_ text: String) -> Bool { text.contains { $0.unicodeScalars.count > 1 } }

        func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws(EngineError) {
            try createProbes()
            if !hasClusters { hasClusters = rows.contains { $0.text.map(Self.hasCluster) ?? false } }
            let insert = try connection.statement("INSERT OR REPLACE INTO probe VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
            let forget = try connection.statement("DELETE FROM probe_friends WHERE owner = ?")
            let link = try connection.statement("INSERT INTO probe_friends VALUES (?, ?, ?)")
            let removals = [
                try connection.statement("DELETE FROM probe_friends WHERE owner = ?1 OR target = ?1"),
                try connection.statement("UPDATE probe SET friend = NULL WHERE friend = ?1"),
                try connection.statement("DELETE FROM probe WHERE id = ?1"),
            ]
            try connection.transaction { () throws(EngineError) in
                for row in rows {
                    insert.bind(1, row.id)
                    for place in [Int32(2), 3] {
                        if let number = row.number { insert.bind(place, number) } else { insert.bindNull(place) }
                    }
                    for place in [Int32(4), 8] {
                        if let real = row.real { insert.bind(place, real) } else { insert.bindNull(place) }
                    }
                    for place in [Int32(5), 6] {
                        if let text = row.text { insert.bind(place, copy: text) } else { insert.bindNull(place) }
                    }
                    if let friend = row.friend { insert.bind(7, friend) } else { insert.bindNull(7) }
                    try insert.finish()
                    forget.bind(1, row.id)
                    try forget.finish()
                    for (place, target) in row.friends.enumerated() {
                        link.bind(1, row.id)
                        link.bind(2, Int64(place))
                        link.bind(3, target)
                        try link.finish()
                    }
                }
                for id in deleted {
                    for statement in removals {
                        statement.bind(1, id)
                        try statement.finish()
                    }
                }
            }
        }

        func select(_ query: ProbeQuery) throws(EngineError) -> [Int64] {
            let condition = ProbeSQL.condition(query.condition)
            let order =
                (query.sort.map { "\($0.column.rawValue) \($0.isAscending ? "ASC" : "DESC")" } + ["id"])
                .joined(separator: ", ")
            var sql = "SELECT id FROM probe AS p WHERE \(condition)"
            if !query.distinct.isEmpty {
                let names = query.distinct.map(\.rawValue).joined(separator: ", ")
                sql =
                    "SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY \(names) ORDER BY \(order)) AS turn "
                    + "FROM probe AS p WHERE \(condition)) WHERE turn = 1"
            }
            if !query.sort.isEmpty || !query.distinct.isEmpty { sql += " ORDER BY \(order)" }
            if let limit = query.limit { sql += " LIMIT \(limit)" }
            let statement = try connection.statement(sql)
            defer { statement.reset() }
            var ids: [Int64] = []
            while try statement.step() { ids.append(statement.integer(0)) }
            return ids
        }

        func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) throws(EngineError) -> ProbeAggregates {
            let name = column.rawValue
            let statement = try connection.statement(
                "SELECT count(*), min(\(name)), max(\(name)), sum(\(name)), avg(\(name)) FROM probe AS p WHERE "
                    + ProbeSQL.condition(condition))
            defer { statement.reset() }
            _ = try statement.step()
            let zero: Value = column == .real || column == .indexedReal ? .real(0) : .integer(0)
            return ProbeAggregates(
                count: Int(statement.integer(0)), least: statement.value(1, isLink: false),
                most: statement.value(2, isLink: false),
                sum: statement.isNull(3) ? zero : statement.value(3, isLink: false),
                average: statement.value(4, isLink: false))
        }

        func first(_ column: ProbeColumn, equal values: [Value]) throws(EngineError) -> [Int64] {
            let find = try connection.statement("SELECT id FROM probe WHERE \(column.rawValue) = ? LIMIT 1")
            var ids: [Int64] = []
            ids.reserveCapacity(values.count)
            for value in values {
                switch value {
                case .integer(let number): find.bind(1, number)
                case .text(let text): find.bind(1, copy: text)
                default: throw EngineError(.unsupported, "no index of \(column) finds \(value)")
                }
                ids.append(try find.step() ? find.integer(0) : -1)
                find.reset()
            }
            return ids
        }

        func firstRows(_ sort: ProbeQuery.Sort, count: Int) throws(EngineError) -> [Int64] {
            try ids(
                "SELECT id FROM probe ORDER BY \(sort.column.rawValue) \(sort.isAscending ? "ASC" : "DESC") LIMIT ?",
                [Int64(count)])
        }

        func linkCount(to id: Int64) throws(EngineError) -> Int {
            Int(try ids("SELECT count(*) FROM probe WHERE friend = ?", [id]).first ?? 0)
        }

        func linkingRows(to id: Int64, count: Int) throws(EngineError) -> [Int64] {
            try ids("SELECT id FROM probe WHERE friend = ? LIMIT ?", [id, Int64(count)])
        }

        /// The first column of the rows.
        private func ids(_ sql: String, _ values: [Int64]) throws(EngineError) -> [Int64] {
            let statement = try connection.statement(sql)
            defer { statement.reset() }
            for (place, value) in values.enumerated() { statement.bind(Int32(place + 1), value) }
            var ids: [Int64] = []
            while try statement.step() { ids.append(statement.integer(0)) }
            return ids
        }

        func delete(where condition: ProbeCondition?, beforeCommit: () -> Void) throws(EngineError) {
            var statements = ["DELETE FROM probe_friends", "DELETE FROM probe"]
            if let condition {
                try connection.run("CREATE TEMP TABLE IF NOT EXISTS gone (id INTEGER PRIMARY KEY)")
                statements = [
                    "DELETE FROM gone",
                    "INSERT INTO gone SELECT id FROM probe AS p WHERE \(ProbeSQL.condition(condition))",
                    "DELETE FROM probe_friends WHERE owner IN (SELECT id FROM gone)",
                    "DELETE FROM probe_friends WHERE target IN (SELECT id FROM gone)",
                    "UPDATE probe SET friend = NULL WHERE friend IN (SELECT id FROM gone)",
                    "DELETE FROM probe WHERE id IN (SELECT id FROM gone)",
                ]
            }
            try connection.bulkTransaction { () throws(EngineError) in
                for statement in statements { try connection.run(statement) }
                beforeCommit()
            }
        }

        func readProbes() throws(EngineError) -> [ProbeRow] {
            var friends: [Int64: [Int64]] = [:]
            let links = try connection.statement("SELECT owner, target FROM probe_friends ORDER BY owner, place")
            while try links.step() { friends[links.integer(0), default: []].append(links.integer(1)) }
            links.reset()
            let rows = try connection.statement("SELECT id, number, real, text, friend FROM probe ORDER BY id")
            defer { rows.reset() }
            var read: [ProbeRow] = []
            while try rows.step() {
                read.append(
                    ProbeRow(
                        id: rows.integer(0), number: rows.isNull(1) ? nil : rows.integer(1),
                        real: rows.isNull(2) ? nil : rows.real(2), text: rows.isNull(3) ? nil : rows.text(3),
                        friend: rows.isNull(4) ? nil : rows.integer(4), friends: friends[rows.integer(0)] ?? []))
            }
            return read
        }

        /// SQLite stores NaN as null.
        var storesNaN: Bool { false }

        func reasonToDecline(_ condition: ProbeCondition) -> String? {
            switch condition {
            case .compare(_, _, .real(let real)), .friend(_, _, .real(let real)), .friends(_, _, _, .real(let real)):
                real.isFinite ? nil : "SQLite has no literal for what is no finite number"
            case .text(_, _, _, isFolded: true): "SQLite folds the case of ASCII alone"
            case .text(_, .like, let pattern, _):
                (hasClusters || Self.hasCluster(pattern)) && pattern.unicodeScalars.contains { $0 == "*" || $0 == "?" }
                    ? "a character of SQLite's patterns is a scalar: half of what a reader sees as one" : nil
            case .text: nil
            case .oneOf(_, let values):
                values.lazy.compactMap { self.reasonToDecline(.compare(.id, .equal, $0)) }.first
            case .compare, .friend, .friends: nil
            case .and(let parts), .or(let parts): parts.lazy.compactMap(reasonToDecline).first
            case .not(let part): reasonToDecline(part)
            }
        }
    }

    /// Conditions as SQL over the table `probe AS p`.
    private enum ProbeSQL {
        static func condition(_ condition: ProbeCondition) -> String {
            switch condition {
            case .compare(let column, let comparison, let value): compare("p." + column.rawValue, comparison, value)
            case .oneOf(let column, let values): oneOf("p." + column.rawValue, values)
            case .text(let column, let test, let text, _): self.text("p." + column.rawValue, test, text)
            case .friend(let column, let comparison, let value):
                compare("(SELECT f.\(column.rawValue) FROM probe AS f WHERE f.id = p.friend)", comparison, value)
            case .friends(let quantifier, let column, let comparison, let value):
                friends(quantifier, compare("f." + column.rawValue, comparison, value))
            case .and(let parts):
                parts.isEmpty ? "1" : parts.map { "(\(Self.condition($0)))" }.joined(separator: " AND ")
            case .or(let parts):
                parts.isEmpty ? "0" : parts.map { "(\(Self.condition($0)))" }.joined(separator: " OR ")
            case .not(let part): "NOT (\(Self.condition(part)))"
            }
        }

        private static func compare(_ place: String, _ comparison: ProbeComparison, _ value: Value) -> String {
            switch comparison {
            case .equal: "\(place) IS \(literal(value))"
            case .notEqual: "\(place) IS NOT \(literal(value))"
            case .less: ordered(place, "<", value)
            case .lessOrEqual: ordered(place, "<=", value)
            case .greater: ordered(place, ">", value)
            case .greaterOrEqual: ordered(place, ">=", value)
            }
        }

        private static func ordered(_ place: String, _ sign: String, _ value: Value) -> String {
            // Never null, so that NOT gives the opposite.
            "(\(place) \(sign) \(literal(value))) IS TRUE"
        }

        private static func oneOf(_ place: String, _ values: [Value]) -> String {
            let list = values.filter { $0 != .null }.map(literal).joined(separator: ", ")
            let isIn = "(\(place) IN (\(list))) IS TRUE"
            return values.contains(.null) ? "(\(isIn) OR \(place) IS NULL)" : isIn
        }

        private static func text(_ place: String, _ test: ProbeTextTest, _ text: String) -> String {
            let own = literal(.text(text))
            let count = text.unicodeScalars.count
            switch test {
            case .equal: return "\(place) IS \(own)"
            case .contains: return "(instr(\(place), \(own)) > 0) IS TRUE"
            case .begins: return "(substr(\(place), 1, \(count)) = \(own)) IS TRUE"
            case .ends: return "(substr(\(place), max(1, length(\(place)) - \(count - 1))) = \(own)) IS TRUE"
            case .like:
                // By scalars: a bracket with a combining accent is one character for Swift, but two for SQLite.
                let pattern = text.unicodeScalars.map { $0 == "[" ? "[[]" : String($0) }.joined()
                return "(\(place) GLOB \(literal(.text(pattern)))) IS TRUE"
            }
        }

        private static func friends(_ quantifier: ProbeQuantifier, _ condition: String) -> String {
            func exists(_ condition: String) -> String {
                "EXISTS (SELECT 1 FROM probe_friends AS l JOIN probe AS f ON f.id = l.target WHERE l.owner = p.id "
                    + "AND \(condition))"
            }
            switch quantifier {
            case .any: return exists(condition)
            case .none: return "NOT " + exists(condition)
            case .all: return "NOT " + exists("NOT (\(condition))")
            }
        }

        private static func literal(_ value: Value) -> String {
            switch value {
            case .integer(let integer): integer == .min ? "(-9223372036854775807 - 1)" : "\(integer)"
            case .real(let real): "\(real)"
            case .text(let text): "'" + text.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined() + "'"
            case .null, .link, .links: "NULL"
            }
        }
    }
#endif
