/// The number that determines every random choice of a case or a simulation. Equal seeds give equal choices on every
/// machine.
package struct Seed: Hashable, Sendable, CustomStringConvertible {
    package var rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package var description: String { String(rawValue) }

    /// A seed for a part of the work (a thread, a table), independent of those of other parts: a part that draws more
    /// does not shift the choices of another.
    package func derived(_ label: String) -> Seed {
        Seed(splitMix(rawValue ^ StableHash.of(label)))
    }

    /// A seed for a part that has a number instead of a name.
    package func derived(_ part: UInt64) -> Seed {
        Seed(splitMix(rawValue ^ splitMix(part)))
    }
}

/// The finalizer of splitmix64: a bijection in which every input bit affects every output bit. The generated data sets
/// are defined by it, so that any program can repeat them.
@inlinable
package func splitMix(_ value: UInt64) -> UInt64 {
    var x = value &+ 0x9E37_79B9_7F4A_7C15
    x = (x ^ x >> 30) &* 0xBF58_476D_1CE4_E5B9
    x = (x ^ x >> 27) &* 0x94D0_49BB_1331_11EB
    return x ^ x >> 31
}

/// A stream of random numbers from a seed: splitmix64, the same generator as the data sets use. The sequence of a seed
/// never changes: cases and the addresses of faults depend on it.
@usableFromInline
package struct RandomStream: RandomNumberGenerator, Sendable {
    @usableFromInline
    package var state: UInt64

    package init(_ seed: Seed) {
        state = seed.rawValue
    }

    @inlinable
    package mutating func next() -> UInt64 {
        let value = splitMix(state)
        state &+= 0x9E37_79B9_7F4A_7C15
        return value
    }

    /// A number below `bound` by multiplication, with a bias below `bound` / 2^64. The standard library's choice is not
    /// used, because it may change, and the choices of a seed must not.
    @inlinable
    package mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "a random choice among nothing")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// True in `numerator` of `denominator` draws.
    package mutating func chance(_ numerator: Int, in denominator: Int) -> Bool {
        below(denominator) < numerator
    }

    /// A permutation of `0 ..< count` (Fisher-Yates). Complexity: O(count).
    package mutating func permutation(of count: Int) -> [Int] {
        var order = Array(0..<count)
        guard count > 1 else { return order }
        for index in stride(from: count - 1, to: 0, by: -1) {
            order.swapAt(index, below(index + 1))
        }
        return order
    }
}
