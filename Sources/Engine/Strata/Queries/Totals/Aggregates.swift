import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Date: MinMaxType, SortableType {}
extension Int: MinMaxType, AddableType, SortableType {}
extension Int8: MinMaxType, AddableType, SortableType {}
extension Int16: MinMaxType, AddableType, SortableType {}
extension Int32: MinMaxType, AddableType, SortableType {}
extension Int64: MinMaxType, AddableType, SortableType {}
extension Double: MinMaxType, AddableType, SortableType {}
extension Float: MinMaxType, AddableType, SortableType {}
extension Decimal128: MinMaxType, AddableType, SortableType {}

extension Bool: SortableType {}
extension String: SortableType {}
extension Data: SortableType {}
extension UUID: SortableType {}
extension ObjectId: SortableType {}

extension RealmCollection {
    /// The smallest value that is neither null nor NaN; nil if there is none. The property of plain values is `self`.
    public func min<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: MinMaxType { Aggregates(self, property).least().flatMap { Value._number($0) } }

    /// The largest value that is neither null nor NaN; nil if there is none.
    public func max<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: MinMaxType { Aggregates(self, property).most().flatMap { Value._number($0) } }

    /// The sum of the values that are not null; 0 if there is none. Integers wrap around at 64 bits.
    public func sum<Value: _HasPersistedType>(ofProperty property: String) -> Value
    where Value.PersistedType: AddableType {
        if let sum = Value._number(Aggregates(self, property).sum().sum) ?? Value._number(.integer(0)) { return sum }
        fatalError("\(Value.self) has no value for a sum")
    }

    /// The mean of the values that are not null; nil if there is none. For a type without fractions it is rounded
    /// towards zero.
    public func average<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: AddableType {
        let numbers = Aggregates(self, property)
        if case (.decimal(let sum), let count) = numbers.sum(), count > 0,
            let mean = Value._number(.decimal(sum / Decimal128(integerLiteral: Int64(count))))
        {
            return mean
        }
        return numbers.mean().flatMap { Value._mean(.double($0)) }
    }
}

extension RealmCollection where Element: ObjectBase {
    public func min<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType { min(ofProperty: _name(for: keyPath)) }

    public func max<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType { max(ofProperty: _name(for: keyPath)) }

    public func sum<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value
    where Value.PersistedType: AddableType { sum(ofProperty: _name(for: keyPath)) }

    public func average<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Double?
    where Value.PersistedType: AddableType { Aggregates(self, _name(for: keyPath)).mean() }

    /// The mean as the property's own type; for a type without fractions it is rounded towards zero.
    @_disfavoredOverload
    public func average<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: AddableType { average(ofProperty: _name(for: keyPath)) }

    /// The first case in the order of their raw values, which may be text.
    @_disfavoredOverload
    public func min<Value: PersistableEnum>(of keyPath: KeyPath<Element, Value>) -> Value? {
        Aggregates(self, _name(for: keyPath)).least().flatMap { Value._from($0) }
    }

    /// The last case in the order of their raw values, which may be text.
    @_disfavoredOverload
    public func max<Value: PersistableEnum>(of keyPath: KeyPath<Element, Value>) -> Value? {
        Aggregates(self, _name(for: keyPath)).most().flatMap { Value._from($0) }
    }

    /// The mean of decimals, rounded only to their 34 digits.
    public func average(of keyPath: KeyPath<Element, Decimal128>) -> Decimal128? {
        average(ofProperty: _name(for: keyPath))
    }
    public func average(of keyPath: KeyPath<Element, Decimal128?>) -> Decimal128? {
        average(ofProperty: _name(for: keyPath))
    }
    public func min<Value: _OptionalPersistable>(of keyPath: KeyPath<Element, Value?>) -> Value?
    where Value.PersistedType: MinMaxType { min(ofProperty: _name(for: keyPath)) }

