import RunRecords

extension Table {
    /// Some of its rows, as a table of the same columns.
    func rows(_ range: Range<Int>) -> Table {
        let columns = columns.map { column in
            let values: ColumnValues
            switch column.values {
            case .integer(let own): values = .integer(Array(own[range]))
            case .real(let own): values = .real(Array(own[range]))
            case .text(let own): values = .text(TextColumn(range.map { own[$0] }))
            case .link(let target, let own): values = .link(target: target, Array(own[range]))
            case .links(let target, let own):
                var lists = LinkListColumn()
                for row in range { lists.append(own[row]) }
                values = .links(target: target, lists)
            }
            return Column(column.name, values, isIndexed: column.isIndexed)
        }
        return Table(name: name, key: key, columns: columns)
    }
}
