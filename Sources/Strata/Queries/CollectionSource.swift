/// What a collection of any element type is queried, put in order and observed through.
enum CollectionSource {
    case objects(ObjectSource)
    case values(ValueSource)

    var instance: RealmInstance {
        switch self {
        case .objects(let source): source.instance
        case .values(let source): source.column.owner._access.instance
        }
    }

    /// Whose property the collection follows from; nil for all objects of a class.
    var owner: ObjectBase? {
        switch self {
        case .objects(let source): source.owner
        case .values(let source): source.column.owner
        }
    }

    func results<Element>() -> Results<Element> {
        switch self {
        case .objects(let source): Results(source)
        case .values(let source): Results(source)
        }
    }

    /// - Throws: `invalidInput` for a condition that the elements cannot be asked.
    func filtered(_ predicate: Predicate) throws(Realm.Error) -> CollectionSource {
        switch self {
        case .objects(let source):
            return .objects(
                source.filtered(predicate, try PredicateBinder.bind(predicate, source.instance, source.access)))
        case .values(let source):
            return .values(source.adding(.filter(try ValueCondition.make(predicate, source.tag, source.name))))
        }
    }

    /// Stops the program where a descriptor names what the elements do not have.
    func sorted(_ descriptors: [SortDescriptor]) -> CollectionSource {
        switch self {
        case .objects(let source):
            _ = RowSort(source.instance, source.access, descriptors)
            return .objects(source.sorted(descriptors))
        case .values(let source):
            for descriptor in descriptors { source.requireSelf(descriptor.keyPath, "sorted by") }
            // From the last to the first: each order leaves equal values as they are.
            return .values(
                descriptors.reversed().reduce(source) {
                    $0.adding(.sort(ascending: $1.ascending, order: $1.order))
                })
        }
    }

    /// Stops the program where a key path names what the elements do not have.
    func distinct(_ keyPaths: [String]) -> CollectionSource {
        switch self {
        case .objects(let source):
            _ = RowDistinction(source.instance, source.access, keyPaths)
            return .objects(source.adding(.distinct(keyPaths)))
        case .values(let source):
            for keyPath in keyPaths { source.requireSelf(keyPath, "told apart by") }
            return .values(source.adding(.distinct))
        }
    }

    func limited(_ count: Int, offset: Int) -> CollectionSource {
        switch self {
        case .objects(let source): .objects(source.adding(.limit(count, offset: offset)))
        case .values(let source): .values(source.adding(.limit(count, offset: offset)))
        }
    }
}

extension ValueSource {
    /// Stops the program at a key path that is not the value itself.
    fileprivate func requireSelf(_ keyPath: String, _ use: String) {
        if keyPath.lowercased() == "self" { return }
        fatalError(
            "'\(name)' holds plain values, which have no properties: it cannot be \(use) '\(keyPath)'; 'self' is the "
                + "value")
    }
}

extension RealmCollection {
    /// Nil where nothing manages the collection.
    var managedSource: CollectionSource? {
        if let source = _source { return .objects(source) }
        return (_values?.source).map { .values($0) }
    }

    var requiredSource: CollectionSource {
        guard let source = managedSource else {
            fatalError("an unmanaged collection cannot be queried; add its owner to a Realm first")
        }
        return source
    }
}
