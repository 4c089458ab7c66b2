import Seeds

/// A position in a series at which the level of the values changes.
package struct ChangePoint: Sendable, Hashable {
    /// The index of the first value of the new level.
    package let index: Int
    /// The median of the values from the previous change point, or from the first value, to this one.
    package let before: Double
    /// The median of the values from here to the next change point, or to the last.
    package let after: Double

    package init(index: Int, before: Double, after: Double) {
        (self.index, self.before, self.after) = (index, before, after)
    }

    package var step: Double { after - before }
}

/// Searches for change points in a series ordered by time: E-divisive, with a bound on false alarms.
///
/// Of all splits of a stretch, the best one has the largest energy distance between the values before and after it: a
/// measure that assumes nothing about the distribution. It is a change point only if none of `shuffles` random
/// permutations of the same values can be split as well. Both sides of a change point are then searched in the same
/// way.
///
/// Equal values and an equal seed give equal change points.
///
/// Source: Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data.
package struct ChangePointSearch: Sendable {
    /// The fewest values of a level: fewer could be a few runs on a busy machine.
    package static let fewestValues = 4
    /// The permutations that are tried for a stretch. If none splits as well as the true order, a false alarm happens
    /// in one of a thousand stretches.
    package static let shuffles = 999
    /// Only the last so many values are examined, since the cost grows with the square of their number.
    package static let mostValues = 400

    /// The smallest relevant step.
    private let least: Double
    private var random: RandomStream

    /// - Parameter least: a smaller step between two levels is ignored, however certain. Above 0.
    package init(least: Double, seed: Seed) {
        precondition(least > 0 && least.isFinite)
        self.least = least
        random = RandomStream(seed)
    }

    /// The change points of finite values, ascending.
    ///
    /// - Complexity: O(n^2) where nothing changes, O(n^2 * `shuffles`) for each change point; n is at most
    ///   `mostValues`.
    package mutating func find(in values: [Double]) -> [ChangePoint] {
        precondition(values.allSatisfy(\.isFinite), "a value that is not finite")
        let offset = max(0, values.count - Self.mostValues)
        let searched = Array(values[offset...])
        var places: [Int] = []
        split(searched, 0..<searched.count, &places)
        return settled(places.sorted(), searched).map {
            ChangePoint(index: $0.index + offset, before: $0.before, after: $0.after)
        }
    }

    private mutating func split(_ values: [Double], _ stretch: Range<Int>, _ places: inout [Int]) {
        var part = Array(values[stretch])
        guard let best = Distances(part).bestSplit(), best.statistic > 0 else { return }
        for _ in 0..<Self.shuffles {
            let order = random.permutation(of: part.count)
            part = order.map { part[$0] }
            if let other = Distances(part).bestSplit(), other.statistic >= best.statistic { return }
        }
        let place = stretch.lowerBound + best.place
        places.append(place)
        split(values, stretch.lowerBound..<place, &places)
        split(values, place..<stretch.upperBound, &places)
    }

    /// Moves each position to the best split between its neighbours, then removes the smallest step below `least`, and
    /// repeats both until no such step is left. It removes one step at a time, since that changes the levels beside it.
    private func settled(_ found: [Int], _ values: [Double]) -> [ChangePoint] {
        var places = found
        while true {
            for index in places.indices {
                let stretch = Self.stretch(index, places, values.count)
                let part = Array(values[stretch])
                if let best = Distances(part).bestSplit(toTheEnd: true) {
                    places[index] = stretch.lowerBound + best.place
                }
            }
            let points = places.indices.map { index in
                let stretch = Self.stretch(index, places, values.count)
                return ChangePoint(
                    index: places[index],
                    before: MedianInterval.median(Array(values[stretch.lowerBound..<places[index]])),
                    after: MedianInterval.median(Array(values[places[index]..<stretch.upperBound])))
            }
            guard let smallest = points.indices.min(by: { abs(points[$0].step) < abs(points[$1].step) }),
                abs(points[smallest].step) < least
            else { return points }
            places.remove(at: smallest)
        }
    }

    /// From the previous change point to the next one.
    private static func stretch(_ index: Int, _ places: [Int], _ count: Int) -> Range<Int> {
        (index > 0 ? places[index - 1] : 0)..<(index + 1 < places.count ? places[index + 1] : count)
    }
}

/// The sums of the distances between the values of a stretch, as prefix sums: any two parts are compared in constant
/// time.
private struct Distances {
    private let count: Int
    /// At (i, j): the sum of the distances from each of the first i values to each of the first j.
    private let sums: [Double]

    init(_ values: [Double]) {
        count = values.count
        let width = values.count + 1
        sums = [Double](unsafeUninitializedCapacity: width * width) { buffer, used in
            for column in 0..<width { buffer[column] = 0 }
            for row in 1..<max(1, width) {
                var line = 0.0
                buffer[row * width] = 0
                for column in 1..<width {
                    line += abs(values[row - 1] - values[column - 1])
                    buffer[row * width + column] = buffer[(row - 1) * width + column] + line
                }
            }
            used = width * width
        }
    }

    private func sum(_ rows: Range<Int>, _ columns: Range<Int>) -> Double {
        let width = count + 1
        return sums[rows.upperBound * width + columns.upperBound] - sums[rows.lowerBound * width + columns.upperBound]
            - sums[rows.upperBound * width + columns.lowerBound] + sums[rows.lowerBound * width + columns.lowerBound]
    }

    /// The split with the largest distance between the values before and after it. Without `toTheEnd` the second part
    /// may end before the last value, so that a temporary level is found.
    ///
    /// - Returns: nil if there are too few values for two levels.
    func bestSplit(toTheEnd: Bool = false) -> (place: Int, statistic: Double)? {
        let fewest = ChangePointSearch.fewestValues
        guard count >= 2 * fewest else { return nil }
        var best: (place: Int, statistic: Double)?
        for place in fewest...(count - fewest) {
            for end in (toTheEnd ? count : place + fewest)...count {
                let statistic = statistic(0..<place, place..<end)
                if statistic > best?.statistic ?? -.infinity { best = (place, statistic) }
            }
        }
        return best
    }

    /// The energy distance of two samples, weighted by their sizes.
    private func statistic(_ first: Range<Int>, _ second: Range<Int>) -> Double {
        let (m, n) = (Double(first.count), Double(second.count))
        let apart = 2 * sum(first, second) / (m * n)
        let within = sum(first, first) / (m * (m - 1)) + sum(second, second) / (n * (n - 1))
        return (apart - within) * m * n / (m + n)
    }
}
