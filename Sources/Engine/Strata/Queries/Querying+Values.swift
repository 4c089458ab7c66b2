import StrataStorage

// Queries on lists and sets of plain values, and on their results.

extension RealmCollection where Element: _QueryElement {
    /// The aggregate of the numbers or dates; nulls are skipped.
    fileprivate func aggregate<Value: _Scalar>(_ aggregate: Predicate.Aggregate) -> Value? {
        let column = (self as? any _ColumnCollection)?._column
        let total = column?.read(nil) { (contents) throws(StorageError) in
            try CollectionValues.total(aggregate, contents.reader, contents.tag)
        }
        return Value._from((total ?? nil) ?? aggregate.of(map(\._queryValue)))
    }
}

extension RealmCollection where Element.PersistedType: SortableType {
    /// Sorted by value: null, then NaN, then by value; text by Unicode scalars.
    public func sorted(ascending: Bool) -> Results<Element> {
        sorted(byKeyPath: "self", ascending: ascending)
    }

    /// Sorted ascending. See ``sorted(ascending:)``.
    public func sorted() -> Results<Element> { sorted(ascending: true) }

    /// The first occurrence of each value.
    public func distinct() -> Results<Element> { distinct(by: ["self"]) }
}

extension RealmCollection where Element: Comparable, Element.PersistedType: SortableType {
    /// Sorted ascending. See ``sorted(ascending:)``.
    public func sorted() -> Results<Element> { sorted(ascending: true) }
}

extension RealmCollection where Element: MinMaxType & _Scalar & Comparable {
    /// The smallest value that is not NaN; nil if there is none.
    public func min() -> Element? { aggregate(.min) }
    /// The largest value that is not NaN; nil if there is none.
    public func max() -> Element? { aggregate(.max) }
}

extension RealmCollection where Element: AddableType & _Scalar & Comparable {
    /// The sum of the values; 0 if there is none. Integers wrap around at 64 bits.
    public func sum() -> Element { aggregate(.sum) ?? Element._makeDefault() }
    /// The mean of the values; nil if there is none. The mean of integers is rounded towards zero.
    public func average() -> Element? {
        let mean = Predicate.Aggregate.avg.of(map(\._queryValue))
        return Element._from(mean)
            ?? mean.number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.flatMap { Element._from(.integer($0)) }
    }
}
