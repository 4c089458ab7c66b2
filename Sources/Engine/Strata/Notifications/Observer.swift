import StrataStorage
import Synchronization

/// Told by ``Observation`` when its Realm has gone from one version to another.
///
/// Concurrency: used on the thread, queue or actor of its Realm; `isActive` on any thread.
protocol Observer: AnyObject {
    var isActive: ActiveFlag { get }
    /// The Realm shows `batch.new`; `batch.old` is the version last reported to this observer, and still pinned.
    /// - Parameter isSilenced: updates the observer's state without a notification.
    func update(_ batch: ChangeBatch, isSilenced: Bool)
    /// There is a newer version, and the Realm does not follow automatically.
    func refreshIsRequired()
    /// The file has known damage, which may affect the observed collection. Called before each delivery from then on.
    func damageIsKnown()
}

extension Observer {
    func refreshIsRequired() {}
    func damageIsKnown() {}
}

/// Whether the observer's token is still valid.
final class ActiveFlag: Sendable {
    private let value = Atomic<Bool>(true)
    func clear() { value.store(false, ordering: .relaxed) }
    var isSet: Bool { value.load(ordering: .relaxed) }
}

/// Changes of an ordered collection. Each list ascends.
struct PlaceChanges {
    /// Places before the change.
    var deletions: [Int] = []
    /// Places after the change.
    var insertions: [Int] = []
    /// Places before the change.
    var modifications: [Int] = []

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
