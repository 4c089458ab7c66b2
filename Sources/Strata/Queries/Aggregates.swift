import StrataStorage

/// Types that `min` and `max` work on.
public protocol MinMaxType: _Scalar {}
/// Types that `sum` and `average` work on.
public protocol AddableType: _Scalar {}

extension Int: MinMaxType, AddableType {}
extension Int8: MinMaxType, AddableType {}
extension Int16: MinMaxType, AddableType {}
extension Int32: MinMaxType, AddableType {}
extension Int64: MinMaxType, AddableType {}
extension Double: MinMaxType, AddableType {}
extension Float: MinMaxType, AddableType {}

extension RealmCollection where Element: ObjectBase {
    /// The smallest value that is not null; nil when there is none.
    public func min<Value: MinMaxType>(ofProperty property: String) -> Value? {
        Aggregates(_source, property).least().flatMap { Value._from($0) }
    }

    /// The largest value that is not null; nil when there is none.
    public func max<Value: MinMaxType>(ofProperty property: String) -> Value? {
        Aggregates(_source, property).most().flatMap { Value._from($0) }
    }

    /// The sum of the values that are not null; 0 when there is none. Integers wrap around at 64 bits.
    public func sum<Value: AddableType>(ofProperty property: String) -> Value {
        Value._from(Aggregates(_source, property).sum().sum) ?? Value._makeDefault()
    }

    /// The mean of the values that are not null; nil when there is none.
    public func average<Value: AddableType>(ofProperty property: String) -> Value? {
        let (sum, count) = Aggregates(_source, property).sum()
        guard count > 0, let total = sum.number else { return nil }
        return Value._from(.double(total / Double(count)))
    }

    public func min<Value: MinMaxType>(of keyPath: KeyPath<Element, Value>) -> Value? {
        min(ofProperty: _name(for: keyPath))
    }
    public func max<Value: MinMaxType>(of keyPath: KeyPath<Element, Value>) -> Value? {
        max(ofProperty: _name(for: keyPath))
    }
    public func sum<Value: AddableType>(of keyPath: KeyPath<Element, Value>) -> Value {
        sum(ofProperty: _name(for: keyPath))
    }
    public func average<Value: AddableType>(of keyPath: KeyPath<Element, Value>) -> Double? {
        let (sum, count) = Aggregates(_source, _name(for: keyPath)).sum()
        return count > 0 ? sum.number.map { $0 / Double(count) } : nil
    }
    public func min<Value: MinMaxType>(of keyPath: KeyPath<Element, Value?>) -> Value? {
        min(ofProperty: _name(for: keyPath))
    }
    public func max<Value: MinMaxType>(of keyPath: KeyPath<Element, Value?>) -> Value? {
        max(ofProperty: _name(for: keyPath))
    }
    public func sum<Value: AddableType>(of keyPath: KeyPath<Element, Value?>) -> Value {
        sum(ofProperty: _name(for: keyPath))
    }
    public func average<Value: AddableType>(of keyPath: KeyPath<Element, Value?>) -> Double? {
        let (sum, count) = Aggregates(_source, _name(for: keyPath)).sum()
        return count > 0 ? sum.number.map { $0 / Double(count) } : nil
    }
}

/// One property of the objects of a collection.
private struct Aggregates {
    let source: ObjectSource?
    let property: BoundProperty?

    init(_ source: ObjectSource?, _ name: String) {
        self.source = source
        property = source?.access.property(name)
        precondition(
            source == nil || property?.tag.collection == PropertyCollection.none,
            "'\(source?.access.name ?? "")' has no property '\(name)' with a single value")
    }

    typealias PropertyCollection = _PropertyCollection

    func least() -> _StoredValue? {
        if let (view, table, column, filter) = stored {
            return range(view, table, column, filter).map { .integer($0.lowerBound) }
        }
        return extreme { _StoredValue.precedes($0, $1) }
    }

    func most() -> _StoredValue? {
        if let (view, table, column, filter) = stored {
            return range(view, table, column, filter).map { .integer($0.upperBound) }
        }
        return extreme { _StoredValue.precedes($1, $0) }
    }

    private func range(_ view: ReadView, _ table: Int, _ column: Int, _ filter: RowFilter) -> ClosedRange<Int64>? {
        source?.attempt(nil) { () throws(StorageError) in
            try view.integerExtremes(table, column, where: filter)
        }
    }

    /// Integers of rows that storage finds by itself: it adds and compares them where they stand. Doubles are added in
    /// the order of the rows, here, so that a sum does not depend on how rows are stored.
    private var stored: (view: ReadView, table: Int, column: Int, filter: RowFilter)? {
        guard let source, let property, property.column >= 0, property.tag.columnType == .integer,
            let view = source.instance.currentView, let filter = source.rowFilter(view)
        else { return nil }
        return (view, source.access.table, property.column, filter)
    }

    private func extreme(_ isBetter: (_StoredValue, _StoredValue) -> Bool) -> _StoredValue? {
        var best: _StoredValue?
        forEach { value in
            if let known = best { if isBetter(value, known) { best = value } } else { best = value }
        }
        return best
    }

    func sum() -> (sum: _StoredValue, count: Int) {
        guard let source, let property else { return (.integer(0), 0) }
        if let (view, table, column, filter) = stored {
            return source.attempt((.integer(0), 0)) { () throws(StorageError) in
                if filter == .everything {
                    let (sum, count) = try view.sum(table, column)
                    return (.integer(sum), count)
                }
                let totals = try view.integers(table, column, where: filter)
                return (.integer(totals.sum), totals.count)
            }
        }
        var integers: Int64 = 0
        var doubles = 0.0
        var count = 0
        forEach { value in
            count += 1
            switch value {
            case .integer(let integer): integers &+= integer
            case .double(let double): doubles += double
            default: break
            }
        }
        return (property.tag.columnType == .double ? .double(doubles) : .integer(integers), count)
    }

    /// Calls `body` with every value that is not null.
    private func forEach(_ body: (_StoredValue) -> Void) {
        guard let source, let property, let view = source.instance.currentView else { return }
        source.attempt(()) { () throws(StorageError) in
            if source.isWholeTable, property.column >= 0 {
                return try scan(view, source.access.table, property, body)
            }
            for key in source.keys() {
                if property.column == Int(ColumnSlot.key) {
                    body(.integer(key))
                } else if property.column >= 0, let location = try view.locate(source.access.table, RowKey(key)) {
                    let value = try view.value(location, property.column, property.tag)
                    if !value.isNull { body(value) }
                }
            }
        }
    }

    private func scan(
        _ view: ReadView, _ table: Int, _ property: BoundProperty, _ body: (_StoredValue) -> Void
    ) throws(StorageError) {
        try view.scan(table, columns: [property.column]) { (batch) throws(StorageError) -> Bool in
            for row in 0..<batch.count where !batch.isNull(0, row) {
                switch property.tag.columnType {
                case .integer: body(.integer(batch.integers(0)[row]))
                case .double: body(.double(batch.doubles(0)[row]))
                default: body(.bytes(Array(batch.bytes(0, row))))
                }
            }
            return true
        }
    }
}
