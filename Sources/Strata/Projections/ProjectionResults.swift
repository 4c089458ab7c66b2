import Dispatch

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
    private init(projecting roots: Results<Element.Root>) { self.init(roots.source) }

    public func `where`(_ isIncluded: (Query<Element.Root>) -> Query<Bool>) -> Results {
        Results(projecting: roots.where(isIncluded))
    }

    /// Stops the program at a format that cannot be read; ``tryFilter(_:_:)`` does not.
    public func filter(_ format: String, _ arguments: Any?...) -> Results {
        do throws(Realm.Error) { return try matching(format, arguments) } catch { fatalError(error.description) }
    }

    /// - Throws: ``Realm/Error`` with `invalidInput`.
    public func tryFilter(_ format: String, _ arguments: Any?...) throws(Realm.Error) -> Results {
        try matching(format, arguments)
    }

    private func matching(_ format: String, _ arguments: [Any?]) throws(Realm.Error) -> Results {
        Results(projecting: try roots.matching(try PredicateParser.parse(format, arguments)))
    }

    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results {
        Results(projecting: roots.sorted(byKeyPath: keyPath, ascending: ascending))
    }

    public func sorted<Descriptors: Sequence<SortDescriptor>>(by descriptors: Descriptors) -> Results {
        Results(projecting: roots.sorted(by: descriptors))
    }

    public func sorted<Value>(by keyPath: KeyPath<Element.Root, Value>, ascending: Bool = true) -> Results {
        Results(projecting: roots.sorted(by: keyPath, ascending: ascending))
    }

    public func distinct<Names: Sequence<String>>(by keyPaths: Names) -> Results {
        Results(projecting: roots.distinct(by: keyPaths))
    }

    public func limit(_ count: Int, offset: Int = 0) -> Results {
        Results(projecting: roots.limit(count, offset: offset))
    }

    /// The place of the projected object's row; nil when it is not among the results.
    public func index(of projection: Element) -> Int? { roots.index(of: projection.rootObject) }

    /// Tells what the results are, and then every change of them.
    /// - Parameter keyPaths: what of the projected objects counts as a modification, by the names of their class; nil
    ///   for what is projected.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        let watched = keyPaths ?? Element(projecting: Element.Root()).projectedProperties.map(\.watched)
        return roots.observe(keyPaths: watched, on: queue) { change in
            switch change {
            case .initial(let roots): block(.initial(Results(projecting: roots)))
            case .update(let roots, let deletions, let insertions, let modifications):
                block(
                    .update(
                        Results(projecting: roots), deletions: deletions, insertions: insertions,
                        modifications: modifications))
            case .error(let error): block(.error(error))
            }
        }
    }

    /// - Parameter keyPaths: what counts as a modification: properties of the projection.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { Element.path(of: $0) }, on: queue, block)
    }
}