    public func max<Value: _OptionalPersistable>(of keyPath: KeyPath<Element, Value?>) -> Value?
    where Value.PersistedType: MinMaxType { max(ofProperty: _name(for: keyPath)) }

    public func sum<Value: _OptionalPersistable>(of keyPath: KeyPath<Element, Value?>) -> Value
    where Value.PersistedType: AddableType { sum(ofProperty: _name(for: keyPath)) }

    public func average<Value: _OptionalPersistable>(of keyPath: KeyPath<Element, Value?>) -> Double?
    where Value.PersistedType: AddableType { Aggregates(self, _name(for: keyPath)).mean() }
}

extension RealmCollection {
    fileprivate var holdsObjects: Bool { ColumnTag(Element._elementShape, isPrimary: false).type == .object }

    /// The values of a property of the elements, or plain values, in the form of columns.
    fileprivate func constants(_ name: String) -> [_StoredValue] {
        guard holdsObjects else { return compactMap { _StoredValue(constant: $0) } }
        return compactMap { _StoredValue(constant: $0._elementObject?.value(forKeyPath: name)) }
    }
}

/// One property of the objects of a collection, or one at the end of links.
private struct Aggregates {
    private let source: ObjectSource?
    private let reader: ColumnReader?
    /// The values of an unmanaged collection.
    private let unmanaged: () -> [_StoredValue]

    /// Stops the program if the property does not suit the class, or is not `self` for plain values.
    init(_ collection: some RealmCollection, _ name: String) {
        let source = collection._source
        self.source = source
        unmanaged = { collection.constants(name) }
        if source == nil, !collection.holdsObjects, name.lowercased() != "self" {
            fatalError(
                "plain values have no properties: '\(name)' cannot be aggregated; 'self' is the value")
        }
        do throws(RealmError) {
            reader = try source.map { (source) throws(RealmError) in
                try ColumnReader(source.instance, source.access, name, to: "aggregate")
            }
        } catch {
            fatalError(error.description)
        }
    }

    func least() -> _StoredValue? {
        if let range = storedRange() { return range.0 }
        return extreme { _StoredValue.precedes($0, $1) }
    }

    func most() -> _StoredValue? {
        if let range = storedRange() { return range.1 }
        return extreme { _StoredValue.precedes($1, $0) }
    }

    /// The extremes, computed by storage in place, without copying the values. The outer nil: storage cannot.
    private func storedRange() -> (_StoredValue?, _StoredValue?)? {
        guard let source, let (view, column, filter) = stored, let type = reader?.tag?.columnType else { return nil }
        let table = source.access.table
        return source.attempt { () throws(StorageError) in
            if type == .integer {
                let range = try FilteredRows(view, table, filter).integerExtremes(column)
                return (range.map { .integer($0.lowerBound) }, range.map { .integer($0.upperBound) })
            }
            let range = try FilteredRows(view, table, filter).doubleExtremes(column)
            return (range.map { .double($0.lowerBound) }, range.map { .double($0.upperBound) })
        }
    }

    /// The filter for storage, if the property is a number of the row itself.
    private var stored: (view: ReadView, column: Int, filter: RowFilter)? {
        guard let source, let step = reader?.path.ownStep, step.property.column >= 0,
            step.property.tag.columnType == .integer || step.property.tag.columnType == .double,
            let view = source.instance.currentView, let filter = source.rowFilter(view)
        else { return nil }
        return (view, step.property.column, filter)
    }

    private func extreme(_ isBetter: (_StoredValue, _StoredValue) -> Bool) -> _StoredValue? {
        var best: _StoredValue?
        forEach(restart: { best = nil }) { value in
            if value.number?.isNaN == true { return }
            if let known = best { if isBetter(value, known) { best = value } } else { best = value }
        }
        return best
    }

