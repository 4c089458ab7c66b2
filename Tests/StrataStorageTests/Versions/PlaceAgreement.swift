@testable import StrataStorage

/// Compares rows and links that storage finds by place with what a naive model has there.
struct PlaceAgreement {
    let view: ReadView
    let table: Int
    let column: Int

    private func require(_ holds: Bool, _ what: String) throws {
        if !holds { throw InvariantViolation("\(what), of column \(column) of table \(table), differs from the model") }
    }

    /// - Parameter rows: all rows of the table with their values, in any order.
    func checkOrder(_ rows: [(key: Int64, value: Value)]) throws {
        let definition = view.schema.tables[table].columns[column]
        guard var order = try IndexOrder(view, table, column) else {
            let isNumber = definition.type == .integer || definition.type == .double
            let hasNaN = rows.contains { row in
                if case .double(let bits) = row.value { Double(bitPattern: bits).isNaN } else { false }
            }
            return try require(hasNaN || !isNumber || definition.index != .ordered, "whether there is an order")
        }
        func rank(_ value: Value) -> (Int, Int64) {
            switch value {
            case .integer(let value): (1, value)
            case .double(let bits): (1, IndexKey.ordered(Double(bitPattern: bits)))
            default: (0, .min)
            }
        }
        let lowest = Set(rows.map { rank($0.value) }.filter { $0.1 == .min }.map(\.0))
        for ascending in [true, false] {
            let sorted = rows.sorted { a, b in
                let (first, second) = (rank(a.value), rank(b.value))
                return first == second ? a.key < b.key : (first < second) == ascending
            }
            for place in stride(from: 0, to: sorted.count, by: 1 + sorted.count / 40) {
                let row = sorted[place]
                let isUndecided = lowest.count == 2 && rank(row.value).1 == .min
                let found = try order.row(at: place, ascending: ascending, view)
                if isUndecided && found == .undecided { continue }
                try require(found == .row(RowKey(row.key)), "place \(place)")
            }
            try require(order.row(at: rows.count, ascending: ascending, view) == .end, "the end")
        }
    }

    /// - Parameters:
    ///   - links: how often each row links to the target.
    ///   - others: further rows, each of which may link to the target or not.
    func checkLinks(to target: Int64, _ links: [Int64: Int], others: some Sequence<Int64>) throws {
        let origins = links.keys.sorted().flatMap { Array(repeating: $0, count: links[$0] ?? 0) }
        let reader = try BacklinkReader(to: RowKey(target), of: table, column, in: view)
        try require(reader.count() == origins.count, "the number of links to \(target)")
        var first: [Int64: Int] = [:]
        for (place, origin) in origins.enumerated() {
            try require(reader.origin(at: place)?.rawValue == origin, "the link to \(target) at place \(place)")
            if first[origin] == nil { first[origin] = place }
        }
        let beyond = try [reader.origin(at: origins.count), reader.origin(at: -1)]
        try require(beyond == [nil, nil], "the last link to \(target)")
        for key in Set(others).union(first.keys) {
            try require(reader.firstPlace(of: RowKey(key)) == first[key], "the place of a link to \(target)")
        }
        for most in [1, 3, 1000] {
            var (walked, next): ([Int64], Int64?) = ([], .min)
            while let start = next { next = try reader.append(to: &walked, from: start, atMost: walked.count + most) }
            try require(walked == origins, "a walk along links to \(target)")
        }
    }
}
