extension RealmError {
    /// The error for a value that a property cannot hold.
    static func badValue(_ access: ClassAccess, _ property: BoundProperty, _ got: Any?) -> RealmError {
        badValue(access.name, property: property.name, tag: property.tag, target: property.target, got: got)
    }

    static func badValue(
        _ className: String, property: String, tag: ColumnTag, target: String?, got: Any?
    ) -> RealmError {
        let isTooWide = tag.collection == .none && got.map { _StoredValue(any: $0, as: tag.type) != nil } ?? false
        return RealmError(
            .invalidInput,
            "'\(className).\(property)' expects \(tag.expected(target)), got \(shown(got))"
                + (isTooWide ? ", which the property's type does not hold" : ""))
    }

    static func badValue(_ className: String, _ field: PlanField, _ got: Any?) -> RealmError {
        badValue(
            className, property: field.name, tag: ColumnTag(field.shape, isPrimary: field.isPrimary),
            target: field.shape.objectType?.className(), got: got)
    }

    /// The error for a value from which no object can be made.
    static func badObject(_ className: String, _ names: [String], _ got: Any) -> RealmError {
        if let array = got as? [Any] {
            return RealmError(
                .invalidInput,
                "a \(className) is made from at most \(names.count) values (\(names.joined(separator: ", "))), got "
                    + "\(array.count)")
        }
        return RealmError(
            .invalidInput, "a \(className) is made from a dictionary, an array or an object, got \(shown(got))")
    }

    private static func shown(_ value: Any?) -> String {
        guard let value = _flatten(value) else { return "nil" }
        // Printing it would take stack for each level.
        if ValueNesting.isDeeper(value, than: 20) {
            return "\(type(of: value)) with more than 20 dictionaries and lists inside one another"
        }
        let text = _object(in: value).map { $0._shortDescription } ?? String(describing: value)
        return "\(type(of: value)) \(text.count > 80 ? text.prefix(80) + "..." : text)"
    }
}

extension ColumnTag {
    /// The values that a property of this kind accepts, for messages.
    func expected(_ target: String?) -> String {
        let element = (type == .object ? target ?? "object" : "\(type)") + (isOptional ? "?" : "")
        switch collection {
        case .none: return element
        case .list: return "a list of \(element)"
        case .set: return "a set of \(element)"
        case .map: return "a map of String to \(element)"
        }
    }
}
