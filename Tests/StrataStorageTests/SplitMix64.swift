import Seeds

/// Seeded random bits for random tests, which print the seed so that they can be repeated.
struct SplitMix64: RandomNumberGenerator {
    private var stream: RandomStream

    init(seed: UInt64) { stream = RandomStream(Seed(seed)) }

    mutating func next() -> UInt64 { stream.next() }

    /// A number below `bound`, by the remainder. The format's fixtures depend on this sequence.
    mutating func below(_ bound: UInt64) -> UInt64 { next() % bound }
}
