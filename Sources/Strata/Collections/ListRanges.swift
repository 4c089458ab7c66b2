// Lists take what arrays take: several elements at once, and ranges of any kind.

extension List {
    public func append<Elements: Sequence>(contentsOf objects: Elements) where Elements.Element == Element {
        append(objectsIn: objects)
    }

    public func insert<Elements: Collection>(contentsOf objects: Elements, at index: Int)
    where Elements.Element == Element {
        replaceSubrange(index..<index, with: objects)
    }

    public func removeSubrange<Bounds: RangeExpression<Int>>(_ bounds: Bounds) {
        removeSubrange(bounds.relative(to: self))
    }

    public func replaceSubrange<Bounds: RangeExpression<Int>, Elements: Collection>(
        _ bounds: Bounds, with objects: Elements
    ) where Elements.Element == Element {
        replaceSubrange(bounds.relative(to: self), with: objects)
    }

    /// Some of the elements, as they are now; assigning puts others in their place.
    public subscript(bounds: Range<Int>) -> Slice<List> {
        get { Slice(base: self, bounds: bounds) }
        set { replaceSubrange(bounds, with: Array(newValue)) }
    }
}
