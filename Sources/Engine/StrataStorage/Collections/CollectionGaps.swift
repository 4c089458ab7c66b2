/// The places of a collection's gaps, and those of the elements that the log has inserted or set, while a salvage
/// replays the log. Once the elements of the log form 4 096 ranges, it forgets further ones: these count as elements of
/// the data file.
package struct CollectionGaps {
    private var gaps: PlaceRanges
    private var logged = PlaceRanges([])
    /// Whether the collection is a map.
    private let isKeyed: Bool

    /// - Parameter ranges: ascending.
    package init(_ ranges: [Range<Int>], isKeyed: Bool) {
        gaps = PlaceRanges(ranges)
        self.isKeyed = isKeyed
    }

    /// The gaps: ranges of placeholders for lost elements. Ascending.
    package var ranges: [Range<Int>] { gaps.ranges }

    /// Adjusts the places after the salvage has applied an operation of the log.
    package mutating func follow(_ change: Change) {
        switch change {
        case .insertElements(let place, let count, _):
            gaps.insert(place, count)
            logged.insert(place, count)
            logged.add(place, count)
        case .removeElements(let place, let count, _):
            gaps.remove(place, count)
            logged.remove(place, count)
        case .setElements(let place, let count, _):
            // The log sets a map's value without its key, so the placeholder remains without one.
            if !isKeyed { gaps.subtract(place, count) }
            logged.add(place, count)
        case .moveElements(let place, let count, let target):
            gaps.move(place, count, target)
            logged.move(place, count, target)
        default: break
        }
    }

    /// Adjusts the places after the salvage has removed the placeholders.
    package mutating func close() {
        for range in gaps.ranges.reversed() { logged.remove(range.lowerBound, range.count) }
        gaps = PlaceRanges([])
    }

    /// Whether the element at `place` came from the log. Called once the gaps are closed.
    func isLogged(_ place: Int) -> Bool { logged.contains(place) }
}

/// A set of places that follows insertions, removals and moves.
private struct PlaceRanges {
    /// Ascending.
    private(set) var ranges: [Range<Int>]

    /// Most ranges that ``add(_:_:)`` makes: each change of the collection takes time linear in their number.
    private static let most = 4096

    init(_ ranges: [Range<Int>]) { self.ranges = ranges }

    func contains(_ place: Int) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= place { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(place)
    }

    /// Elements were inserted before a place.
    mutating func insert(_ place: Int, _ count: Int) {
        ranges = ranges.flatMap { range -> [Range<Int>] in
            if range.lowerBound >= place { return [(range.lowerBound + count)..<(range.upperBound + count)] }
            if range.upperBound <= place { return [range] }
            return [range.lowerBound..<place, (place + count)..<(range.upperBound + count)]
        }
    }

    /// Elements were removed.
    mutating func remove(_ place: Int, _ count: Int) {
        func moved(_ bound: Int) -> Int { bound <= place ? bound : max(place, bound - count) }
        ranges = ranges.map { moved($0.lowerBound)..<moved($0.upperBound) }.filter { !$0.isEmpty }
    }

    /// Removes places from the set.
    mutating func subtract(_ place: Int, _ count: Int) {
        ranges = ranges.flatMap { range -> [Range<Int>] in
            let low = min(range.upperBound, max(range.lowerBound, place))
            let high = max(range.lowerBound, min(range.upperBound, place + count))
            return [range.lowerBound..<low, high..<range.upperBound].filter { !$0.isEmpty }
        }
    }

    /// Adds places to the set.
    mutating func add(_ place: Int, _ count: Int) {
        if count == 0 { return }
        subtract(place, count)
        var low = place
        var high = place + count
        // Adjacent ranges are merged, so that a log that appends makes no long list.
        ranges.removeAll { range in
            if range.upperBound == low {
                low = range.lowerBound
                return true
            }
            if range.lowerBound == high {
                high = range.upperBound
                return true
            }
            return false
        }
        if ranges.count >= Self.most { return }
        let index = ranges.firstIndex { $0.lowerBound > low } ?? ranges.count
        ranges.insert(low..<high, at: index)
    }

    mutating func move(_ place: Int, _ count: Int, _ target: Int) {
        let moved = ranges.compactMap { range -> Range<Int>? in
            let part = range.clamped(to: place..<(place + count))
            return part.isEmpty ? nil : (part.lowerBound - place + target)..<(part.upperBound - place + target)
        }
        remove(place, count)
        insert(target, count)
        ranges = (ranges + moved).sorted { $0.lowerBound < $1.lowerBound }
    }
}
