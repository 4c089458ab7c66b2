/// A collection that may have lost elements since the program looked up a place in it: accesses to missing places and
/// ranges follow `Configuration.invalidAccess`, where the standard library would end the process.
///
/// A range returns its existing part, a place a substitute element. Arithmetic on places never overflows: it is
/// clamped. For the library's own use.
public protocol _PlacedCollection: RandomAccessCollection where Index == Int {
    /// Handles a failed access.
    var _gone: _GoneAccess { get }
    /// Reports a place outside `bounds`, and returns a substitute element.
    func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element
    /// The elements of an existing range.
    func _part(_ bounds: Range<Int>) -> SubSequence
    /// The number of elements, but at most `most`. A collection that has to find its elements to count them may stop at
    /// `most`.
    func _count(atMost most: Int) -> Int
}

extension _PlacedCollection {
    public func index(after place: Int) -> Int { NeededPlaces.sum(place, 1) }
    public func index(before place: Int) -> Int { NeededPlaces.sum(place, -1) }
    public func index(_ place: Int, offsetBy distance: Int) -> Int { NeededPlaces.sum(place, distance) }

    public func index(_ place: Int, offsetBy distance: Int, limitedBy limit: Int) -> Int? {
        let far = NeededPlaces.distance(from: place, to: limit)
        if distance > 0 ? far >= 0 && far < distance : far <= 0 && distance < far { return nil }
        return NeededPlaces.sum(place, distance)
    }

    public func distance(from start: Int, to end: Int) -> Int { NeededPlaces.distance(from: start, to: end) }

    // The standard library's checks are disabled: every place is checked at its access.
    public func _failEarlyRangeCheck(_ index: Int, bounds: Range<Int>) {}
    public func _failEarlyRangeCheck(_ index: Int, bounds: ClosedRange<Int>) {}
    public func _failEarlyRangeCheck(_ range: Range<Int>, bounds: Range<Int>) {}

    // MARK: Parts

    fileprivate var places: Range<Int> { startIndex..<Swift.max(startIndex, endIndex) }

    fileprivate func part(from lower: Int, to upper: Int) -> SubSequence {
        _part(_gone.range(from: lower, to: upper, in: places))
    }

    /// The elements of the existing part of a range.
    public subscript(bounds: Range<Int>) -> SubSequence { part(from: bounds.lowerBound, to: bounds.upperBound) }

    /// The elements of the existing part of a range of any kind: `people[3...]`.
    public subscript<Bounds: RangeExpression<Int>>(bounds: Bounds) -> SubSequence {
        let (lower, upper) = AnyBounds.places(bounds, in: places)
        return part(from: lower, to: upper)
    }

    public func _count(atMost most: Int) -> Int { Swift.min(most, places.count) }

    /// The first elements, at most this many.
    public func prefix(_ maxLength: Int) -> SubSequence {
        let length = _count(atMost: _gone.amount(maxLength))
        return _part(startIndex..<(startIndex + length))
    }

    /// The elements before a place.
    public func prefix(upTo end: Int) -> SubSequence { part(from: startIndex, to: end) }
    /// The elements up to a place, including the one at it.
    public func prefix(through position: Int) -> SubSequence {
        part(from: startIndex, to: NeededPlaces.sum(position, 1))
    }

    /// The last elements, at most this many.
    public func suffix(_ maxLength: Int) -> SubSequence {
        let places = places
        return _part((places.upperBound - Swift.min(_gone.amount(maxLength), places.count))..<places.upperBound)
    }

    /// The elements from a place on.
    public func suffix(from start: Int) -> SubSequence { part(from: start, to: Swift.max(start, endIndex)) }

    /// All elements except the first ones.
    public func dropFirst(_ count: Int = 1) -> SubSequence {
        let places = places
        return _part((places.lowerBound + Swift.min(_gone.amount(count), places.count))..<places.upperBound)
    }

    /// All elements except the last ones.
    public func dropLast(_ count: Int = 1) -> SubSequence {
        let places = places
        return _part(places.lowerBound..<(places.upperBound - Swift.min(_gone.amount(count), places.count)))
    }

