import StrataStorage

/// Finds the rows of a whole class that match: by key, by an index, by storage over packed columns, or by a walk over
/// the columns in batches.
struct TableQuery {
    private let instance: RealmInstance
    private let access: ClassAccess
    private let predicate: Predicate

    init(_ instance: RealmInstance, _ access: ClassAccess, _ predicate: Predicate) {
        self.instance = instance
        self.access = access
        self.predicate = predicate
    }

    /// Keys in ascending order.
    func run(_ view: ReadView) throws(StorageError) -> [Int64] {
        let evaluator = PredicateEvaluator(instance, access, predicate)
        if let candidates = try indexed(view) {
            var keys: [Int64] = []
            for key in candidates where try evaluator.matches(key, view) { keys.append(key.rawValue) }
            return keys.sorted()
        }
        let parts = evaluator.node.conjuncts.map { (node: $0, filter: $0.rowFilter) }
        let exact = RowFilter.and(parts.compactMap(\.filter))
        let rest = parts.filter { $0.filter == nil }.map(\.node)
        if rest.isEmpty { return try view.keys(access.table, where: exact) }
        // One row after the other pays when storage leaves few of them.
        let left = rest.count == parts.count ? Int.max : try view.count(access.table, where: exact)
        if try left > view.rowCount(access.table) / 16 { return try BatchFilter(evaluator, access).run(view) }
        var keys: [Int64] = []
        for key in try view.keys(access.table, where: exact) {
            var holds = true
            for node in rest where holds { holds = try evaluator.matches(node, RowKey(key), view) }
            if holds { keys.append(key) }
        }
        return keys
    }

    /// What storage can answer alone: the whole predicate, when no key or index leads to the rows at once.
    func rowFilter(_ view: ReadView) -> RowFilter? {
        if predicate.conjuncts.contains(where: { indexedProperty($0) != nil }) { return nil }
        return PredicateEvaluator(instance, access, predicate).node.rowFilter
    }

    /// Rows that an equality on a key or an indexed property leaves; nil when there is none.
    private func indexed(_ view: ReadView) throws(StorageError) -> [RowKey]? {
        for part in predicate.conjuncts {
            guard let (property, value) = indexedProperty(part) else { continue }
            if property.column == Int(ColumnSlot.key), case .integer(let key) = value {
                return try view.locate(access.table, RowKey(key)) == nil ? [] : [RowKey(key)]
            }
            let table = access.table
            return try value.withCell { (cell) throws(StorageError) in
                try view.rows(table, property.column, equalTo: cell)
            }
        }
        return nil
    }

    /// The key or indexed property that a part of the predicate asks to be equal to a value.
    private func indexedProperty(_ part: Predicate) -> (property: BoundProperty, value: _StoredValue)? {
        guard case .comparison(let comparison) = part, comparison.comparator == .equal, !comparison.ignoresCase,
            comparison.quantifier != .none, comparison.aggregate == nil, comparison.path.count == 1,
            let property = access.property(comparison.path[0]), property.tag.collection == .none,
            case .value(let value) = comparison.value, !value.isNull
        else { return nil }
        if property.column == Int(ColumnSlot.key), case .integer = value { return (property, value) }
        guard property.isIndexed, property.column >= 0, Self.fits(value, property.tag) else { return nil }
        return (property, value)
    }

    private static func fits(_ value: _StoredValue, _ tag: ColumnTag) -> Bool {
        switch (tag.columnType, value) {
        case (.integer, .integer), (.double, .double), (.bytes, .text), (.bytes, .bytes): return true
        default: return false
        }
    }
}

/// Evaluates a predicate over batches of rows, column by column: a byte per row says whether it still matches.
private final class BatchFilter {
    private let evaluator: PredicateEvaluator
    private let access: ClassAccess
    private var columns: [Int] = []

    init(_ evaluator: PredicateEvaluator, _ access: ClassAccess) {
        self.evaluator = evaluator
        self.access = access
        collectColumns(evaluator.node)
    }

