/// A condition in a format, kept as a value: what stands for `NSPredicate`, whose formats Foundation reads on Apple's
/// systems alone.
///
/// An application that was written for RealmSwift goes on with the names that it has, once per module:
///
///     typealias NSPredicate = FormatPredicate
///     typealias NSCompoundPredicate = CompoundFormatPredicate
///
///     let grown = NSPredicate(format: "age >= %@ AND name BEGINSWITH[c] %@", 18, "ta")
///     people.filter(grown)
///
/// A format that cannot be read ends the program, as with `NSPredicate`; ``RealmCollection/tryFilter(_:_:)`` is for
/// formats that a user of the program writes. Objects among the arguments are remembered by their rows.
open class FormatPredicate: Hashable, CustomStringConvertible, @unchecked Sendable {  // immutable, and holds no object
    let condition: Predicate

    init(_ condition: Predicate) { self.condition = condition.detached }

    public convenience init(format: String, _ arguments: Any?...) {
        self.init(format: format, argumentArray: arguments)
    }

    /// The arguments in an array, as code has them that hands on those of its caller.
    public init(format: String, argumentArray: [Any?]?) {
        do throws(Realm.Error) { condition = try PredicateParser.parse(format, argumentArray ?? []).detached } catch {
            fatalError(error.description)
        }
    }

    /// What holds of everything, or of nothing.
    public init(value: Bool) { condition = .constant(value) }

    /// The format that stands for the condition, with its arguments in their places. Those that a format cannot spell
    /// are shown in angle brackets.
    public var predicateFormat: String { "\(condition)" }
    public var description: String { predicateFormat }

    /// Whether an object matches, or a plain value, which the format calls `SELF`.
    ///
    /// Stops the program where the condition cannot be asked of it.
    /// - Complexity: that of the properties that the condition names.
    public func evaluate(with object: Any?) -> Bool {
        do throws(Realm.Error) {
            guard let value = _flatten(object) else { return try Self.holds(condition, of: .null, .any) }
            if let object = (value as? any RealmCollectionValue)?._elementObject {
                return try FieldEvaluator.matches(condition, object)
            }
            guard let scalar = value as? any _Scalar else {
                fatalError("\(self) cannot be asked of a value of the type \(type(of: value))")
            }
            return try Self.holds(condition, of: scalar._stored, type(of: scalar)._scalarType)
        } catch {
            fatalError(error.description)
        }
    }

    private static func holds(
        _ condition: Predicate, of value: _StoredValue, _ type: PropertyType
    ) throws(Realm.Error) -> Bool {
        let tag = ColumnTag(_PropertyShape(type), isPrimary: false)
        return try ValueCondition.make(condition, tag, "SELF")(CollectionValues.comparable(value, tag))
    }

    /// Whether both are written as the same format.
    public static func == (a: FormatPredicate, b: FormatPredicate) -> Bool { a.predicateFormat == b.predicateFormat }
    public func hash(into hasher: inout Hasher) { hasher.combine(predicateFormat) }
}

/// Conditions that are joined by and, or or not: what stands for `NSCompoundPredicate`.
public final class CompoundFormatPredicate: FormatPredicate, @unchecked Sendable {  // as its superclass
    public enum LogicalType: UInt, Sendable { case not, and, or }

    public let compoundPredicateType: LogicalType
    public let subpredicates: [FormatPredicate]

    /// - Parameter subpredicates: of `not` the first one counts. All of none hold, and none of none does.
    public init(type: LogicalType, subpredicates: [FormatPredicate]) {
        compoundPredicateType = type
        self.subpredicates = subpredicates
        let parts = subpredicates.map(\.condition)
        switch type {
        case .and: super.init(parts.isEmpty ? .constant(true) : .and(PredicateParts(parts)))
        case .or: super.init(parts.isEmpty ? .constant(false) : .or(PredicateParts(parts)))
        case .not:
            guard let first = parts.first else { fatalError("a condition with not has a condition to deny") }
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
    /// The elements that match a condition that was made before. Stops the program where it cannot be asked of them.
    public func filter(_ predicate: FormatPredicate) -> Results<Element> {
        do throws(Realm.Error) { return try tryFilter(predicate) } catch { fatalError(error.description) }
    }

    /// The elements that match a condition that was made before, or why they cannot be asked.
    /// - Throws: ``Realm/Error`` with `invalidInput`.
    public func tryFilter(_ predicate: FormatPredicate) throws(Realm.Error) -> Results<Element> {
        try matching(predicate.condition)
    }

    /// The place of the first match of a condition that was made before.
    public func index(matching predicate: FormatPredicate) -> Int? {
        place { () throws(Realm.Error) in predicate.condition }
    }
}

extension Map {
    /// The values that match a condition that was made before. Stops the program where it cannot be asked of them.
    public func filter(_ predicate: FormatPredicate) -> Results<Value> {
        matching { () throws(Realm.Error) in predicate.condition }
    }
}
