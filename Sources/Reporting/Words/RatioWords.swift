import RunRecords

/// A ratio in words. The number is never below one: a worse ratio is inverted for the reader.
extension FigureRatio {
    /// `2.60`: how many times as fast, or as slow.
    var turned: Double { value > 0 && value < 1 ? 1 / value : value }

    /// `26 times as fast as LMDB`, `2.6 times as slow as LMDB`, `8.1 times as much as RocksDB`.
    func sentence(_ measure: Measure) -> String { "\(phrase(measure)) as \(EngineName.words(peer))" }

    /// Without the peer: `2.6 times as slow`.
    func phrase(_ measure: Measure) -> String {
        let words = Comparative(measure)
        if isEqual { return "as \(words.equal)" }
        return "\(times) times as \(value > 1 ? words.better : words.worse)"
    }

    /// `2.6 times as slow as LMDB, interval 2.4 to 2.9, behind`.
    func words(_ measure: Measure) -> String {
        var parts = [sentence(measure)]
        if let low, let high, low > 0 {
            let bounds = value < 1 ? (1 / high, 1 / low) : (low, high)
            parts.append("interval \(Figure.rounded(bounds.0)) to \(Figure.rounded(bounds.1))")
        }
        if let claim { parts.append(claim) }
        return parts.joined(separator: ", ")
    }

    /// The short form, with the number first: `2.6× as slow`.
    func short(_ measure: Measure) -> String {
        let words = Comparative(measure)
        if isEqual { return "as \(words.equal)" }
        return "\(times)\u{D7} as \(value > 1 ? words.better : words.worse)"
    }

    /// Whether the difference is below 0.5 %, so that three digits would show none.
    private var isEqual: Bool { (0.995..<1.005).contains(value) || !(value > 0) }

    private var times: String { Figure.rounded(turned, digits: turned < 1.1 ? 3 : 2) }
}

/// The adjective for comparing a figure.
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

extension MeasureClass {
    /// Whether its figures measure speed; bytes, memory and shares do not.
    var isTime: Bool { self == .speed || self == .latency }
}
