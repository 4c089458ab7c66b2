import Platform
import Seeds

/// Zipf-distributed numbers: rank r with a probability proportional to 1 / (r + 1)^0.99, as YCSB draws its keys.
///
/// By the method of Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), which YCSB's
/// paper cites. Ranks are spread over the keys by splitmix64's finalizer, where YCSB has another hash.
struct Zipfian: Sendable {
    static let theta = 0.99

    let count: Int
    private let zeta: Double
    private let eta: Double
    private let half: Double

    /// Complexity: O(count).
    init(_ count: Int) {
        precondition(count > 0, "a choice among nothing")
        self.count = count
        var zeta = 0.0
        for rank in 1...count { zeta += 1 / pow(Double(rank), Self.theta) }
        self.zeta = zeta
        half = pow(0.5, Self.theta)
        eta =
            count < 3
            ? 0 : (1 - pow(2 / Double(count), 1 - Self.theta)) / (1 - (1 + half) / zeta)
    }

    /// 0 is the most frequent.
    func rank(_ random: inout RandomStream) -> Int {
        let share = Double(random.next() >> 11) * 0x1p-53
        let part = share * zeta
        if part < 1 || count == 1 { return 0 }
        if part < 1 + half || count == 2 { return 1 }
        let rank = Int(Double(count) * pow(eta * share - eta + 1, 1 / (1 - Self.theta)))
        return min(max(rank, 0), count - 1)
    }

    /// A rank's number: the frequent ranks are spread over the range of the keys.
    func scattered(_ random: inout RandomStream) -> Int {
        Int(splitMix(UInt64(rank(&random))) % UInt64(count))
    }
}
