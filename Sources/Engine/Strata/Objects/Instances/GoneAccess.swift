import StrataStorage

/// An access to something that does not exist, which is to be reported: a deleted object, a place or a range outside a
/// collection, a collection whose owner was deleted.
///
/// Every failed access by place, range or object comes here. The configuration's `invalidAccess` decides: under
/// `.substitute` the access is reported and the caller returns a substitute; under `.trap` the program ends, with
/// RealmSwift's message. Unmanaged values have no configuration: a wrong place ends the program, as in an array.
///
/// Concurrency: confined with the accessed value. For the library's own use.
public struct _GoneAccess {
    /// Nil for unmanaged values.
    private let instance: RealmInstance?
    private let className: String
    private let key: Int64?
    /// What messages call the accessed value.
    private let subject: String
    private let owner: ObjectBase?

    /// An access to all objects of a class, or to a query of them.
    init(_ access: ClassAccess, _ subject: String) {
        instance = access.instance
        className = access.name
        key = nil
        self.subject = subject
        owner = nil
    }

    /// An access to a list, a set or a map of an object, or to a query of its elements.
    init(_ column: _CollectionColumn, _ subject: String) {
        self.init(column.owner, "\(subject) '\(column.owner._access.name).\(column.property.name)'")
    }

    /// An access to a managed object, or to a value derived from it.
    init(_ owner: ObjectBase, _ subject: String = "object") {
        instance = owner._instance
        className = owner._access.name
        key = owner._key
        self.subject = subject
        self.owner = owner
    }

    /// An access to an unmanaged collection.
    init(unmanaged subject: String) {
        instance = nil
        className = ""
        key = nil
        self.subject = subject
        owner = nil
    }

    // MARK: Places

    /// Reports an access to a place without an element.
    /// - Parameter count: the number of elements.
    func tell(place: Int, count: Int) { tell(place: place, in: 0..<count) }

    /// Reports an access to a place outside the part of a collection that the caller sees, such as a slice.
    func tell(place: Int, in bounds: Range<Int>) {
        let least = bounds.lowerBound > 0 ? ", and at least \(bounds.lowerBound)" : ""
        tell(
            "Index \(place) is out of bounds (must be less than \(bounds.upperBound)\(least)): the \(subject) has "
                + "\(bounds.count) elements now; something was removed since the index was found")
    }

    /// The places from `lower` to `upper`, excluding `upper`, as far as they exist. The first missing one is reported.
    ///
    /// Takes two places instead of a range, because constructing an inverted range ends the program.
    func range(from lower: Int, to upper: Int, in bounds: Range<Int>) -> Range<Int> {
        if let place = NeededPlaces.range(from: lower, to: upper).missing(in: bounds) { tell(place: place, in: bounds) }
        let first = min(max(lower, bounds.lowerBound), bounds.upperBound)
        return first..<min(max(upper, first), bounds.upperBound)
    }

    /// The requested number of elements; 0 for a negative number, which is reported.
    func amount(_ count: Int) -> Int {
        if count < 0 { tell("\(count) elements of the \(subject) were asked for; a number must not be negative") }
        return max(count, 0)
    }

    // MARK: Objects and collections

    /// Reports a failed access to a deleted object, or to a collection whose owner was deleted.
    /// - Parameter request: what the program asked for; nil if RealmSwift's message is enough.
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
    /// The version that `freeze()` takes outside a write; nil for the newest one.
    var frozenSnapshot: Snapshot? {
        #if Zoo
            if PlantedMistake.freezeTakesNewest.isPlanted { return nil }
        #endif
        return snapshot
    }

    /// An invalidated object with the key of one whose row this instance does not have. Nil for an unmanaged one, and
    /// if the instance lacks the class.
    func goneTwin(of object: ObjectBase) -> ObjectBase? {
        guard object._frame != nil, let access = twin(of: object._access) else { return nil }
        let made = invalidObject(access, key: RowKey(object._key))
        // The version number of a cancelled write is used again by a later one.
        if object._birthWrite == 0 { made._creation = object._creation }
        if access.capturesKey, type(of: object) == type(of: made), let field = access.plan?.primary {
            _ = field.field.setAny(
                made._field(field.offset), field.field.getAny(object._field(field.offset)))
        }
        return made
    }

    /// Reports that the Realm shows no version, and why.
    func reportShowingNothing(_ reason: String) { report("Realm", nil, "Realm has been invalidated: \(reason)") }
}
