/// Which open comparisons are measured further after a look, within the time that is left.
struct NextRounds: Equatable {
    /// A comparison of which a figure is open.
    struct Comparison: Equatable {
        /// Indexes of its cases.
        var cases: [Int]
        var openFigures: Int
        /// How long a round of all of its cases takes.
        var roundSeconds: Double
    }

    /// Those that go on, in the order in which they were chosen.
    private(set) var chosen: [[Int]] = []
    /// Those that the time does not reach for.
    private(set) var withoutTime: [[Int]] = []

    /// What of the time that is left further rounds may take by the durations of those before: the rest is for what
    /// takes longer.
    static let usableShare = 0.9

    /// Takes those with the most open figures per second first.
    /// - Parameters:
    ///   - rounds: that each of them is measured in until the next look.
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
