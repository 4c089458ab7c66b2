import Harness
import Measuring
import RunRecords

extension ModelSession: HeldObjectSession, QuerySession, LinkSession {
    func hold(table: String, keys: [Int64]) throws(EngineError) {
        let table = try store.content.withLock { content throws(EngineError) in try content.table(table) }
        var rows: [Int] = []
        for key in keys { rows.append(try table.row(key: key)) }
        held = (table, rows)
    }

    func readHeld(column: String, count: Int, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        guard let (table, rows) = held, !rows.isEmpty else { throw EngineError(.refused, "nothing is held") }
        let column = try table.column(column)
        var digest = ReadDigest()
        var next = 0
        for index in 0..<count {
            if let latency {
                latency.timeSampled(index) { table.add(column: column, row: rows[next], to: &digest) }
            } else {
                table.add(column: column, row: rows[next], to: &digest)
            }
            next += 1
            if next == rows.count { next = 0 }
        }
        return digest
    }

    func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
        try store.content.withLock { content throws(EngineError) in
            let table = try content.table(table)
            guard case .text(let values) = table.columns[try table.column(column)].values else {
                throw EngineError(.refused, "column \(column) holds no texts")
            }
            var count = 0
            for row in 0..<table.rowCount where table.isLive[row] && values[row] == text { count += 1 }
            return count
        }
    }

    func sum(table: String, column: String) throws(EngineError) -> Int64 {
        try Int64(bitPattern: iterate(table: table, column: column).sum)
    }

    func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
        try store.content.withLock { content throws(EngineError) in
            let table = try content.table(table)
            let values = try table.integers(column)
            var digest = ReadDigest()
            for row in 0..<table.rowCount where table.isLive[row] { digest.add(integer: values[row]) }
            return digest
        }
    }

    func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
        try store.content.withLock { content throws(EngineError) in
            let table = try content.table(filter.table)
            let integers = try table.integers(filter.integer)
            guard case .real(let reals) = table.columns[try table.column(filter.real)].values else {
                throw EngineError(.refused, "column \(filter.real) holds no reals")
            }
            var count = 0
            for row in 0..<table.rowCount
            where table.isLive[row] && integers[row] > filter.above && reals[row] < filter.below {
                count += 1
            }
            return count
        }
    }

    func traverse(_ traversal: Traversal, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
        try store.content.withLock { content throws(EngineError) in
            let owner = try content.table(traversal.table)
            let column = try owner.column(traversal.column)
            let target: StoredTable
            switch owner.columns[column].values {
            case .link(let name, _), .links(let name, _): target = try content.table(name)
            default: throw EngineError(.refused, "column \(traversal.column) holds no links")
            }
            let other = traversal.direction == .forward ? target : owner
            let property: Int?
            if let name = traversal.property { property = try other.column(name) } else { property = nil }
            let backlinks = traversal.direction == .backward ? owner.backlinks(column: column) : [:]
            var digest = ReadDigest()
            func visit(_ row: Int32) {
                for linked in traversal.direction == .forward
                    ? owner.links(column: column, row: Int(row)) : backlinks[row, default: []]
                {
                    guard let property else {
                        digest.count += 1
                        continue
                    }
                    other.add(column: property, row: Int(linked), to: &digest)
                }
            }
            for (index, row) in traversal.rows.enumerated() {
                if let latency { latency.timeSampled(index) { visit(row) } } else { visit(row) }
            }
            return digest
        }
    }
}

extension StoredTable {
    func integers(_ column: String) throws(EngineError) -> [Int64] {
        guard case .integer(let values) = columns[try self.column(column)].values else {
            throw EngineError(.refused, "column \(column) holds no integers")
        }
        return values
    }

    func links(column: Int, row: Int) -> [Int32] {
        switch columns[column].values {
        case .link(_, let links): links[row] < 0 ? [] : [links[row]]
        case .links(_, let lists): lists[row]
        default: []
        }
    }

    /// The rows that link to each row, once per link, ascending. Built for each traversal: the model keeps no inverse.
    func backlinks(column: Int) -> [Int32: [Int32]] {
        var origins: [Int32: [Int32]] = [:]
        for row in 0..<rowCount where isLive[row] {
            for target in links(column: column, row: row) { origins[target, default: []].append(Int32(row)) }
        }
        return origins
    }
}