    func run(_ view: ReadView) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        var mask: [UInt8] = []
        try view.scan(access.table, columns: columns) { (batch) throws(StorageError) -> Bool in
            mask.removeAll(keepingCapacity: true)
            mask.append(contentsOf: repeatElement(1, count: batch.count))
            try refine(&mask, evaluator.node, batch, view)
            for row in 0..<batch.count where mask[row] != 0 { keys.append(batch.keys[row]) }
            return true
        }
        return keys
    }

    /// The property of a comparison that the batch can answer.
    private func local(_ bound: PredicateEvaluator.BoundComparison) -> BoundProperty? {
        guard bound.path.steps.count == 1, bound.comparison.aggregate == nil, bound.otherPath == nil else { return nil }
        let property = bound.path.steps[0].property
        guard property.tag.collection == .none, !property.isLinkingObjects, property.column >= Int(ColumnSlot.key)
        else { return nil }
        return property
    }

    private func collectColumns(_ node: PredicateEvaluator.Node) {
        switch node {
        case .constant: break
        case .not(let inner): collectColumns(inner)
        case .and(let a, let b), .or(let a, let b):
            collectColumns(a)
            collectColumns(b)
        case .comparison(let bound):
            if let column = local(bound)?.column, column >= 0, !columns.contains(column) { columns.append(column) }
        }
    }

    private func refine(
        _ mask: inout [UInt8], _ node: PredicateEvaluator.Node, _ batch: RowBatch, _ view: ReadView
    ) throws(StorageError) {
        switch node {
        case .constant(let value):
            if !value { for row in mask.indices { mask[row] = 0 } }
        case .not(let inner):
            var other = mask
            try refine(&other, inner, batch, view)
            for row in mask.indices { mask[row] &= 1 ^ other[row] }
        case .and(let a, let b):
            try refine(&mask, a, batch, view)
            try refine(&mask, b, batch, view)
        case .or(let a, let b):
            var other = mask
            try refine(&other, a, batch, view)
            try refine(&mask, b, batch, view)
            for row in mask.indices { mask[row] |= other[row] }
        case .comparison(let bound):
            if let property = local(bound) { return refine(&mask, bound, property, batch) }
            for row in mask.indices where mask[row] != 0 {
                if try !evaluator.matches(node, RowKey(batch.keys[row]), view) { mask[row] = 0 }
            }
        }
    }

    private func refine(
        _ mask: inout [UInt8], _ bound: PredicateEvaluator.BoundComparison, _ property: BoundProperty,
        _ batch: RowBatch
    ) {
        let comparator = bound.comparison.comparator
        let column = columns.firstIndex(of: property.column)
        if bound.constants.count == 1, bound.comparison.quantifier == .any {
            let constant = bound.constants[0]
            if column == nil, case .integer(let value) = constant,
                filter(&mask, batch.keys, comparator, value)
            {
                return
            }
            if let column, !property.tag.isOptional {
                switch (property.tag.columnType, constant) {
                case (.integer, .integer(let value)):
                    if filter(&mask, batch.integers(column), comparator, value) { return }
                case (.double, _):
                    if let value = constant.number, filter(&mask, batch.doubles(column), comparator, value) { return }
                case (.bytes, .text(let text)) where property.tag.type == .string:
                    if filterText(&mask, batch, column, bound.comparison, Array(text.utf8)) { return }
                default: break
                }
            }
        }
        for row in mask.indices where mask[row] != 0 {
            let value = Self.value(batch, column, row, property.tag)
            let holds = PredicateEvaluator.holds(bound.comparison, value, bound.constants)
            if holds == (bound.comparison.quantifier == .none) { mask[row] = 0 }
        }
    }

    /// A comparison of numbers without branches. False when the comparator is none of these.
    @inline(__always)
    private func filter<Number: Comparable>(
        _ mask: inout [UInt8], _ values: UnsafePointer<Number>, _ comparator: Predicate.Comparator, _ constant: Number
    ) -> Bool {
        let count = mask.count
        return mask.withUnsafeMutableBufferPointer { mask in
            switch comparator {
            case .equal: for row in 0..<count { mask[row] &= values[row] == constant ? 1 : 0 }
            case .notEqual: for row in 0..<count { mask[row] &= values[row] != constant ? 1 : 0 }
            case .less: for row in 0..<count { mask[row] &= values[row] < constant ? 1 : 0 }
            case .lessOrEqual: for row in 0..<count { mask[row] &= values[row] <= constant ? 1 : 0 }
            case .greater: for row in 0..<count { mask[row] &= values[row] > constant ? 1 : 0 }
            case .greaterOrEqual: for row in 0..<count { mask[row] &= values[row] >= constant ? 1 : 0 }
            default: return false
            }
            return true
        }
    }

    /// Text compared byte by byte where it stands. False when the comparison needs more than that.
    private func filterText(
        _ mask: inout [UInt8], _ batch: RowBatch, _ column: Int, _ comparison: Predicate.Comparison, _ text: [UInt8]
    ) -> Bool {
        guard !comparison.ignoresCase else { return false }
        let wanted = comparison.comparator != .notEqual
        switch comparison.comparator {
        case .equal, .notEqual:
            for row in mask.indices where mask[row] != 0 {
                if batch.bytes(column, row).elementsEqual(text) != wanted { mask[row] = 0 }
            }
        case .beginsWith:
            for row in mask.indices where mask[row] != 0 {
                if !batch.bytes(column, row).starts(with: text) { mask[row] = 0 }
            }
        case .contains:
            text.withUnsafeBytes { text in
                for row in mask.indices where mask[row] != 0 {
                    if !TextSearch.contains(batch.bytes(column, row), text) { mask[row] = 0 }
                }
            }
        default: return false
        }
        return true
    }

    private static func value(_ batch: RowBatch, _ column: Int?, _ row: Int, _ tag: ColumnTag) -> _StoredValue {
        guard let column else { return .integer(batch.keys[row]) }
        if batch.isNull(column, row) { return .null }
        switch tag.columnType {
        case .integer: return .integer(batch.integers(column)[row])
        case .link: return .link(batch.integers(column)[row])
        case .double: return .double(batch.doubles(column)[row])
        case .bytes, .links:
            return _StoredValue(batch.bytes(column, row), tag)
        }
    }
}
