import Platform
import Seeds

/// A machine with autocorrelated noise: consecutive runs give similar results.
struct NoisyMachine {
    /// The standard deviation of a figure's logarithm.
    var spread: Double
    /// The share of a run's noise that the next run inherits.
    var memory = 0.8
    /// The share of individually disturbed runs.
    var outlierShare = 0.0
    private var state = 0.0
    private var random: RandomStream

    init(spread: Double, outlierShare: Double = 0, seed: UInt64) {
        self.spread = spread
        self.outlierShare = outlierShare
        random = RandomStream(Seed(seed).derived("machine"))
        state = spread * normal()
    }

    /// The time of a run that takes `seconds` on a quiet machine.
    mutating func time(_ seconds: Double) -> Double {
        state = memory * state + (1 - memory * memory).squareRoot() * spread * normal()
        let outlier = uniform() < outlierShare ? 1.5 : 1
        return seconds * exp(state) * outlier
    }

    /// Times of A, B and A once more.
    typealias Round = (a: Double, b: Double, control: Double)

    /// Rounds of the three, each in its own order.
    mutating func rounds(_ count: Int, slowdown: Double) -> [Round] {
        (0..<count).map { _ in
            var times = [0.0, 0.0, 0.0]
            for side in random.permutation(of: 3) { times[side] = time(side == 1 ? slowdown : 1) }
            return (a: times[0], b: times[1], control: times[2])
        }
    }

    private mutating func uniform() -> Double { Double(random.below(1 << 40) + 1) / Double(1 << 40) }

    private mutating func normal() -> Double {
        (-2 * log(uniform())).squareRoot() * cos(2 * Double.pi * uniform())
    }
}
