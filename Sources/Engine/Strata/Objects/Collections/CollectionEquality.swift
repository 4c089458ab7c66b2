// Managed collections are equal if they are the same property of the same object; unmanaged ones if their elements are
// equal. Results are equal only to themselves, since two queries are never compared.

extension _ColumnCollection {
    /// Whether both are the same managed collection; false if only one of them is managed, nil if neither is.
    fileprivate func isSameColumn(as other: Self) -> Bool? {
        switch (_column, other._column) {
        case (nil, nil): nil
        case (let mine?, let yours?): mine.isSame(as: yours)
        default: false
        }
    }
}

/// Whether both iterations return equal elements, compared in stored form.
private func haveSameElements<Walk: Sequence>(_ a: Walk, _ b: Walk) -> Bool where Walk.Element: RealmCollectionValue {
    a.elementsEqual(b) { ElementIdentity($0) == ElementIdentity($1) }
}

extension List {
    public static func == (a: List, b: List) -> Bool { a === b || (a.isSameColumn(as: b) ?? haveSameElements(a, b)) }
}

extension MutableSet {
    public static func == (a: MutableSet, b: MutableSet) -> Bool {
        a === b || (a.isSameColumn(as: b) ?? (a.count == b.count && a.isSubset(of: b)))
    }
}

extension Map: Equatable {
    public static func == (a: Map, b: Map) -> Bool {
        a === b || (a.isSameColumn(as: b) ?? (a.count == b.count && a.allSatisfy { b.contains($0) }))
    }
}

extension Results {
    public static func == (a: Results, b: Results) -> Bool {
        if let mine = a._source, let yours = b._source { return mine.isSame(as: yours) }
        if let mine = a._values?.source, let yours = b._values?.source { return mine === yours }
        return false
    }
}

extension LinkingObjects {
    public static func == (a: LinkingObjects, b: LinkingObjects) -> Bool {
        if let mine = a._source, let yours = b._source { return mine.isSame(as: yours) }
        return a._source == nil && b._source == nil && a.propertyName == b.propertyName && a.anchor === b.anchor
    }
}

extension AnyRealmCollection {
    public static func == (a: AnyRealmCollection, b: AnyRealmCollection) -> Bool {
        if let mine = a._source, let yours = b._source { return mine.isSame(as: yours) }
        if let mine = a._values?.source, let yours = b._values?.source {
            return mine === yours || mine.steps.isEmpty && yours.steps.isEmpty && mine.column.isSame(as: yours.column)
        }
        return a.realm == nil && b.realm == nil && haveSameElements(a, b)
    }
}

extension ObjectSource {
    /// Whether both are the same source, or the same property of the same object.
    fileprivate func isSame(as other: ObjectSource) -> Bool {
        if self === other { return true }
        guard access === other.access, steps.isEmpty, other.steps.isEmpty else { return false }
        switch (base, other.base) {
        case (.list(let owner, let property), .list(let otherOwner, let otherProperty)):
            return property == otherProperty && owner.isSameObject(as: otherOwner)
        case (.backlinks(let owner, let origin, let property), .backlinks(let target, let from, let by)):
            return origin === from && property == by && owner.isSameObject(as: target)
        default: return false
        }
    }
}