    /// The sum and the number of its values. Doubles are added in the order of the collection, so that the sum does not
    /// depend on the order of storage.
    func sum() -> (sum: _StoredValue, count: Int) {
        if let sum = storedSum() { return sum }
        var total = Total()
        forEach(restart: { total = Total() }, { total.add($0) })
        return (total.value(reader?.tag), total.count)
    }

    /// The sum of integers, if storage can evaluate the filter and the rows are readable.
    private func storedSum() -> (sum: _StoredValue, count: Int)? {
        if let source, let reader, reader.tag?.columnType == .integer, let (view, column, filter) = stored {
            return source.attempt { () throws(StorageError) in
                if filter == .everything {
                    let (sum, count) = try view.sum(source.access.table, column)
                    return (.integer(sum), count)
                }
                let totals = try FilteredRows(view, source.access.table, filter).integers(column)
                return (.integer(totals.sum), totals.count)
            }
        }
        return nil
    }

    /// The total of numbers of one type, or of several if the property is of any type.
    private struct Total {
        private var integers: Int64 = 0
        private var doubles = 0.0
        private var decimals: Decimal128?
        private var hasDoubles = false
        private(set) var count = 0

        mutating func add(_ value: _StoredValue) {
            switch value {
            case .integer(let integer): integers &+= integer
            case .double(let double):
                doubles += double
                hasDoubles = true
            case .decimal(let decimal): decimals = (decimals ?? 0) + decimal
            default: return
            }
            count += 1
        }

        func value(_ tag: ColumnTag?) -> _StoredValue {
            if let decimals {
                var sum = decimals + Decimal128(integerLiteral: integers)
                if hasDoubles { sum += Decimal128._from(.double(doubles)) ?? 0 }
                return .decimal(sum)
            }
            if tag?.type == .decimal128 { return .decimal(0) }
            return hasDoubles || tag?.columnType == .double ? .double(doubles + Double(integers)) : .integer(integers)
        }
    }

    /// The mean. Unlike the sum it does not wrap: integers whose sum may overflow are added as doubles.
    func mean() -> Double? {
        let (sum, count) = sum()
        guard count > 0 else { return nil }
        #if Zoo
            if PlantedMistake.meanCountsNulls.isPlanted, let source {
                return sum.number.map { $0 / Double(source.keys().count) }
            }
        #endif
        guard case .integer = sum, !fits(count) else { return sum.number.map { $0 / Double(count) } }
        var total = 0.0
        forEach(restart: { total = 0 }) { value in
            if case .integer(let integer) = value { total += Double(integer) }
        }
        return total / Double(count)
    }

    /// Whether a sum of `count` integers between the extremes fits 64 bits.
    private func fits(_ count: Int) -> Bool {
        let (low, high) = storedRange() ?? (least(), most())
        guard case .integer(let low)? = low, case .integer(let high)? = high else { return true }
        let (sum, overflow) = max(low.magnitude, high.magnitude).multipliedReportingOverflow(by: UInt64(count))
        return !overflow && sum <= Int64.max.magnitude
    }

    /// Calls `body` with every value that is not null. On an unreadable page it calls `restart`, and then `body` with
    /// every readable value.
    private func forEach(restart: () -> Void, _ body: (_StoredValue) -> Void) {
        guard let source, let reader else { return unmanaged().filter { !$0.isNull }.forEach(body) }
        guard let view = source.instance.currentView else { return }
        func add(_ value: ColumnReader.Value) {
            if case .null = value { return }
            body(value.stored(reader.tag))
        }
        let keys = source.keys()
        if !source.isDegraded {
            do throws(StorageError) { return try reader.forEach(keys, view, add) } catch {
                source.note(error)
                if !error.isUnreadable { return }
                restart()
            }
        }
        for key in source.keys() {
            do throws(StorageError) { try reader.forEach([key], view, rowByRow: true, add) } catch {
                source.instance.failures.note(error, in: source.access, .value(row: key, column: nil))
            }
        }
    }
}
