// Conditions by name, for objects whose class the program does not have.

extension Query where Value == DynamicObject {
    /// A property by name, or a path of names: `where { $0["age"] >= 18 && $0["address.city"] == "Rome" }`.
    public subscript(_ path: String) -> NamedProperty {
        NamedProperty(names: names + path.split(separator: ".").map(String.init))
    }
}

/// A property in a condition by name.
///
/// It is compared with plain values; an unknown name matches no object and is reported.
public struct NamedProperty {
    let names: [String]

    private func compare(_ comparator: Predicate.Comparator, _ value: some _Scalar) -> Query<Bool> {
        Query<Any>.path(names).compare(comparator, value._queryConstant)
    }

    public static func == (property: Self, value: some _Scalar) -> Query<Bool> { property.compare(.equal, value) }
    public static func != (property: Self, value: some _Scalar) -> Query<Bool> { property.compare(.notEqual, value) }
    public static func < (property: Self, value: some _Scalar) -> Query<Bool> { property.compare(.less, value) }
    public static func <= (property: Self, value: some _Scalar) -> Query<Bool> {
        property.compare(.lessOrEqual, value)
    }
    public static func > (property: Self, value: some _Scalar) -> Query<Bool> { property.compare(.greater, value) }
    public static func >= (property: Self, value: some _Scalar) -> Query<Bool> {
        property.compare(.greaterOrEqual, value)
    }

    /// Whether it is null.
    public var isNull: Query<Bool> { Query<Any>.path(names).compare(.equal, .null) }
    public func contains(_ text: String) -> Query<Bool> { compare(.contains, text) }
    public func starts(with text: String) -> Query<Bool> { compare(.beginsWith, text) }
    public func ends(with text: String) -> Query<Bool> { compare(.endsWith, text) }
}
