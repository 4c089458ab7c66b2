/// Chooses the undecided comparisons that are measured further after a look, within the time that is left.
struct NextRounds: Equatable {
    /// A comparison with an undecided figure.
    struct Comparison: Equatable {
        /// Indexes of its cases.
        var cases: [Int]
        var openFigures: Int
        /// Seconds of one round of all of its cases.
        var roundSeconds: Double
    }

    /// The comparisons to measure further, in the order of choice.
    private(set) var chosen: [[Int]] = []
    /// The undecided comparisons for which the time does not suffice.
    private(set) var withoutTime: [[Int]] = []

    /// The share of the remaining time that further rounds may take, by the durations of earlier ones; the rest allows
    /// for longer ones.
    static let usableShare = 0.9

    /// Takes the comparisons with the most open figures per second first.
    /// - Parameters:
    ///   - rounds: the rounds of each until the next look.
    ///   - secondsLeft: of the budget; nil for a run without one.
    init(_ open: [Comparison], rounds: Int, secondsLeft: Double?) {
        var left = secondsLeft.map { $0 * Self.usableShare } ?? .infinity
        for comparison in open.sorted(by: { Self.worth($0) > Self.worth($1) }) {
            let seconds = comparison.roundSeconds * Double(rounds)
            if seconds <= left {
                left -= seconds
                chosen.append(comparison.cases)
            } else {
                withoutTime.append(comparison.cases)
            }
        }
    }

    private static func worth(_ comparison: Comparison) -> Double {
        Double(comparison.openFigures) / comparison.roundSeconds
    }
}
