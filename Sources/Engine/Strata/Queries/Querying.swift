import StrataStorage

extension RealmCollection {
    /// The elements that match.
    ///
    ///     realm.objects(Person.self).where { $0.age >= 3 && $0.dogs.name == "Taro" }
    ///     student.marks.where { $0 < 3 }
    ///
    /// An invalid query, such as a sum of texts, stops the program here: it is an error of the program.
    /// - Complexity: O(1); reading the results costs what ``Results/explain()`` shows.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        matching { () throws(RealmError) in isIncluded(Query(Predicate.Path())).predicate }
    }

    /// The elements that match a format such as `"age > %@ AND name CONTAINS[c] 'ta'"`; for plain values `SELF` is the
    /// value: `"SELF > 3"`.
    ///
    /// Stops the program if the format is invalid or has an unknown name: the programmer writes it, and the method
    /// cannot throw. ``tryFilter(_:_:)`` is for formats that a user of the program writes.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
        filter(format, argumentArray: arguments)
    }

    /// ``filter(_:_:)`` with arguments that are not optional, as protocols of applications declare it.
    @_disfavoredOverload
    public func filter(_ format: String, _ arguments: Any...) -> Results<Element> {
        filter(format, argumentArray: arguments)
    }

    /// The elements that match a format, with its arguments in an array, for code that passes on its caller's
    /// arguments.
    public func filter(_ format: String, argumentArray: [Any?]?) -> Results<Element> {
        matching { () throws(RealmError) in try PredicateParser.parse(format, argumentArray ?? []) }
    }

    /// The elements that match a format.
    ///
    ///     let found = try people.tryFilter(field.text)
    /// - Throws: ``Realm/Error`` with `invalidInput` for an invalid format, with the position and what was expected
    ///   there, for a property that the class does not have, and for operands that are not comparable.
    public func tryFilter(_ format: String, _ arguments: Any?...) throws(RealmError) -> Results<Element> {
        try tryFilter(format, argumentArray: arguments)
    }

    /// ``tryFilter(_:_:)`` with the arguments in an array.
    public func tryFilter(_ format: String, argumentArray: [Any?]?) throws(RealmError) -> Results<Element> {
        try matching(try PredicateParser.parse(format, argumentArray ?? []))
    }

    func matching(_ predicate: Predicate) throws(RealmError) -> Results<Element> {
        try requiredSource.filtered(predicate).results()
    }

    private func matching(_ predicate: () throws(RealmError) -> Predicate) -> Results<Element> {
        do throws(RealmError) { return try matching(try predicate()) } catch { fatalError(error.description) }
    }

    // MARK: Places

    /// The index of the first match. In an unmanaged collection the elements are tested one by one.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        place { () throws(RealmError) in isIncluded(Query(Predicate.Path())).predicate }
    }

    /// The index of the first match of a format.
    public func index(matching format: String, _ arguments: Any?...) -> Int? {
        index(matching: format, argumentArray: arguments)
    }

    /// ``index(matching:_:)`` with arguments that are not optional, as protocols of applications declare it.
    @_disfavoredOverload
    public func index(matching format: String, _ arguments: Any...) -> Int? {
        index(matching: format, argumentArray: arguments)
    }

    /// The index of the first match of a format, with its arguments in an array.
    public func index(matching format: String, argumentArray: [Any?]?) -> Int? {
        place { () throws(RealmError) in try PredicateParser.parse(format, argumentArray ?? []) }
    }

    func place(_ predicate: () throws(RealmError) -> Predicate) -> Int? {
        do throws(RealmError) { return try place(of: try predicate()) } catch { fatalError(error.description) }
    }

    private func place(of predicate: Predicate) throws(RealmError) -> Int? {
        switch managedSource {
        case .objects(let source)?:
            return try matching(predicate)._source?.key(at: 0).flatMap { source.index(of: $0) }
        case .values(let source)?:
            let (tag, values) = (source.tag, source.values)
            let holds = try ValueCondition.make(predicate, tag, source.name)
            return values.firstIndex { holds(CollectionValues.comparable($0, tag)) }
        case nil: return try unmanagedPlace(of: predicate)
        }
    }

    private func unmanagedPlace(of predicate: Predicate) throws(RealmError) -> Int? {
        let tag = ColumnTag(Element._elementShape, isPrimary: false)
        if tag.type == .object {
            for (place, element) in enumerated() {
                guard let object = element._elementObject else { continue }
                if try FieldEvaluator.matches(predicate, object) { return place }
            }
            return nil
        }
        let holds = try ValueCondition.make(predicate, tag, "\(Self.self)")
        return firstIndex { holds(CollectionValues.comparable($0._encodeElement(.unmanaged), tag)) }
    }

    // MARK: Order

    /// Sorted by a property, or by one at the end of links; plain values by `self`. Null comes first; see ``TextOrder``
    /// for text.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Sorted by several properties, the first one being the most significant. Earlier sorts break ties.
    public func sorted<Descriptors: Sequence<SortDescriptor>>(by descriptors: Descriptors) -> Results<Element> {
        requiredSource.sorted(Array(descriptors)).results()
    }

    // MARK: Fewer

    /// The first of the objects with equal values of some properties, or of properties at the end of links; plain
    /// values by `self`, the first of equal ones.
    ///
    ///     people.sorted(by: \.age).distinct(by: ["city"])     // the youngest of each city
    public func distinct<Names: Sequence<String>>(by keyPaths: Names) -> Results<Element> {
        requiredSource.distinct(Array(keyPaths)).results()
    }

    /// At most `count` elements. Later steps of a chain apply only to these.
    ///
    ///     articles.sorted(by: \.date, ascending: false).limit(20)
    /// - Parameters:
    ///   - count: the maximum. A negative number, here and for the offset, is an invalid access, and counts as 0.
    ///   - offset: how many elements to leave out first.
    public func limit(_ count: Int, offset: Int = 0) -> Results<Element> {
        requiredSource.limited(_gone.amount(count), offset: _gone.amount(offset)).results()
    }
}

