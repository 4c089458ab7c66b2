import StrataStorage

// Collections inside values of any type: the same types as for properties, with the steps that lead to them.

extension _CollectionColumn {
    /// The collection that `standing` leads to in a property's value. While the Realm is open, its place follows the
    /// collection when other elements are inserted or removed before it.
    init(_ owner: ObjectBase, _ position: Int, _ standing: NestedSteps) {
        let instance = owner._instance
        let place = NestedPlace(standing, madeIn: instance?.write?.number)
        self.init(owner, position, place)
        if let instance, !instance.isShared, let holder { instance.shown.nested.add(place, holder) }
    }

    /// The place of the collection that `standing` leads to in the version of `view`, which need not be the shown one.
    func place(_ standing: NestedSteps, in view: ReadView) throws(StorageError) -> NestedPlace {
        guard let instance = owner._instance, let shown = instance.currentView, let holder else {
            return NestedPlace(nil)
        }
        if shown.version == view.version {
            return _CollectionColumn(owner, position, standing).nested ?? NestedPlace(nil)
        }
        let followed = try NestedFollowing(old: view, new: shown).followed(holder, standing)
        return followed.flatMap { _CollectionColumn(owner, position, $0).nested } ?? NestedPlace(nil)
    }

    /// The row and the column in which the steps begin, by their ids.
    var holder: NestedPlaces.Holder? {
        let access = owner._access
        return access.instance.nestedHolder(access.table, owner._key, property.column)
    }

    /// Whether its owner was deleted, or another value replaced it.
    var isInvalidated: Bool {
        if owner.isInvalidated { return true }
        guard let nested else { return false }
        return nested.standing == nil || read(true) { _ in false }
    }

    var replacedError: RealmError {
        RealmError(
            .objectDeleted,
            "A list or a dictionary in '\(owner._access.name).\(property.name)' has been replaced or deleted; check "
                + "isInvalidated, and read the property again")
    }

    /// An element, decoded for the program.
    /// - Parameter step: from this collection to the element.
    @inline(__always)
    func decoded<Element: RealmCollectionValue>(
        _ value: _StoredValue, _ context: _ElementContext, at step: @autoclosure () -> NestedSteps.Step
    ) -> Element {
        if property.tag.type == .any, let inner = inner(value, step()) as? Element { return inner }
        return Element._element(value, context)
    }

    /// The inner collection of an element; nil for any other value.
    private func inner(_ value: _StoredValue, _ step: NestedSteps.Step) -> AnyRealmValue? {
        guard let isKeyed = NestedEncoding.isKeyed(value), property.tag.takesNested else { return nil }
        let standing =
            if let nested { nested.standing?.inner(step, isKeyed: isKeyed) } else {
                NestedSteps(steps: [step], isKeyed: isKeyed)
            }
        guard let standing else { return nil }
        return .managed(_CollectionColumn(owner, position, standing), isKeyed: isKeyed)
    }
}

extension AnyRealmValue {
    /// The list or the map that is a property's own value.
    static func own(_ isKeyed: Bool, _ object: ObjectBase, _ position: Int) -> AnyRealmValue {
        .managed(
            _CollectionColumn(object, position, NestedSteps(steps: [], isKeyed: isKeyed)), isKeyed: isKeyed)
    }

    static func managed(_ column: _CollectionColumn, isKeyed: Bool) -> AnyRealmValue {
        isKeyed ? .dictionary(Map(_column: column)) : .list(List(_column: column))
    }
}
