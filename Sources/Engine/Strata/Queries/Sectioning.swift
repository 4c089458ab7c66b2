extension RealmCollection where Element: _RowElement {
    /// Sections by a property, in its order; for projections by the projected property.
    public func sectioned<Key: Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(
            by: keyPath, sortDescriptors: [SortDescriptor(keyPath: _name(for: keyPath), ascending: ascending)])
    }

    /// Sections by a property or by the value of a key path. The first sort descriptors should keep sections together:
    /// sections are in the order of their first elements.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sortDescriptors)
    }

    /// Sections by the result of a closure.
    public func sectioned<Key: Hashable, Descriptors: Sequence<SortDescriptor>>(
        by key: @escaping (Element) -> Key, sortDescriptors: Descriptors
    ) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: Array(sortDescriptors), key)
    }
}

extension RealmCollection {
    /// Sections by the result of a closure, for elements of any type; plain values are sorted by `self`.
    public func sectioned<Key: Hashable>(
        sortDescriptors: [SortDescriptor], _ key: @escaping (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        let source = requiredSource
        return SectionedResults(
            (sortDescriptors.isEmpty ? source : source.sorted(sortDescriptors)).results(), key)
    }

    /// Sections of sorted plain values by the result of a closure.
    ///
    ///     let byLetter = article.tags.sectioned(by: { String($0.prefix(1)) })
    @_disfavoredOverload
    public func sectioned<Key: Hashable>(
        by key: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        guard let values = _values?.source else {
            fatalError("sections of objects need an order: call sectioned(by:sortDescriptors:)")
        }
        return SectionedResults(Results(values.adding(.sort(ascending: ascending))), key)
    }
}
