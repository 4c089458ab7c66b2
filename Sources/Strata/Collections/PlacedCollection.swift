/// A collection that may have lost elements since the program found a place in it: places and ranges that are not there
/// follow `Configuration.invalidAccess`, where the standard library would end the process.
///
/// A range gives the part of it that is there, a place what stands for an element. Arithmetic on places never
/// overflows: it stops at the first and the last number that there is. For the library's own use.
public protocol _PlacedCollection: RandomAccessCollection where Index == Int {
    /// An access to what is not there.
    var _gone: _GoneAccess { get }
    /// Reports a place that is not among those of `bounds`, and gives what stands for its element.
    func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element
    /// The elements of a range that is there.
    func _part(_ bounds: Range<Int>) -> SubSequence
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

    // What the standard library asks before it goes on with a place: every place is looked at where it is used.
    public func _failEarlyRangeCheck(_ index: Int, bounds: Range<Int>) {}
    public func _failEarlyRangeCheck(_ index: Int, bounds: ClosedRange<Int>) {}
    public func _failEarlyRangeCheck(_ range: Range<Int>, bounds: Range<Int>) {}

    // MARK: Parts

    fileprivate var places: Range<Int> { startIndex..<Swift.max(startIndex, endIndex) }

    fileprivate func part(from lower: Int, to upper: Int) -> SubSequence {
        _part(_gone.range(from: lower, to: upper, in: places))
    }

    /// The elements of a range, as far as it is there.
    public subscript(bounds: Range<Int>) -> SubSequence { part(from: bounds.lowerBound, to: bounds.upperBound) }

    /// The elements of a range of any kind, as far as it is there: `people[3...]`.
    public subscript<Bounds: RangeExpression<Int>>(bounds: Bounds) -> SubSequence {
        let (lower, upper) = AnyBounds.places(bounds, in: places)
        return part(from: lower, to: upper)
    }

    /// The first elements, at most so many.
    public func prefix(_ maxLength: Int) -> SubSequence {
        let length = Swift.min(_gone.amount(maxLength), places.count)
        return _part(startIndex..<(startIndex + length))
    }

    /// The elements in front of a place.
    public func prefix(upTo end: Int) -> SubSequence { part(from: startIndex, to: end) }
    /// The elements up to a place, with the one that stands there.
    public func prefix(through position: Int) -> SubSequence {
        part(from: startIndex, to: NeededPlaces.sum(position, 1))
    }

    /// The last elements, at most so many.
    public func suffix(_ maxLength: Int) -> SubSequence {
        let places = places
        return _part((places.upperBound - Swift.min(_gone.amount(maxLength), places.count))..<places.upperBound)
    }

    /// The elements from a place on.
    public func suffix(from start: Int) -> SubSequence { part(from: start, to: Swift.max(start, endIndex)) }

    /// All elements but the first ones.
    public func dropFirst(_ count: Int = 1) -> SubSequence {
        let places = places
        return _part((places.lowerBound + Swift.min(_gone.amount(count), places.count))..<places.upperBound)
    }

    /// All elements but the last ones.
    public func dropLast(_ count: Int = 1) -> SubSequence {
        let places = places
        return _part(places.lowerBound..<(places.upperBound - Swift.min(_gone.amount(count), places.count)))
    }

    // MARK: Walks

    /// Walks the elements of this moment, whatever `transform` removes.
    @inlinable
    public func map<Made, Failure: Error>(_ transform: (Element) throws(Failure) -> Made) throws(Failure) -> [Made] {
        var made: [Made] = []
        for element in self { made.append(try transform(element)) }
        return made
    }

    /// Pairs of a number that counts from 0 and an element.
    ///
    /// A sequence and no collection: where damage is found on the way, a walk finds less than ``count`` was, and the
    /// standard library ends the process for a collection that does so.
    @inlinable
    public func enumerated() -> EnumeratedSequence<_Walk<Self>> { _Walk(self).enumerated() }

    /// The place of the first element that matches, among those of this moment.
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

/// The elements of a collection as a walk finds them, with no count and no places. For the library's own use.
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

/// A slice keeps the places that it was made of: elements that went since are what stands for them.
extension Slice: _PlacedCollection where Base: _PlacedCollection {
    public var _gone: _GoneAccess { base._gone }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Base.Element {
        base._goneElement(position, bounds)
    }

    public func _part(_ bounds: Range<Int>) -> Slice { Slice(base: base, bounds: bounds) }
}

extension Slice where Base: _PlacedCollection {
    /// The element at a place of the slice, counted as in what it is a part of.
    public subscript(position: Int) -> Base.Element {
        places.contains(position) ? base[position] : _goneElement(position, places)
    }

    /// The elements of a range of the slice, as far as it is there.
    public subscript(bounds: Range<Int>) -> Slice { part(from: bounds.lowerBound, to: bounds.upperBound) }

    /// Takes the first element out of the slice, and gives it.
    @discardableResult
    public mutating func removeFirst() -> Base.Element {
        let element = self[startIndex]
        self = dropFirst()
        return element
    }

    /// Takes the first elements out of the slice. Those that are not there are reported.
    public mutating func removeFirst(_ count: Int) {
        self = part(from: NeededPlaces.sum(startIndex, count), to: endIndex)
    }

    /// Takes the last element out of the slice, and gives it.
    @discardableResult
    public mutating func removeLast() -> Base.Element {
        let element = isEmpty ? _goneElement(startIndex, places) : self[endIndex - 1]
        self = dropLast()
        return element
    }

    /// Takes the last elements out of the slice. Those that are not there are reported.
    public mutating func removeLast(_ count: Int) {
        self = part(from: startIndex, to: NeededPlaces.sum(endIndex, -Swift.max(count, -.max)))
    }
}

/// Reads ranges of all kinds without making a range of their bounds, which may be turned over where a collection is
/// shorter than it was.
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
