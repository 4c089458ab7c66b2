import StrataStorage

/// Counts results of a property's rule that the property cannot hold.
struct UnfitValues {
    private let className: String
    private let property: BoundProperty
    private var missing = 0
    private var unfit = 0
    private var example: Any?

    init(className: String, property: BoundProperty) {
        self.className = className
        self.property = property
    }

    /// - Returns: whether the value is unfit, and must not be assigned. Collections and links are checked at the
    ///   assignment.
    mutating func note(_ value: Any?) -> Bool {
        if property.isCollection || [.object, .linkingObjects, .any].contains(property.tag.type) { return false }
        guard let value = _flatten(value) else {
            if property.tag.isOptional { return false }
            missing += 1
            return true
        }
        if _StoredValue(any: value, as: property.tag.type) != nil { return false }
        unfit += 1
        if example == nil { example = value }
        return true
    }

    /// The error, with the number of objects; nil if all values fit.
    var failure: RealmError? {
        if let example {
            let one = RealmError.badValue(
                className, property: property.name, tag: property.tag, target: property.target, got: example)
            return RealmError(.invalidInput, "\(one.message), from its rule, for \(Self.objects(unfit))")
        }
        if missing == 0 { return nil }
        return RealmError(
            .missingValues,
            "the rule for '\(className).\(property.name)' left \(Self.objects(missing)) without a value. Nothing was "
                + "changed")
    }

    private static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }
}
