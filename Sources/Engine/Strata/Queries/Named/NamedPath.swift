#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A key path: names joined by dots, with operators that aggregate a whole collection: `"dogs.@sum.age"`.
///
/// A name is a property of an object, or of every element of a collection, or a key of a map; the next name applies to
/// its value. The names behind an operator are a key path that starts at each element.
struct NamedPath {
    private let names: ArraySlice<String>
    /// Reports a path that cannot be evaluated; its value is nil then.
    private let refuse: (String) -> Void

    init(_ keyPath: String, refuse: @escaping (String) -> Void) {
        self.init(keyPath.split(separator: ".").map(String.init)[...], refuse)
    }

    private init(_ names: ArraySlice<String>, _ refuse: @escaping (String) -> Void) {
        self.names = names
        self.refuse = refuse
    }

    func value(of start: Any?) -> Any? {
        guard let name = names.first else { return _flatten(start) }
        guard let start = _flatten(start) else { return nil }
        let rest = NamedPath(names.dropFirst(), refuse)
        if name.hasPrefix("@") { return rest.operated(name, start) }
        return rest.value(of: named(name, start))
    }

    /// The value of one name.
    func named(_ name: String, _ start: Any?) -> Any? {
        guard let start = _flatten(start) else { return nil }
        if let object = start as? ObjectBase { return object.value(forKey: name) }
        if let value = start as? AnyRealmValue { return named(name, value.content) }
        if let map = start as? any NamedEntries { return map.value(forKey: name) }
        if let parts = NamedElements(of: start) { return parts.mapped { named(name, $0) } }
        if let object = (start as? any RealmCollectionValue)?._elementObject { return object.value(forKey: name) }
        if name == "self" { return start }
        refuse("a value of the type \(type(of: start)) has no property '\(name)'; 'self' is the value")
        return nil
    }

    // MARK: Operators

    private static let operators = [
        "@avg", "@count", "@max", "@min", "@sum", "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays",
        "@distinctUnionOfArrays", "@distinctUnionOfSets",
    ]

    /// The value of an operator on a collection; the rest of the path starts at each element.
    private func operated(_ name: String, _ start: Any) -> Any? {
        guard let elements = NamedElements(of: start) else {
            refuse("'\(name)' needs a collection; a value of the type \(type(of: start)) is not one")
            return nil
        }
        if name == "@count" { return elements.count }
        if let map = start as? any NamedEntries, name == "@allKeys" { return map.anyKeys }
        if name == "@allValues", start is any NamedEntries { return elements.all }
        guard Self.operators.contains(name) else {
            refuse("there is no operator '\(name)'; there are \(Self.operators.joined(separator: ", "))")
            return nil
        }
        if names.isEmpty {
            refuse("'\(name)' needs the name of a property behind it, such as '\(name).age', or 'self'")
            return nil
        }
        let values = elements.all.map { value(of: $0) }
        switch name {
        case "@unionOfObjects": return values
        case "@distinctUnionOfObjects": return Self.distinct(values)
        case "@unionOfArrays": return joined(name, values)
        case "@distinctUnionOfArrays": return joined(name, values).map(Self.distinct)
        case "@distinctUnionOfSets": return joined(name, values).map { NamedElements.set($0) }
        default: return total(name, values)
        }
    }

    /// The concatenated elements of collections.
    private func joined(_ name: String, _ values: [Any?]) -> [Any?]? {
        var joined: [Any?] = []
        for case let value? in values.map(_flatten) {
            guard let parts = NamedElements(of: value) else {
                refuse("'\(name)' joins collections; a value of the type \(type(of: value)) is not one")
                return nil
            }
            joined += parts.all
        }
        return joined
    }

    /// The first of equal values; values without equality all stay.
    private static func distinct(_ values: [Any?]) -> [Any?] {
        var known: Set<AnyHashable?> = []
        return values.filter { value in
            guard let value = _flatten(value) else { return known.insert(nil).inserted }
            guard let hashable = value as? any Hashable else { return true }
            return known.insert(AnyHashable(hashable)).inserted
        }
    }

    /// Nulls are skipped, and extremes skip NaN.
    private func total(_ name: String, _ values: [Any?]) -> Any? {
        var known: [(value: Any, stored: _StoredValue)] = []
        for case let value? in values.map({ _flatten(($0 as? AnyRealmValue)?.content ?? $0) }) {
            let isExtreme = name == "@min" || name == "@max"
            guard let stored = _StoredValue(constant: value),
                isExtreme || stored.number != nil && !(value is Date)
            else {
                refuse("'\(name)' cannot be made of a value of the type \(type(of: value))")
                return nil
            }
            if !isExtreme || stored.number?.isNaN != true { known.append((value, stored)) }
        }
        switch name {
        case "@min": return known.min { _StoredValue.precedes($0.stored, $1.stored) }?.value
        case "@max": return known.max { _StoredValue.precedes($0.stored, $1.stored) }?.value
        case "@sum": return Self.number(Predicate.Aggregate.sum.of(known.map(\.stored)))
        default: return Self.number(Predicate.Aggregate.avg.of(known.map(\.stored)))
        }
    }

    private static func number(_ value: _StoredValue) -> Any? {
        switch value {
        case .integer(let integer): Int(integer)
        case .double(let double): double
        case .decimal(let decimal): decimal
        default: nil
        }
    }
}

/// The elements of a collection of unknown type.
struct NamedElements {
    let count: Int
    private let walk: () -> [Any?]
    /// Whether they are a set's, without duplicates.
    private let isSet: Bool

    /// Nil if the value is not a collection.
    init?(of value: Any) {
        switch value {
        case let map as any NamedEntries: self.init(count: map.anyKeys.count, isSet: false) { map.anyElements }
        case let placed as any _PlacedCollection: self = Self.elements(of: placed)
        case let set as Set<AnyHashable>: self.init(count: set.count, isSet: true) { set.map { $0.base } }
        case let array as [Any?]: self.init(count: array.count, isSet: false) { array }
        default: return nil
        }
    }

    private init(count: Int, isSet: Bool, _ walk: @escaping () -> [Any?]) {
        self.count = count
        self.isSet = isSet
        self.walk = walk
    }

    private static func elements(of placed: some _PlacedCollection) -> NamedElements {
        let isSet = (placed as? any _ColumnCollection).map { type(of: $0)._kind == .set } ?? false
        return NamedElements(count: placed.count, isSet: isSet) { placed.map { $0 } }
    }

    var all: [Any?] { walk() }

    /// Applies `transform` to each element: a set for a set, else an array in the order of the elements.
    func mapped(_ transform: (Any?) -> Any?) -> Any {
        let values = all.map { _flatten(transform($0)) }
        return isSet ? Self.set(values) : values
    }

    /// The different values; an array if they have no equality.
    static func set(_ values: [Any?]) -> Any {
        var set: Set<AnyHashable> = []
        for value in values {
            guard let value else {
                set.insert(AnyHashable(Int?.none))
                continue
            }
            guard let hashable = value as? any Hashable else { return values }
            set.insert(AnyHashable(hashable))
        }
        return set
    }
}

/// A map of unknown type.
protocol NamedEntries: UntypedCollection {
    func value(forKey key: String) -> Any?
}

extension Map: NamedEntries {}
