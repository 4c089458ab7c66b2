// Queries on the values of maps, as on those of lists.

extension Map {
    var requiredSource: CollectionSource {
        if let source = _source { return .objects(source) }
        guard let column = _column else {
            fatalError("an unmanaged map cannot be queried; add its owner to a Realm first")
        }
        return .values(ValueSource(column))
    }

    /// The values that match, or the objects among them that do, in the order of their keys.
    ///
    ///     person.scores.where { $0 > 3 }
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
        matching { () throws(RealmError) in isIncluded(Query(Predicate.Path())).predicate }
    }

    /// The values that match a format; for plain values `SELF` is the value. Stops the program if it is invalid.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Value> {
        filter(format, argumentArray: arguments)
    }

    /// The values that match a format, with its arguments in an array.
    public func filter(_ format: String, argumentArray: [Any?]?) -> Results<Value> {
        matching { () throws(RealmError) in try PredicateParser.parse(format, argumentArray ?? []) }
    }

    func matching(_ predicate: () throws(RealmError) -> Predicate) -> Results<Value> {
        do throws(RealmError) { return try requiredSource.filtered(try predicate()).results() } catch {
            fatalError(error.description)
        }
    }
}
