// Queries on the values of maps, as on those of lists.

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    private var objects: ObjectSource {
        guard let source = _source else {
            fatalError("an unmanaged map cannot be queried; add its owner to a Realm first")
        }
        return source
    }

    /// The objects among the values that match, in the order of their keys.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
        matching { () throws(Realm.Error) in isIncluded(Query(Predicate.Path())).predicate }
    }

    /// The objects among the values that match a format. Stops the program when it cannot be read or answered.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Value> {
        matching { () throws(Realm.Error) in try PredicateParser.parse(format, arguments) }
    }

    private func matching(_ predicate: () throws(Realm.Error) -> Predicate) -> Results<Value> {
        let source = objects
        do throws(Realm.Error) {
            let predicate = try predicate()
            return Results(
                source.filtered(predicate, try PredicateBinder.bind(predicate, source.instance, source.access)))
        } catch {
            fatalError(error.description)
        }
    }
}

extension Map where Value: _QueryElement {
    /// The values that match, in the order of their keys.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
        matching { () throws(Realm.Error) in isIncluded(Query(Predicate.Path())).predicate }
    }

    /// The values that match a format, in which `SELF` is the value. Stops the program when it cannot be answered.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Value> {
        matching { () throws(Realm.Error) in try PredicateParser.parse(format, arguments) }
    }

    private func matching(_ predicate: () throws(Realm.Error) -> Predicate) -> Results<Value> {
        guard let column = _column else {
            fatalError("an unmanaged map cannot be queried; add its owner to a Realm first")
        }
        let source = ValueSource(column)
        do throws(Realm.Error) {
            return Results(source.adding(.filter(try ValueCondition.make(try predicate(), source.tag, source.name))))
        } catch {
            fatalError(error.description)
        }
    }
}
