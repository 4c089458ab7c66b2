import StrataStorage

/// Decides what an access to something that is gone gives: a deleted object, a place or a range that a collection does
/// not have, a collection whose owner was deleted.
///
/// Every access by place, range or object comes here once it found nothing. The configuration's `invalidAccess` says
/// what follows: under `.substitute` the access is reported and the caller gives what stands for the thing; under
/// `.trap` the report ends the program, with Realm's message. What nothing manages has no configuration: a wrong place
/// ends the program there, as in an array.
///
/// Concurrency: confined with the thing that is accessed. For the library's own use.
public struct _GoneAccess {
    /// Nil for what nothing manages.
    private let instance: RealmInstance?
    private let className: String
    private let key: Int64?
    /// What is accessed, as messages call it.
    private let subject: String
    private let owner: ObjectBase?

    /// An access to all objects of a class, or to what is found among them.
    init(_ access: ClassAccess, _ subject: String) {
        instance = access.instance
        className = access.name
        key = nil
        self.subject = subject
        owner = nil
    }

    /// An access to a list, a set or a map of an object, or to what is found among its elements.
    init(_ column: _CollectionColumn, _ subject: String) {
        self.init(column.owner, "\(subject) '\(column.owner._access.name).\(column.property.name)'")
    }

    /// An access to a managed object, or to what follows from it.
    init(_ owner: ObjectBase, _ subject: String = "object") {
        instance = owner._instance
        className = owner._access.name
        key = owner._key
        self.subject = subject
        self.owner = owner
    }

    /// An access to a collection that nothing manages.
    init(unmanaged subject: String) {
        instance = nil
        className = ""
        key = nil
        self.subject = subject
        owner = nil
    }

    // MARK: Places

    /// A place that no element has was asked for.
    /// - Parameter count: how many elements there are.
    func tell(place: Int, count: Int) { tell(place: place, in: 0..<count) }

    /// A place was asked for that no element of a part of a collection has.
    func tell(place: Int, in bounds: Range<Int>) {
        let least = bounds.lowerBound > 0 ? ", and at least \(bounds.lowerBound)" : ""
        tell(
            "Index \(place) is out of bounds (must be less than \(bounds.upperBound)\(least)): the \(subject) has "
                + "\(bounds.count) elements now; something was removed since the index was found")
    }

    /// The places between two that are there, `upper` left out. Those that are not are reported.
    ///
    /// Takes two places and not a range: a range that is turned over ends the program when the caller makes it.
    func range(from lower: Int, to upper: Int, in bounds: Range<Int>) -> Range<Int> {
        if let place = NeededPlaces.range(from: lower, to: upper).missing(in: bounds) { tell(place: place, in: bounds) }
        let first = min(max(lower, bounds.lowerBound), bounds.upperBound)
        return first..<min(max(upper, first), bounds.upperBound)
    }

    /// So many elements as were asked for; none where a negative number was, which is reported.
    func amount(_ count: Int) -> Int {
        if count < 0 { tell("\(count) elements of the \(subject) were asked for; a number must not be negative") }
        return max(count, 0)
    }

    // MARK: Objects and collections

    /// A deleted object, or a collection whose owner was deleted, was asked for more than it can give.
    /// - Parameter request: what was asked of it; nil where Realm's message says it all.
    func tell(gone request: String? = nil) {
        guard let owner else { return tell("Object has been deleted or invalidated: \(subject)") }
        let error = owner._access.tryRelocate(owner) ?? owner._access.deletedError(owner)
        tell(error.message + (request.map { "; \($0)" } ?? ""))
    }

    private func tell(_ message: String) {
        guard let instance else { fatalError(message) }
        instance.report(className, key, message)
    }
}

extension RealmInstance {
    /// What a frozen instance shows outside of a write; nil for the newest version.
    var frozenSnapshot: Snapshot? {
        #if Zoo
            if PlantedMistake.freezeTakesNewest.isPlanted { return nil }
        #endif
        return snapshot
    }

    /// A frozen instance of the version that is shown; one that shows nothing where no version can be pinned.
    func frozenOrEmpty() -> RealmInstance {
        if let frozen = frozen() { return frozen }
        return frozenShowingNothing()
    }

    /// What stands here for an object that this instance does not have: invalidated, with the same key. Nil where its
    /// class is not there either.
    func goneTwin(of object: ObjectBase) -> ObjectBase? {
        guard object._frame != nil, let access = twin(of: object._access) else { return nil }
        let made = invalidObject(access, key: RowKey(object._key))
        // The version number of a write that may be taken back belongs to another one later.
        if object._birthWrite == 0 { made._creation = object._creation }
        if access.capturesKey, type(of: object) == type(of: made), let field = access.plan?.primary {
            _ = field.field.setAny(
                made._field(field.offset), field.field.getAny(object._field(field.offset)))
        }
        return made
    }

    /// Tells that the Realm shows no version, and why.
    func reportShowingNothing(_ reason: String) { report("Realm", nil, "Realm has been invalidated: \(reason)") }
}
