/// Foundation's `NSNull`, which Foundation's JSON parser returns; nil if the program has not loaded Foundation. Looked
/// up by name, so that Strata does not link Foundation for this type alone.
private let foundationNull: Any.Type? = _typeByName("10Foundation6NSNullC")

/// Unwraps an optional inside an `Any`, and reads a null object as nil.
func _flatten(_ value: Any?) -> Any? {
    guard let value else { return nil }
    let kind = type(of: value)
    // Returns the commonest types before the test for `_AnyOptional`, which searches protocol conformances.
    if kind == Int.self || kind == String.self || kind == Double.self || kind == Bool.self { return value }
    if let foundationNull, kind == foundationNull { return nil }
    if let nested = value as? any _AnyOptional { return nested._wrappedAny.flatMap(_flatten) }
    return value
}

/// Casts a value to a class; nil if it is no instance of that class. Does not cast a value whose type is no class.
///
/// Swift's cast of a dictionary or an array to a class bridges it to a Foundation object, with all its elements: it
/// costs time for each element, and stack for each level.
func _instance<Wanted>(in value: Any?, as wanted: Wanted.Type) -> Wanted? {
    guard let value = _flatten(value), type(of: value) is AnyObject.Type else { return nil }
    return value as? Wanted
}

/// An optional of unknown type.
protocol _AnyOptional {
    static var _wrappedType: Any.Type { get }
    var _wrappedAny: Any? { get }
}

extension Optional: _AnyOptional {
    static var _wrappedType: Any.Type { Wrapped.self }
    var _wrappedAny: Any? { self.map { $0 as Any } }
}
