// Array's operations on several elements, and on ranges of any kind.

extension List {
    public func append<Elements: Sequence>(contentsOf objects: Elements) where Elements.Element == Element {
        append(objectsIn: objects)
    }

    public func insert<Elements: Collection>(contentsOf objects: Elements, at index: Int)
    where Elements.Element == Element {
        replaceSubrange(index..<index, with: objects)
    }

    public func removeSubrange<Bounds: RangeExpression<Int>>(_ bounds: Bounds) {
        let (lower, upper) = AnyBounds.places(bounds, in: 0..<count)
        remove(from: lower, to: upper)
    }

    public func replaceSubrange<Bounds: RangeExpression<Int>, Elements: Collection>(
        _ bounds: Bounds, with objects: Elements
    ) where Elements.Element == Element {
        let (lower, upper) = AnyBounds.places(bounds, in: 0..<count)
        replace(from: lower, to: upper, with: objects)
    }

    /// The elements of the existing part of a range. Assigning replaces the elements of the range, and fails the write
    /// if a part of it does not exist.
    public subscript(bounds: Range<Int>) -> Slice<List> {
        get { _part(_gone.range(from: bounds.lowerBound, to: bounds.upperBound, in: 0..<count)) }
        set { replaceSubrange(bounds, with: Array(newValue)) }
    }
}
