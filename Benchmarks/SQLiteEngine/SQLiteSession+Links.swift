#if SQLite
    import Harness
    import Measuring
    import RunRecords

    extension SQLiteSession: LinkSession {
        func traverse(_ traversal: Traversal, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
            let statement = try connection.statement(try walk(traversal))
            guard traversal.snapshot == .batch else { return try Self.traverse(traversal, statement, latency) }
            return try connection.reading { () throws(EngineError) in
                try Self.traverse(traversal, statement, latency)
            }
        }

        private static func traverse(
            _ traversal: Traversal, _ statement: SQLiteStatement, _ latency: LatencyRecorder?
        ) throws(EngineError) -> ReadDigest {
            var digest = ReadDigest()
            let hasProperty = traversal.property != nil
            for (index, row) in traversal.rows.enumerated() {
                if let latency {
                    try latency.timeSampled(index) { () throws(EngineError) in
                        try visit(row, statement, hasProperty: hasProperty, digest: &digest)
                    }
                } else {
                    try visit(row, statement, hasProperty: hasProperty, digest: &digest)
                }
            }
            return digest
        }

        /// The query for the property at the other end of each link of a row, in the order of the links.
        private func walk(_ traversal: Traversal) throws(EngineError) -> String {
            let owner = try layout(traversal.table)
            let target: String
            let isList: Bool
            switch try owner.kind(traversal.column) {
            case .link(let name): (target, isList) = (name, false)
            case .links(let name): (target, isList) = (name, true)
            default: throw EngineError(.refused, "column \(traversal.column) holds no links")
            }
            let other = traversal.direction == .forward ? try layout(target) : owner
            if let property = traversal.property {
                guard try other.kind(property) == .integer else {
                    throw EngineError(.refused, "column \(property) holds no integers")
                }
            }
            let value = traversal.property.map { "o.\(quoted($0))" } ?? "1"
            let otherRow = "o.\(quoted(other.rowColumn))"
            let links = quoted(owner.linkTable(traversal.column))
            switch (traversal.direction, isList) {
            case (.forward, true):
                return "SELECT \(value) FROM \(links) AS l JOIN \(quoted(other.name)) AS o ON \(otherRow) = l.target "
                    + "WHERE l.owner = ? ORDER BY l.place"
            case (.backward, true):
                return "SELECT \(value) FROM \(links) AS l JOIN \(quoted(other.name)) AS o ON \(otherRow) = l.owner "
                    + "WHERE l.target = ? ORDER BY l.owner"
            case (.forward, false):
                return "SELECT \(value) FROM \(quoted(owner.name)) AS l JOIN \(quoted(other.name)) AS o "
                    + "ON \(otherRow) = l.\(quoted(traversal.column)) WHERE l.\(quoted(owner.rowColumn)) = ?"
            case (.backward, false):
                return "SELECT \(value) FROM \(quoted(owner.name)) AS o WHERE o.\(quoted(traversal.column)) = ?"
            }
        }

        @inline(__always)
        private static func visit(
            _ row: Int32, _ statement: SQLiteStatement, hasProperty: Bool, digest: inout ReadDigest
        ) throws(EngineError) {
            statement.bind(1, Int64(row))
            while try statement.step() {
                if hasProperty { digest.add(integer: statement.integer(0)) } else { digest.count += 1 }
            }
            statement.reset()
        }
    }
#endif
