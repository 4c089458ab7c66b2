import Dispatch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A change of all sections, or of one.
///
/// Applying an update to the old sections gives the new ones, in this order: deletions, each from the back; deleted
/// sections; new sections, empty; insertions. Unreadable elements are reported to the configuration's
/// `invalidAccessHandler`.
public enum SectionedResultsChange<Collection> {
    /// The first notification.
    case initial(Collection)
    /// Deletions and `sectionsToDelete` as places before the change, insertions and `sectionsToInsert` as places after
    /// it, modifications as places that are the same before and after it; each ascending. An element that changed and
    /// moved is deleted and inserted. The elements of a deleted section are not listed; those of a new one are.
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: [Int], sectionsToDelete: [Int])
}

/// RealmSwift's other name for changes of sections.
public typealias RealmSectionedResultsChange = SectionedResultsChange

/// What all sections and a single section have in common, for generic code.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable {
    var realm: Realm? { get }
    var isInvalidated: Bool { get }
    var isFrozen: Bool { get }
    func freeze() -> Self
    func thaw() -> Self?
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken
}

extension RealmSectionedResult {
    /// As ``observe(keyPaths:on:_:)``, for generic code.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths, on: queue, block)
    }
}

extension SectionedResults: RealmSectionedResult {}
extension ResultsSection: RealmSectionedResult {}

extension SectionedResults {
    /// Reports the sections, and then every change of them.
    ///
    ///     let token = byLetter.observe { change in
    ///         switch change {
    ///         case .initial: table.reloadData()
    ///         case .update(_, let deletions, let insertions, let modifications, let came, let went): ...
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - keyPaths: changes that count as a modification, as for results. If a section's key depends on more than the
    ///     elements' own properties, name that too.
    ///   - queue: the queue to be called on; nil for the thread, queue or actor of the Realm.
    /// - Complexity: a key for each element that is new or changed, including changes of objects that it leads to by at
    ///   most four links. If the sort descriptors keep sections together, O(sections) besides it; if elements of other
    ///   sections lie between those of one, passes over an integer for each row.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        let follower = SectionFollower(self) { block($1?.change(of: $0) ?? .initial($0)) }
        return results.observe(keyPaths: keyPaths, on: queue) { follower.receive($0) }
    }

    public func observe(
        on queue: DispatchQueue?, _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: nil, on: queue, block)
    }
}

extension SectionedResults where SectionElement: _RowElement {
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }
}

extension ResultsSection {
    /// Reports the section, and then every change of it, including its removal and return.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        let follower = SectionFollower(all, of: key, block)
        return all.results.observe(keyPaths: keyPaths, on: queue) { follower.receive($0) }
    }

    public func observe(
        on queue: DispatchQueue?, _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: nil, on: queue, block)
    }
}

extension ResultsSection where SectionElement: _RowElement {
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
    }
}
