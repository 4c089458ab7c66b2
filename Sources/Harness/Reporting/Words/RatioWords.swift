import RunRecords

/// A ratio in words. The number in them is never below one: a ratio below one is inverted.
extension FigureRatio {
    /// `26 times as fast as LMDB`, `2.6 times as slow as LMDB`, `8.1 times as much as RocksDB`.
    func sentence(_ measure: Measure) -> String { "\(phrase(measure)) as \(EngineName.words(peer))" }

    /// The words without the peer: `2.6 times as slow`.
    func phrase(_ measure: Measure) -> String {
        let words = Comparative(measure)
        if isEqual { return "as \(words.equal)" }
        return "\(times) times as \(value > 1 ? words.better : words.worse)"
    }

    /// `2.6 times as slow as LMDB, interval 2.4 to 2.9, behind`.
    func words(_ measure: Measure) -> String {
        let interval = interval.map { "interval \($0)" }
        return [sentence(measure), interval, claim].compactMap { $0 }.joined(separator: ", ")
    }

    /// `2.4 to 2.9`, inverted if the ratio is; one end is below one if the interval contains equality. nil if there is
    /// none.
    var interval: String? {
        guard let low, let high, low > 0 else { return nil }
        let bounds = value < 1 ? (1 / high, 1 / low) : (low, high)
        func words(_ bound: Double) -> String { Figure.trimmed(bound, digits: bound < 1.1 ? 3 : 2) }
        return "\(words(bounds.0)) to \(words(bounds.1))"
    }

    /// The short form, with the number first: `2.6× as slow`.
    func short(_ measure: Measure) -> String {
        let words = Comparative(measure)
        if isEqual { return "1\u{D7} as \(words.equal)" }
        return "\(times)\u{D7} as \(value > 1 ? words.better : words.worse)"
    }

    /// For a column that also names the peer, as the run does: `2.6× as slow as lmdb`.
    func shortWithPeer(_ measure: Measure) -> String { "\(short(measure)) as \(peer)" }
}

/// The adjectives that compare a figure.
struct Comparative {
    let better: String
    let worse: String
    let equal: String

    init(_ measure: Measure) {
        let isMore = measure.metric.direction == .higherIsBetter
        switch measure.kind {
        case .speed where measure.metric.unit == "ratio", .amount:
            (better, worse, equal) = isMore ? ("high", "low", "high") : ("low", "high", "low")
        case .speed, .latency: (better, worse, equal) = ("fast", "slow", "fast")
        case .size: (better, worse, equal) = ("small", "large", "large")
        case .resource:
            (better, worse, equal) = isMore ? ("much", "little", "much") : ("little", "much", "much")
        }
    }
}
