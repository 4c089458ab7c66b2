/// A condition parsed from a format: the replacement for `NSPredicate`, whose formats Foundation parses only on Apple's
/// systems.
///
/// An application written for RealmSwift keeps its names by aliases, once per module:
///
///     typealias NSPredicate = FormatPredicate
///     typealias NSCompoundPredicate = CompoundFormatPredicate
///
///     let grown = NSPredicate(format: "age >= %@ AND name BEGINSWITH[c] %@", 18, "ta")
///     people.filter(grown)
///
/// An invalid format ends the program, as with `NSPredicate`; ``RealmCollection/tryFilter(_:_:)`` is for formats that a
/// user of the program writes. Objects among the arguments are stored as their rows.
open class FormatPredicate: Hashable, CustomStringConvertible, @unchecked Sendable {  // immutable, and holds no object
    let condition: Predicate

    init(_ condition: Predicate) { self.condition = condition.detached }

    public convenience init(format: String, _ arguments: Any?...) {
        self.init(format: format, argumentArray: arguments)
    }

    /// With the arguments in an array, for code that passes on those of its caller.
    public init(format: String, argumentArray: [Any?]?) {
        do throws(RealmError) { condition = try PredicateParser.parse(format, argumentArray ?? []).detached } catch {
            fatalError(error.description)
        }
    }

    /// The condition that always holds, or never.
    public init(value: Bool) { condition = .constant(value) }

    /// The format of the condition, with its arguments inserted. Arguments without a spelling in a format are shown in
    /// angle brackets.
    public var predicateFormat: String { "\(condition)" }
    public var description: String { predicateFormat }

    /// Whether an object matches, or a plain value, which the format calls `SELF`.
    ///
    /// Stops the program if the condition does not suit it.
    /// - Complexity: that of the properties that the condition names.
    public func evaluate(with object: Any?) -> Bool {
        do throws(RealmError) {
            guard let value = _flatten(object) else { return try Self.holds(condition, of: .null, .any) }
            if let object = (value as? any RealmCollectionValue)?._elementObject {
                return try FieldEvaluator.matches(condition, object)
            }
            guard let scalar = value as? any _Scalar else {
                fatalError("\(self) cannot be evaluated on a value of the type \(type(of: value))")
            }
            return try Self.holds(condition, of: scalar._stored, type(of: scalar)._scalarType)
        } catch {
            fatalError(error.description)
        }
    }

    private static func holds(
        _ condition: Predicate, of value: _StoredValue, _ type: PropertyType
    ) throws(RealmError) -> Bool {
        let tag = ColumnTag(_PropertyShape(type), isPrimary: false)
        return try ValueCondition.make(condition, tag, "SELF")(CollectionValues.comparable(value, tag))
    }

    /// Whether both have the same format.
    public static func == (a: FormatPredicate, b: FormatPredicate) -> Bool { a.predicateFormat == b.predicateFormat }
    public func hash(into hasher: inout Hasher) { hasher.combine(predicateFormat) }
}

/// Conditions joined by and, or or not: the replacement for `NSCompoundPredicate`.
public final class CompoundFormatPredicate: FormatPredicate, @unchecked Sendable {  // as its superclass
    public enum LogicalType: UInt, Sendable { case not, and, or }

    public let compoundPredicateType: LogicalType
    public let subpredicates: [FormatPredicate]

    /// - Parameter subpredicates: for `not` the first one is used. An empty `and` holds, an empty `or` does not.
    public init(type: LogicalType, subpredicates: [FormatPredicate]) {
        compoundPredicateType = type
        self.subpredicates = subpredicates
        let parts = subpredicates.map(\.condition)
        switch type {
        case .and: super.init(parts.isEmpty ? .constant(true) : .and(PredicateParts(parts)))
        case .or: super.init(parts.isEmpty ? .constant(false) : .or(PredicateParts(parts)))
        case .not:
            guard let first = parts.first else { fatalError("not needs a condition") }
            super.init(.not(first))
        }
    }

    public convenience init(andPredicateWithSubpredicates subpredicates: [FormatPredicate]) {
        self.init(type: .and, subpredicates: subpredicates)
    }

    public convenience init(orPredicateWithSubpredicates subpredicates: [FormatPredicate]) {
        self.init(type: .or, subpredicates: subpredicates)
    }

    public convenience init(notPredicateWithSubpredicate predicate: FormatPredicate) {
        self.init(type: .not, subpredicates: [predicate])
    }
}

extension RealmCollection {
    /// The elements that match a prepared condition. Stops the program if it does not suit them.
    public func filter(_ predicate: FormatPredicate) -> Results<Element> {
        do throws(RealmError) { return try tryFilter(predicate) } catch { fatalError(error.description) }
    }

    /// The elements that match a prepared condition.
    /// - Throws: ``Realm/Error`` with `invalidInput` if it does not suit them.
    public func tryFilter(_ predicate: FormatPredicate) throws(RealmError) -> Results<Element> {
        try matching(predicate.condition)
    }

    /// The index of the first match of a prepared condition.
    public func index(matching predicate: FormatPredicate) -> Int? {
        place { () throws(RealmError) in predicate.condition }
    }
}

extension Map {
    /// The values that match a prepared condition. Stops the program if it does not suit them.
    public func filter(_ predicate: FormatPredicate) -> Results<Value> {
        matching { () throws(RealmError) in predicate.condition }
    }
}
