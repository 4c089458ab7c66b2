extension Realm {
    /// All objects of the projected class, as projections.
    public func objects<Element: ProjectionObservable>(_ type: Element.Type) -> Results<Element>
    where Element.Root: Object {
        Results(objects(Element.Root.self).source)
    }
}

/// Filters and orders use the properties of the projected class.
extension Results where Element: ProjectionObservable {
    private var roots: Results<Element.Root> { Results<Element.Root>(source) }

    public func `where`(_ isIncluded: (Query<Element.Root>) -> Query<Bool>) -> Results {
        Results(roots.where(isIncluded).source)
    }

    public func sorted<Value>(by keyPath: KeyPath<Element.Root, Value>, ascending: Bool = true) -> Results {
        Results(roots.sorted(by: keyPath, ascending: ascending).source)
    }

    /// The index of the projected object's row; nil if it is not among the results.
    public func index(of projection: Element) -> Int? { roots.index(of: projection.rootObject) }
}