    // MARK: Iteration

    /// Maps the present elements, even if `transform` removes some.
    @inlinable
    public func map<Made, Failure: Error>(_ transform: (Element) throws(Failure) -> Made) throws(Failure) -> [Made] {
        var made: [Made] = []
        for element in self { made.append(try transform(element)) }
        return made
    }

    /// Pairs of a number from 0 on and an element.
    ///
    /// A sequence instead of a collection: if damage is found on the way, an iteration may return fewer elements than
    /// ``count``, for which the standard library ends the process.
    @inlinable
    public func enumerated() -> EnumeratedSequence<_Walk<Self>> { _Walk(self).enumerated() }

    /// The place of the first matching element among the present ones.
    @inlinable
    public func firstIndex(where matches: (Element) throws -> Bool) rethrows -> Int? {
        var place = startIndex
        for element in self {
            if try matches(element) { return place }
            place += 1
        }
        return nil
    }
}

/// The elements of a collection as a sequence, without count and places. For the library's own use.
public struct _Walk<Base: Sequence>: Sequence {
    @usableFromInline let base: Base

    @inlinable
    init(_ base: Base) { self.base = base }

    @inlinable
    public func makeIterator() -> Base.Iterator { base.makeIterator() }
}

extension _PlacedCollection where SubSequence == Slice<Self> {
    public func _part(_ bounds: Range<Int>) -> Slice<Self> { Slice(base: self, bounds: bounds) }
}

/// A slice keeps its places. For an element that was removed after the slice was made, it gives a substitute.
extension Slice: _PlacedCollection where Base: _PlacedCollection {
    public var _gone: _GoneAccess { base._gone }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Base.Element {
        base._goneElement(position, bounds)
    }

    public func _part(_ bounds: Range<Int>) -> Slice { Slice(base: base, bounds: bounds) }
}

extension Slice where Base: _PlacedCollection {
    /// The element at a place of the slice, counted as in its base.
    public subscript(position: Int) -> Base.Element {
        places.contains(position) ? base[position] : _goneElement(position, places)
    }

    /// The elements of the existing part of a range of the slice.
    public subscript(bounds: Range<Int>) -> Slice { part(from: bounds.lowerBound, to: bounds.upperBound) }

    /// Removes the first element from the slice, and returns it.
    @discardableResult
    public mutating func removeFirst() -> Base.Element {
        let element = self[startIndex]
        self = dropFirst()
        return element
    }

    /// Removes the first elements from the slice. Missing ones are reported.
    public mutating func removeFirst(_ count: Int) {
        self = part(from: NeededPlaces.sum(startIndex, count), to: endIndex)
    }

    /// Removes the last element from the slice, and returns it.
    @discardableResult
    public mutating func removeLast() -> Base.Element {
        let element = isEmpty ? _goneElement(startIndex, places) : self[endIndex - 1]
        self = dropLast()
        return element
    }

    /// Removes the last elements from the slice. Missing ones are reported.
    public mutating func removeLast(_ count: Int) {
        self = part(from: startIndex, to: NeededPlaces.sum(endIndex, -Swift.max(count, -.max)))
    }
}

/// The bounds of ranges of any kind, without constructing a range, which would end the process if it is inverted
/// because the collection has shrunk.
enum AnyBounds {
    static func places(_ bounds: some RangeExpression<Int>, in all: Range<Int>) -> (lower: Int, upper: Int) {
        switch bounds {
        case let bounds as PartialRangeFrom<Int>:
            return (bounds.lowerBound, Swift.max(bounds.lowerBound, all.upperBound))
        case let bounds as PartialRangeUpTo<Int>: return (all.lowerBound, bounds.upperBound)
        case let bounds as PartialRangeThrough<Int>: return (all.lowerBound, NeededPlaces.sum(bounds.upperBound, 1))
        case let bounds as ClosedRange<Int>: return (bounds.lowerBound, NeededPlaces.sum(bounds.upperBound, 1))
        default:
            let range = bounds.relative(to: all)
            return (range.lowerBound, range.upperBound)
        }
    }
}
