import StrataStorage
import Synchronization

/// Something that is told when its Realm goes from one version to another.
///
/// Concurrency: used where its Realm may be used; `isActive` from anywhere.
protocol Observer: AnyObject {
    var isActive: ActiveFlag { get }
    /// The Realm shows `batch.new`; `batch.old` is what this observer was told of last, and still pinned.
    /// - Parameter isSilenced: the observer takes note and calls nobody.
    func update(_ batch: ChangeBatch, isSilenced: Bool)
    /// A newer version is there, and the Realm does not follow by itself.
    func refreshIsRequired()
    /// Damage of the file is known, and may be of what is observed. Called before each delivery from then on.
    func damageIsKnown()
}

extension Observer {
    func refreshIsRequired() {}
    func damageIsKnown() {}
}

/// Whether somebody still wants to be told.
final class ActiveFlag: Sendable {
    private let value = Atomic<Bool>(true)
    func clear() { value.store(false, ordering: .relaxed) }
    var isSet: Bool { value.load(ordering: .relaxed) }
}

/// How an ordered collection changed. Each list ascends.
struct PlaceChanges {
    /// Before the change.
    var deletions: [Int] = []
    /// After the change.
    var insertions: [Int] = []
    /// Before the change.
    var modifications: [Int] = []

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
