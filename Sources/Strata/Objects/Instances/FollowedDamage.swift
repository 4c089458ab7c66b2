import CStrataShim
import StrataStorage
import Synchronization

/// How far an instance has followed the register of the file's known damage.
///
/// Concurrency: any thread.
struct FollowedDamage: ~Copyable {
    /// Changes with the register; its store owns it.
    private let newest: UnsafePointer<UInt32>
    private let followed = Atomic<UInt32>(0)

    init(_ register: DamageRegister) { newest = register.changes }

    /// Whether the register has changed since the last ``follow(_:)``. Two loads.
    @inline(__always)
    var isBehind: Bool { strata_load32(newest) != followed.load(ordering: .relaxed) }

    /// Whether the instance knows of damage of the file. O(1).
    @inline(__always)
    var isKnown: Bool { followed.load(ordering: .relaxed) != 0 }

    /// Takes notice of a generation of the register.
    func follow(_ generation: UInt32) { followed.store(generation, ordering: .relaxed) }
}
