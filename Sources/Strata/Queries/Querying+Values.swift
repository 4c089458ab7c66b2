import StrataStorage

// Queries on lists and sets of plain values, and on what they find.

extension RealmCollection {
    fileprivate var requiredValues: ValueSource {
        guard let source = _values?.source else {
            fatalError("an unmanaged collection cannot be queried; add its owner to a Realm first")
        }
        return source
    }
}

extension RealmCollection where Element: _QueryElement {
    /// The values that match, in their order. Live, as other results.
    ///
    ///     let good = student.marks.where { $0 < 3 }
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        do throws(Realm.Error) { return try matching(isIncluded(Query(Predicate.Path())).predicate) } catch {
            fatalError(error.description)
        }
    }

    /// The values that match a format, in which `SELF` is the value: `"SELF > 3"`.
    ///
    /// Stops the program when the format cannot be read, or asks for anything else.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
        do throws(Realm.Error) { return try matching(try PredicateParser.parse(format, arguments)) } catch {
            fatalError(error.description)
        }
    }

    /// The values that match a format, or what is wrong with it.
    /// - Throws: ``Realm/Error`` with `invalidInput`.
    public func tryFilter(_ format: String, _ arguments: Any?...) throws(Realm.Error) -> Results<Element> {
        try matching(try PredicateParser.parse(format, arguments))
    }

    func matching(_ predicate: Predicate) throws(Realm.Error) -> Results<Element> {
        let source = requiredValues
        return Results(source.adding(.filter(try ValueCondition.make(predicate, source.tag, source.name))))
    }

    /// The place of the first match, in an unmanaged list too.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        place(of: isIncluded(Query(Predicate.Path())).predicate)
    }

    /// The place of the first match of a format, in which `SELF` is the value.
    public func index(matching format: String, _ arguments: Any?...) -> Int? {
        do throws(Realm.Error) { return place(of: try PredicateParser.parse(format, arguments)) } catch {
            fatalError(error.description)
        }
    }

    private func place(of predicate: Predicate) -> Int? {
        let source = _values?.source
        let tag = source?.tag ?? ColumnTag(Element._elementShape, isPrimary: false)
        do throws(Realm.Error) {
            let holds = try ValueCondition.make(predicate, tag, source?.name ?? "\(Self.self)")
            let values = source?.values ?? map(\._queryValue)
            return values.firstIndex { holds(CollectionValues.comparable($0, tag)) }
        } catch {
            fatalError(error.description)
        }
    }

    /// At most so many values, behind so many others. A negative number is an access to what is not there, and stands
    /// for none.
    public func limit(_ count: Int, offset: Int = 0) -> Results<Element> {
        Results(requiredValues.adding(.limit(_gone.amount(count), offset: _gone.amount(offset))))
    }

    /// What a number or a date among the values comes to; nulls are skipped.
    fileprivate func aggregate<Value: _Scalar>(_ aggregate: Predicate.Aggregate) -> Value? {
        let column = (self as? any _ColumnCollection)?._column
        let total = column?.read(nil) { (contents) throws(StorageError) in
            try CollectionValues.total(aggregate, contents.reader, contents.tag)
        }
        return Value._from((total ?? nil) ?? aggregate.of(map(\._queryValue)))
    }
}

extension RealmCollection where Element.PersistedType: SortableType {
    /// In the order of the values: null, then NaN, then by value; text by Unicode scalars.
    public func sorted(ascending: Bool) -> Results<Element> {
        Results(requiredValues.adding(.sort(ascending: ascending)))
    }

    /// In ascending order. See ``sorted(ascending:)``.
    public func sorted() -> Results<Element> { sorted(ascending: true) }

    /// Each value once, where it stands first.
    public func distinct() -> Results<Element> { Results(requiredValues.adding(.distinct)) }
}

extension RealmCollection where Element: Comparable, Element.PersistedType: SortableType {
    /// In ascending order. See ``sorted(ascending:)``.
    public func sorted() -> Results<Element> { sorted(ascending: true) }
}

extension RealmCollection where Element: MinMaxType & _Scalar & Comparable {
    /// The smallest value that is not NaN; nil when there is none.
    public func min() -> Element? { aggregate(.min) }
    /// The largest value that is not NaN; nil when there is none.
    public func max() -> Element? { aggregate(.max) }
}

extension RealmCollection where Element: AddableType & _Scalar & Comparable {
    /// The sum of the values; 0 when there is none. Integers wrap around at 64 bits.
    public func sum() -> Element { aggregate(.sum) ?? Element._makeDefault() }
    /// The mean of the values; nil when there is none. The mean of integers is rounded towards zero.
    public func average() -> Element? {
        let mean = Predicate.Aggregate.avg.of(map(\._queryValue))
        return Element._from(mean)
            ?? mean.number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.flatMap { Element._from(.integer($0)) }
    }
}
