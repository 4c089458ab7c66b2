/// Where every random choice of a run comes from, so that a run can be repeated.
package struct Seed: Hashable, Sendable, CustomStringConvertible {
    package var rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package var description: String { String(rawValue) }

    /// A seed for one part of the work, so that parts do not shift each other's choices when one of them draws more.
    package func derived(_ part: UInt64) -> Seed { Seed(mix(rawValue ^ mix(part))) }

    /// A seed for the part of the work that has this name.
    package func derived(_ name: String) -> Seed { derived(ByteDigest.hash(name)) }
}

/// splitmix64's finalizer: every input bit reaches every output bit, and no two inputs meet.
package func mix(_ value: UInt64) -> UInt64 {
    var x = value &+ 0x9E37_79B9_7F4A_7C15
    x = (x ^ (x >> 30)) &* 0xBF58_476D_1CE4_E5B9
    x = (x ^ (x >> 27)) &* 0x94D0_49BB_1331_11EB
    return x ^ (x >> 31)
}

/// A splitmix64 stream. The sequence for a seed never changes: case files depend on it.
package struct RandomStream: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(_ seed: Seed) { state = seed.rawValue }

    package mutating func next() -> UInt64 {
        defer { state = state &+ 0x9E37_79B9_7F4A_7C15 }
        return mix(state)
    }

    /// A number below `bound`, by multiplication: the bias is below `bound` / 2^64.
    package mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "a random choice below \(bound)")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// True in `numerator` of `denominator` draws.
    package mutating func chance(_ numerator: Int, in denominator: Int) -> Bool {
        below(denominator) < numerator
    }
}
