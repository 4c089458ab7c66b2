import CStrataShim
import Synchronization

/// Random bits that a process draws at the first use, and keeps. A child that was forked off draws its own.
///
/// It uses no lock: a thread that held one at the fork does not exist in the child, and would never release it there.
package struct ProcessBits: ~Copyable, Sendable {
    /// Number of bits.
    package static let count: UInt64 = 40

    /// The bits, and above them a mark of the process that drew them; 0 before the first use.
    private let drawn = Atomic<UInt64>(0)

    package init() {}

    /// The bits of this process.
    package var value: UInt64 {
        // The mark is never 0, and a forked child has another one than its parent.
        let mark = UInt64(strata_fork_count() % 0xFF_FFFF + 1)
        var known = drawn.load(ordering: .relaxed)
        while known >> Self.count != mark {
            let made = mark << Self.count | .random(in: 0..<(1 << Self.count))
            let (isDone, found) = drawn.compareExchange(expected: known, desired: made, ordering: .relaxed)
            known = isDone ? made : found
        }
        return known & (1 << Self.count - 1)
    }
}
