import Harness
import RunRecords

// Tables made of the rows of a data set.

extension TableSet {
    /// The set with these rows appended to the table of their name.
    func appending(_ rows: Table) -> TableSet {
        var set = self
        guard let index = tables.firstIndex(where: { $0.name == rows.name }) else { return set }
        for (column, added) in zip(tables[index].columns.indices, rows.columns) {
            set.tables[index].columns[column].values = tables[index].columns[column].values.appending(added.values)
        }
        return set
    }

    /// The set with only these rows of its main table, ascending, and without links to the others.
    ///
    /// Their integer keys become those of the first rows, so that engines that find rows by number store them as
    /// densely as those of a data set; all other values stay.
    func keeping(_ rows: [Int]) -> TableSet {
        var set = self
        let name = main.name
        var places = [Int32](repeating: -1, count: main.rowCount)
        for (place, row) in rows.enumerated() { places[row] = Int32(place) }
        for column in main.columns.indices {
            let values = main.columns[column].values
            if main.columns[column].name == main.key, case .integer(let keys) = values {
                set.tables[0].columns[column].values = .integer(Array(keys.prefix(rows.count)))
            } else {
                set.tables[0].columns[column].values = values.picking(rows)
            }
        }
        for table in set.tables.indices {
            for column in set.tables[table].columns.indices {
                set.tables[table].columns[column].values.moveLinks(to: name, places)
            }
        }
        return set
    }

    /// Tables in an order in which links lead to earlier ones, unless there is a cycle.
    var targetsFirst: [Table] {
        var sorted: [Table] = []
        var left = tables
        while !left.isEmpty {
            let done = Set(sorted.map(\.name))
            let next = left.firstIndex { table in
                table.columns.allSatisfy { $0.values.target.map { done.contains($0) || $0 == table.name } ?? true }
            }
            sorted.append(left.remove(at: next ?? 0))
        }
        return sorted
    }
}

extension ColumnValues {
    fileprivate var target: String? {
        switch self {
        case .link(let target, _), .links(let target, _): target
        case .integer, .real, .text: nil
        }
    }

    fileprivate func picking(_ rows: [Int]) -> ColumnValues {
        switch self {
        case .integer(let own): return .integer(rows.map { own[$0] })
        case .real(let own): return .real(rows.map { own[$0] })
        case .text(let own): return .text(TextColumn(rows.map { own[$0] }))
        case .link(let target, let own): return .link(target: target, rows.map { own[$0] })
        case .links(let target, let own):
            var lists = LinkListColumn()
            for row in rows { lists.append(own[row]) }
            return .links(target: target, lists)
        }
    }

    /// - Parameter places: by old row of the target its new row; -1 where it was removed.
    fileprivate mutating func moveLinks(to name: String, _ places: [Int32]) {
        func moved(_ row: Int32) -> Int32 { row < 0 ? row : places[Int(row)] }
        switch self {
        case .link(name, let own): self = .link(target: name, own.map(moved))
        case .links(name, let own):
            var lists = LinkListColumn()
            for row in 0..<own.count { lists.append(own[row].map(moved).filter { $0 >= 0 }) }
            self = .links(target: name, lists)
        default: break
        }
    }

    fileprivate func appending(_ other: ColumnValues) -> ColumnValues {
        switch (self, other) {
        case (.integer(let own), .integer(let added)): return .integer(own + added)
        case (.real(let own), .real(let added)): return .real(own + added)
        case (.text(var own), .text(let added)):
            for row in 0..<added.count { own.append(added[row]) }
            return .text(own)
        case (.link(let target, let own), .link(_, let added)): return .link(target: target, own + added)
        case (.links(let target, var own), .links(_, let added)):
            for row in 0..<added.count { own.append(added[row]) }
            return .links(target: target, own)
        default: preconditionFailure("columns of different kinds")
        }
    }
}
