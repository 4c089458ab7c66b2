/// A condition on the elements of one collection, as written in typed queries:
/// `($0.dogs.age > 3 && $0.dogs.isFast).count`.
enum CountedCondition {
    /// The number of elements of the collection that match.
    ///
    /// Stops the program for a condition that is not about exactly one collection.
    static func expression(_ predicate: Predicate) -> Predicate.Expression {
        let collections = predicate.collections
        guard collections.count == 1, let collection = collections.first else {
            fatalError(
                "a condition whose matches are counted is about one collection; this one is about "
                    + (collections.isEmpty ? "none" : "\(collections.count): \(predicate)"))
        }
        let variable = "$element\(predicate.depth)"
        return .subquery(collection, variable: variable, predicate.counted(collection, variable))
    }
}

extension Predicate {
    /// The first collections of its paths. Inner counts belong to the elements.
    fileprivate var collections: Set<Path> {
        switch self {
        case .constant, .tooDeep: return []
        case .not(let inner): return inner.collections
        case .and(let parts), .or(let parts): return parts.reduce(into: []) { $0.formUnion($1.collections) }
        case .comparison(let comparison): return comparison.left.collections.union(comparison.right.collections)
        }
    }

    /// The condition for one element of `collection`, which `variable` stands for.
    fileprivate func counted(_ collection: Path, _ variable: String) -> Predicate {
        switch self {
        case .constant, .tooDeep: return self
        case .not(let inner): return .not(inner.counted(collection, variable))
        case .and(let parts): return .and(PredicateParts(parts.map { $0.counted(collection, variable) }))
        case .or(let parts): return .or(PredicateParts(parts.map { $0.counted(collection, variable) }))
        case .comparison(var comparison):
            comparison.left = comparison.left.counted(collection, variable)
            comparison.right = comparison.right.counted(collection, variable)
            return .comparison(comparison)
        }
    }
}

extension Predicate.Expression {
    fileprivate var collections: Set<Predicate.Path> {
        switch self {
        case .path(let path), .aggregate(let path, _): return path.firstCollection.map { [$0] } ?? []
        case .values(let parts): return parts.reduce(into: []) { $0.formUnion($1.collections) }
        case .value, .object, .members, .shape, .subquery: return []
        }
    }

    /// The expression for one element: its paths start at `variable`, without the path to the collection. The path of
    /// an inner subquery starts at the element already.
    fileprivate func counted(_ collection: Predicate.Path, _ variable: String) -> Self {
        func moved(_ path: Predicate.Path) -> Predicate.Path {
            guard path.variable == nil else { return path }
            let start = path.firstCollection == collection ? collection.names.count : 0
            return Predicate.Path(names: Array(path.names.dropFirst(start)), variable: variable)
        }
        switch self {
        case .path(let path): return .path(moved(path))
        case .aggregate(let path, let aggregate): return .aggregate(moved(path), aggregate)
        case .subquery(var path, let inner, let predicate):
            if path.variable == nil { path.variable = variable }
            return .subquery(path, variable: inner, predicate)
        case .values(let parts): return .values(parts.map { $0.counted(collection, variable) })
        case .value, .object, .members, .shape: return self
        }
    }
}

extension Predicate.Path {
    /// The path up to its first collection of objects, if the path goes on behind it.
    fileprivate var firstCollection: Predicate.Path? {
        collectionLength.map { Predicate.Path(names: Array(names.prefix($0)), variable: variable) }
    }

    /// The path, as the start of paths to properties of the elements that the collection at its end has.
    var behindCollection: Predicate.Path {
        var copy = self
        if copy.collectionLength == nil { copy.collectionLength = names.count }
        return copy
    }
}
