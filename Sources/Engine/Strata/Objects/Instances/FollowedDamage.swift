import CStrataShim
import StrataStorage
import Synchronization

/// How far an instance has followed the register of the file's known damage (``DamageRegister``), which any thread's
/// failed read may add to.
///
/// Concurrency: any thread.
struct FollowedDamage: ~Copyable {
    /// The register's generation, which grows with each change. The store owns the memory.
    private let newest: UnsafePointer<UInt32>
    private let followed = Atomic<UInt32>(0)

    init(_ register: DamageRegister) { newest = register.changes }

    /// Whether the register has changed since the last ``follow(_:)``. Two loads.
    @inline(__always)
    var isBehind: Bool { strata_load32(newest) != followed.load(ordering: .relaxed) }

    /// Whether the instance knows of damage of the file. O(1).
    @inline(__always)
    var isKnown: Bool { followed.load(ordering: .relaxed) != 0 }

    /// Notes that the instance knows the register's contents of this generation.
    func follow(_ generation: UInt32) { followed.store(generation, ordering: .relaxed) }
}
