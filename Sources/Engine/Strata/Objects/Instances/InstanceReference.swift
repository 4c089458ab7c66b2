import StrataFiles
import Synchronization

/// A weak reference to an instance, without the cost of `weak`.
///
/// Swift's weak reference moves its object's reference counts to a side table for good, which makes every later retain
/// and release of the object slower. Each managed object retains its instance, so with `weak` these took a third of the
/// time of an iteration over objects.
///
/// Invariant: under the lock, the address is that of an instance whose memory is still allocated, because its deinit
/// waits for the lock. Only the runtime can tell whether deinit has begun.
final class InstanceReference: Sendable {
    private struct Target: @unchecked Sendable {  // the lock guards it; the instance is used where it lives only
        var address: UnsafeMutableRawPointer?
    }

    private let target = Mutex(Target())

    func set(_ instance: RealmInstance) {
        let made = Target(address: Unmanaged.passUnretained(instance).toOpaque())
        target.withLock { $0 = made }
    }

    /// Called in the instance's deinit.
    func clear() { target.withLock { $0 = Target() } }

    /// Whether the instance's deinit has not called ``clear()`` yet. Cheaper than ``instance``, which retains it.
    var isThere: Bool { target.withLock { $0.address != nil } }

    var instance: RealmInstance? {
        let living = target.withLock { $0.address.flatMap { LivingObject<RealmInstance>(at: $0) } }
        return living?.take()
    }
}
