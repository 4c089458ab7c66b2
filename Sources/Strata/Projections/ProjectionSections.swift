import Dispatch

extension Results where Element: ProjectionObservable {
    /// In sections by a property of the projection, in its order.
    public func sectioned<Key: Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(
            by: keyPath, sortDescriptors: [SortDescriptor(keyPath: Element.path(of: keyPath), ascending: ascending)])
    }

    /// In sections by a property of the projection; the order is one of the class that is projected.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sortDescriptors)
    }

    /// In sections by whatever a closure says.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by key: @escaping (Element) -> Key, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        let descriptors = Array(sortDescriptors)
        return SectionedResults(descriptors.isEmpty ? self : sorted(by: descriptors), key)
    }
}

extension SectionedResults where SectionElement: ProjectionObservable {
    /// Tells what the sections are, and then every change of them.
    /// - Parameter keyPaths: what counts as a modification, by the names of the class that is projected.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        let follower = SectionFollower(self) { block($1?.change(of: $0) ?? .initial($0)) }
        return results.observe(keyPaths: keyPaths, on: queue) { follower.receive($0) }
    }

    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }
}

extension ResultsSection where SectionElement: ProjectionObservable {
    /// Tells what the section is, and then every change of it: also that it went, and that it is there again.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        let follower = SectionFollower(all, of: key, block)
        return all.results.observe(keyPaths: keyPaths, on: queue) { follower.receive($0) }
    }

    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }
}
