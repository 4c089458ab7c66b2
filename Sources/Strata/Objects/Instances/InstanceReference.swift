import StrataFiles
import Synchronization

/// Leads to an instance as long as it lives, without keeping it alive, and without the price of `weak`.
///
/// A weak reference moves its object's counts into a side table for good, and from then on every retain and release
/// takes a longer way. Each managed object holds its instance, so this was a third of the time of a walk over objects.
///
/// Invariant: under the lock, the address is that of an instance whose memory is still there, because its deinit waits
/// for the lock. Whether it is on its way out already, only the runtime can tell.
final class InstanceReference: Sendable {
    private struct Target: @unchecked Sendable {  // the lock guards it; the instance is used where it lives only
        var address: UnsafeMutableRawPointer?
    }

    private let target = Mutex(Target())

    func set(_ instance: RealmInstance) {
        let made = Target(address: Unmanaged.passUnretained(instance).toOpaque())
        target.withLock { $0 = made }
    }

    /// Called by the instance's deinit.
    func clear() { target.withLock { $0 = Target() } }

    /// Whether its deinit has not come to the end; cheaper than asking for it.
    var isThere: Bool { target.withLock { $0.address != nil } }

    var instance: RealmInstance? {
        let living = target.withLock { $0.address.flatMap { LivingObject<RealmInstance>(at: $0) } }
        return living?.take()
    }
}
