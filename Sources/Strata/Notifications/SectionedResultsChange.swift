import Dispatch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How sections, or one of them, came to be what they are now.
///
/// An update applied to the old sections gives the new ones, in this order: deletions, each from the back; sections
/// that went; sections that came, empty; insertions. What cannot be read goes to the configuration's
/// `invalidAccessHandler`.
public enum SectionedResultsChange<Collection> {
    /// The first notification.
    case initial(Collection)
    /// Deletions and `sectionsToDelete` as places before the change, insertions and `sectionsToInsert` as places after
    /// it, modifications as places that are the same before and after it; each ascending. An element that changed and
    /// has another place now is deleted and inserted. The elements of a section that goes are not listed; those of one
    /// that comes are.
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: [Int], sectionsToDelete: [Int])
}

/// The name that RealmSwift has for changes of sections as well.
public typealias RealmSectionedResultsChange = SectionedResultsChange

/// What all sections and one section have in common: what code asks for that works on either.
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
    /// As ``observe(keyPaths:on:_:)``, for code that does not know which of the two it is.
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
    /// Tells what the sections are, and then every change of them.
    ///
    ///     let token = byLetter.observe { change in
    ///         switch change {
    ///         case .initial: table.reloadData()
    ///         case .update(_, let deletions, let insertions, let modifications, let came, let went): ...
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - keyPaths: what counts as a modification, as for results. Where a section's key follows from more than the
    ///     elements' own properties, name that too.
    ///   - queue: where to be told; nil for where the Realm lives.
    /// - Complexity: a key for each element that is new or changed, also where an object changed that it leads to by at
    ///   most four links; passes over the numbers of the rows besides.
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
    /// Tells what the section is, and then every change of it: also that it went, and that it is there again.
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
