import StrataStorage

/// Turns conditions behind a link into conditions on the link: the linked class is queried once, and the link of every
/// row is looked up among the keys that were found.
struct InnerQueries {
    let instance: RealmInstance
    let view: ReadView
    /// Number of rows of the queried class. A linked class that is much larger is not queried: its rows cost more.
    let rowCount: Int

    /// `boss.age > 3`, `ANY friends.name == 'x'`, `ALL reports.id > 7`.
    func filter(_ comparison: BoundComparison, _ path: BoundPath) throws(StorageError) -> RowFilter? {
        guard path.steps.count > 1, let first = path.steps.first, !first.isEntry, let tail = path.tail,
            try isWorthwhile(first),
            let operands = comparison.right.constants
        else { return nil }
        let asked = comparison.asked(of: tail)
        if first.property.isLinkingObjects { return try backlinks(asked, first) }
        let column = first.property.column
        guard column >= 0 else { return nil }
        if first.isMany {
            guard first.property.tag.columnType == .links else { return nil }
            let isAll = comparison.quantifier == .all
            let found = try keys(.comparison(asked.asked(isAll ? .all : .any)), first)
            return LinkSetTest(IntegerSet(found)).filter(first.property, comparison.quantifier, skipsNull: true)
        }
        let filter = RowFilter.integers(column, IntegerSet(try keys(.comparison(asked), first)))
        return comparison.holdsWithoutLink(path, operands) ? .or([.null(column), filter]) : filter
    }

    /// `SUBQUERY(friends, $x, $x.age > 3).@count > 1`.
    func filter(
        _ comparison: BoundComparison, _ path: BoundPath, matching inner: BoundPredicate
    ) throws(StorageError) -> RowFilter? {
        guard let step = path.ownStep, step.property.tag.columnType == .links, step.property.column >= 0,
            let operands = comparison.right.constants, try isWorthwhile(step)
        else { return nil }
        let found = IntegerSet(try keys(inner, step))
        let test = comparison.test
        let isNegated = comparison.quantifier == .none
        return FilterTranslation.matching(step.property) { (reader) throws(StorageError) in
            var count: Int64 = 0
            try reader.forEachPart { (part) throws(StorageError) in
                for place in part.first..<part.end {
                    let link = try part.value(at: place)
                    if link.kind == .integer, found.contains(link.integerValue) { count += 1 }
                }
                return true
            }
            return test.holds(.integer(count), operands) != isNegated
        }
    }

    private func isWorthwhile(_ step: BoundPath.Step) throws(StorageError) -> Bool {
        guard let target = step.target else { return false }
        return try view.rowCount(target.table) <= 4 * rowCount + 1000
    }

    private func keys(_ node: BoundPredicate, _ step: BoundPath.Step) throws(StorageError) -> [Int64] {
        guard let target = step.target else { return [] }
        return try TableQuery(instance, target, node).run(view)
    }

    private func backlinks(
        _ asked: BoundComparison, _ step: BoundPath.Step
    ) throws(StorageError) -> RowFilter? {
        let isAll = asked.quantifier == .all
        let node = BoundPredicate.comparison(asked.asked(isAll ? .all : .any))
        let origins = try keys(isAll ? .not(node) : node, step)
        let targets = try targets(of: origins, step)
        let filter = RowFilter.keys(IntegerSet(targets))
        return asked.quantifier == .any ? filter : .not(filter)
    }

    /// The rows that the links of some rows lead to.
    private func targets(of origins: [Int64], _ step: BoundPath.Step) throws(StorageError) -> [Int64] {
        guard let origin = step.target,
            let property = origin.property(ofColumn: step.originColumn)
        else { return [] }
        var targets: [Int64] = []
        for key in origins {
            guard let location = try view.locate(origin.table, RowKey(key)) else { continue }
            if property.tag.columnType == .link {
                if let target = try view.integer(location, property.column) { targets.append(target) }
            } else {
                for value in try CollectionValues.read(in: view, at: location, key: key, property: property) {
                    if case .link(let target) = value { targets.append(target) }
                }
            }
        }
        return targets
    }
}

extension BoundComparison {
    /// Whether a row matches if the first link of the path is missing.
    func holdsWithoutLink(_ path: BoundPath, _ operands: [_StoredValue]) -> Bool {
        guard path.missingIsNull else { return quantifier != .any }
        return test.holds(.null, operands) != (quantifier == .none)
    }
}
