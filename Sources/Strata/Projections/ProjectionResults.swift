extension Realm {
    /// All objects of the class that is projected, as projections.
    public func objects<Element: ProjectionObservable>(_ type: Element.Type) -> Results<Element>
    where Element.Root: Object {
        Results(objects(Element.Root.self).source)
    }
}

/// Filters and orders go by the properties of the class that is projected.
extension Results where Element: ProjectionObservable {
    private var roots: Results<Element.Root> { Results<Element.Root>(source) }

    public func `where`(_ isIncluded: (Query<Element.Root>) -> Query<Bool>) -> Results {
        Results(roots.where(isIncluded).source)
    }

    public func sorted<Value>(by keyPath: KeyPath<Element.Root, Value>, ascending: Bool = true) -> Results {
        Results(roots.sorted(by: keyPath, ascending: ascending).source)
    }

    /// The place of the projected object's row; nil when it is not among the results.
    public func index(of projection: Element) -> Int? { roots.index(of: projection.rootObject) }
}
