/// The source that a collection of any element type is queried, sorted and observed through.
enum CollectionSource {
    case objects(ObjectSource)
    case values(ValueSource)

    var instance: RealmInstance {
        switch self {
        case .objects(let source): source.instance
        case .values(let source): source.column.owner._access.instance
        }
    }

    /// The object whose property the collection depends on; nil for all objects of a class.
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

    /// - Throws: `invalidInput` for a condition that does not suit the elements.
    func filtered(_ predicate: Predicate) throws(RealmError) -> CollectionSource {
        switch self {
        case .objects(let source):
            if PropertyEquality(predicate, source.access) != nil { return .objects(source.adding(.filter(predicate))) }
            return .objects(
                source.filtered(predicate, try PredicateBinder.bind(predicate, source.instance, source.access)))
        case .values(let source):
            return .values(source.adding(.filter(try ValueCondition.make(predicate, source.tag, source.name))))
        }
    }

    /// Stops the program if a descriptor does not suit the elements.
    func sorted(_ descriptors: [SortDescriptor]) -> CollectionSource {
        switch self {
        case .objects(let source):
            _ = RowSort(source.instance, source.access, descriptors)
            return .objects(source.sorted(descriptors))
        case .values(let source):
            for descriptor in descriptors { source.requireSelf(descriptor.keyPath, "sorted by") }
            // From the last to the first: each sort is stable.
            return .values(
                descriptors.reversed().reduce(source) {
                    $0.adding(.sort(ascending: $1.ascending, order: $1.order))
                })
        }
    }

    /// Stops the program if a key path does not suit the elements.
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
    /// Stops the program if the key path is not the value itself.
    fileprivate func requireSelf(_ keyPath: String, _ use: String) {
        if keyPath.lowercased() == "self" { return }
        fatalError(
            "'\(name)' holds plain values, which have no properties: it cannot be \(use) '\(keyPath)'; 'self' is the "
                + "value")
    }
}

extension RealmCollection {
    /// Nil for an unmanaged collection.
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
