/// Chooses, after a look, which of the undecided comparisons are measured further in the time that is left.
struct NextRounds: Equatable {
    /// A comparison with an undecided figure.
    struct Comparison: Equatable {
        /// Indexes of its cases.
        var cases: [Int]
        var openFigures: Int
        /// Seconds that one round of all of its cases takes.
        var roundSeconds: Double
    }

    /// The comparisons to measure further, in the order of choice.
    private(set) var chosen: [[Int]] = []
    /// The undecided comparisons for which the time does not suffice.
    private(set) var withoutTime: [[Int]] = []

    /// The share of the remaining time that further rounds may take if they last as long as earlier ones; the rest is a
    /// reserve for rounds that last longer.
    static let usableShare = 0.9

    /// Takes the comparisons with the most open figures per second first.
    ///
    /// - Parameters:
    ///   - rounds: the rounds that each needs until the next look.
    ///   - secondsLeft: what is left of the time budget; nil for a run without one.
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