extension RealmCollection where Element: _RowElement {
    public func sorted<Value>(by keyPath: KeyPath<Element, Value>, ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: _name(for: keyPath), ascending: ascending)
    }

    public func distinct(by keyPaths: [PartialKeyPath<Element>]) -> Results<Element> {
        distinct(by: keyPaths.map { _name(for: $0) })
    }
}

extension Results where Element: _RowElement {
    /// How the results are found, a line per step: the index and its estimate of rows, the filter over whole columns,
    /// and the conditions evaluated row by row. For people and for tests of an application's speed.
    ///
    ///     print(people.where { $0.email == "a@b.c" && $0.age > 3 }.explain())
    ///     // Person
    ///     // 1. index on 'email': 1 rows at most
    ///     // 2. row by row: email == 'a@b.c' AND age > 3
    /// - Complexity: that of planning: queries behind links run on the other class.
    public func explain() -> String { source.explained() }
}

extension ObjectSource {
    fileprivate func explained() -> String {
        guard let view = instance.currentView else { return "\(access.name): the Realm is closed" }
        var lines: [String] = []
        attempt { () throws(StorageError) in
            for (place, step) in steps.enumerated() {
                switch step {
                case .filter(let predicate):
                    if place == 0, case .table = base {
                        lines += try TableQuery(instance, access, predicate).explained(view)
                    } else {
                        lines.append("of these: \(predicate)")
                    }
                case .sort(let descriptors):
                    lines.append("sorted by " + descriptors.map(\.shown).joined(separator: ", "))
                case .distinct(let keyPaths): lines.append("distinct by " + keyPaths.joined(separator: ", "))
                case .limit(let count, let offset):
                    lines.append("at most \(count)" + (offset > 0 ? " behind the first \(offset)" : ""))
                }
            }
            if let start = try explainedBase(view) { lines.insert(start, at: 0) }
        }
        let numbered = lines.enumerated().map { "\($0 + 1). \($1)" }
        return ([access.name] + numbered).joined(separator: "\n")
    }

    private func explainedBase(_ view: ReadView) throws(StorageError) -> String? {
        switch base {
        case .table:
            if case .filter? = steps.first { return nil }
            return "all \(try view.rowCount(access.table)) rows"
        case .list(let owner, let property): return "the list '\(owner._access.properties[property].name)'"
        case .backlinks(_, let origin, let property):
            return "links of '\(origin.name).\(origin.properties[property].name)', backwards"
        case .keys(let keys): return "\(keys.count) known rows"
        }
    }
}
