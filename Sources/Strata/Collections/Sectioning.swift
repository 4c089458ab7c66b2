extension RealmCollection where Element: _RowElement {
    /// In sections by a property, in its order; of projections, in that of what is projected.
    public func sectioned<Key: Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(
            by: keyPath, sortDescriptors: [SortDescriptor(keyPath: _name(for: keyPath), ascending: ascending)])
    }

    /// In sections by a property or by what a key path makes of it. The first descriptors should keep sections
    /// together: these stand in the order in which their keys first appear.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sortDescriptors)
    }

    /// In sections by whatever a closure says.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by key: @escaping (Element) -> Key, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: Array(sortDescriptors), key)
    }
}

extension RealmCollection {
    /// In sections by whatever a closure says, elements of any type; plain values are put in order by `self`.
    public func sectioned<Key: Hashable>(
        sortDescriptors: [SortDescriptor], _ key: @escaping (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        let source = requiredSource
        return SectionedResults(
            (sortDescriptors.isEmpty ? source : source.sorted(sortDescriptors)).results(), key)
    }

    /// Plain values in their order, in sections by whatever a closure says.
    ///
    ///     let byLetter = article.tags.sectioned(by: { String($0.prefix(1)) })
    @_disfavoredOverload
    public func sectioned<Key: Hashable>(
        by key: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        guard let values = _values?.source else {
            fatalError("sections of objects have an order of their own: sectioned(by:sortDescriptors:)")
        }
        return SectionedResults(Results(values.adding(.sort(ascending: ascending))), key)
    }
}
